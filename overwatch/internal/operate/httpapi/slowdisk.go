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
	// diskPatience is the maximum time that a change waits for a hanging disk. It is shorter than the timeout of clients.
	diskPatience = 5 * time.Second
	// maxAbandoned is the maximum number of changes that continue without a client while the disk hangs. The node rejects
	// further changes.
	maxAbandoned = 64
)

// slowDisk answers changes in time while the disk hangs: the client receives an error, and the change continues until
// the disk works. slowDisk does not delay read requests.
type slowDisk struct {
	next      http.Handler
	disk      func() time.Duration // age of the current disk write; nil: the node writes no disk
	abandoned atomic.Int64
}

func (p *slowDisk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.disk == nil || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		p.next.ServeHTTP(w, r)
		return
	}
	id := newRequestID()
	if p.disk() > diskPatience && p.abandoned.Load() >= maxAbandoned {
		tooSlow(w, id, "nothing was changed")
		return
	}
	// An abandoned change continues after its client disconnects.
	ctx, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(r.Context()), requestID{}, id))
	leave := context.AfterFunc(r.Context(), func() { cancel(context.Cause(r.Context())) })
	kept := bufferedAnswer{header: make(http.Header), status: http.StatusOK}
	ended := make(chan any, 1)
	p.abandoned.Add(1)
	go func() {
		defer cancel(nil)
		defer p.abandoned.Add(-1)
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
				tooSlow(w, id, "the change is made when it does, or fails then: look before you repeat it")
				return
			}
		}
	}
}

func tooSlow(w http.ResponseWriter, id, what string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(api.ErrorBody{
		Error: fmt.Sprintf("the disk of this node does not answer since %v or longer; %s", diskPatience, what)})
}

// bufferedAnswer buffers an answer until it is complete. The server sends the answer if the client still waits.
type bufferedAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
	begun  bool
}

func (k *bufferedAnswer) Header() http.Header { return k.header }

func (k *bufferedAnswer) WriteHeader(status int) {
	if !k.begun {
		k.status, k.begun = status, true
	}
}

func (k *bufferedAnswer) Write(p []byte) (int, error) {
	k.begun = true
	return k.body.Write(p)
}

// Flush implements http.Flusher, which gin takes for granted.
func (k *bufferedAnswer) Flush() {}

func (k *bufferedAnswer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(k.status)
	_, _ = w.Write(k.body.Bytes())
}
