package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"gslb.internal/shared/api"
)

const (
	// diskPatience is how long a change waits for a disk that does not answer: less than what clients wait for an answer.
	diskPatience = 5 * time.Second
	// maxForsaken bounds the changes that go on without a client: more are refused while the disk does not answer.
	maxForsaken = 64
)

// patience answers changes in time also while the disk hangs, for who must not know when it goes on. The change itself
// can then not be called back: it is made when the disk goes on. What is only read waits for no disk.
type patience struct {
	next     http.Handler
	disk     func() time.Duration // how long what is being written has taken; nil: no disk is written
	forsaken atomic.Int64
}

func (p *patience) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.disk == nil || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		p.next.ServeHTTP(w, r)
		return
	}
	if p.disk() > diskPatience && p.forsaken.Load() >= maxForsaken {
		tooSlow(w, "nothing was changed")
		return
	}
	// The change outlives its client only if it is forsaken.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	leave := context.AfterFunc(r.Context(), func() { cancel(context.Cause(r.Context())) })
	kept := keptAnswer{header: make(http.Header), status: http.StatusOK}
	ended := make(chan any, 1)
	p.forsaken.Add(1)
	go func() {
		defer cancel(nil)
		defer p.forsaken.Add(-1)
		defer func() { ended <- recover() }()
		p.next.ServeHTTP(&kept, r.WithContext(ctx))
	}()
	look := time.NewTicker(diskPatience / 5)
	defer look.Stop()
	for {
		select {
		case cause := <-ended:
			if cause != nil {
				panic(cause)
			}
			kept.send(w)
			return
		case <-look.C:
			if p.disk() > diskPatience && leave() {
				tooSlow(w, "the change is made when it does, or fails then: look before you repeat it")
				return
			}
		}
	}
}

func tooSlow(w http.ResponseWriter, what string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(api.ErrorBody{
		Error: fmt.Sprintf("the disk of this node does not answer since %v or longer; %s", diskPatience, what)})
}

// keptAnswer is an answer that is sent when it is whole, if anybody is there for it then.
type keptAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
	begun  bool
}

func (k *keptAnswer) Header() http.Header { return k.header }

func (k *keptAnswer) WriteHeader(status int) {
	if !k.begun {
		k.status, k.begun = status, true
	}
}

func (k *keptAnswer) Write(p []byte) (int, error) {
	k.begun = true
	return k.body.Write(p)
}

// Flush implements http.Flusher, which gin takes for granted.
func (k *keptAnswer) Flush() {}

func (k *keptAnswer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body.Bytes())
}
