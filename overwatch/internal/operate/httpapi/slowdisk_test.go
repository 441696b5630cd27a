package httpapi // inside: it uses diskPatience, maxAbandoned and slowDisk

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The client of a change receives a response in time if the disk hangs, and the change continues without its client.
// The node waits for a slow disk. Reads are not delayed.
func TestPatience_ADiskThatHangsIsToldInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		var made, cancelled atomic.Int64
		goOn := make(chan struct{})
		var ids sync.Map // of the changes
		p := &slowDisk{
			disk: func() time.Duration {
				if hangs.Load() {
					return diskPatience + 1
				}
				return diskPatience
			},
			next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"1"`)
				if id, _ := r.Context().Value(requestID{}).(string); id != "" {
					ids.Store(id, true)
				}
				if r.Method != http.MethodGet {
					<-goOn
					made.Add(1)
				}
				if r.Context().Err() != nil {
					cancelled.Add(1)
				}
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, "made")
			}),
		}
		send := func(method string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			p.ServeHTTP(w, httptest.NewRequest(method, "/api/v1/domains", nil).WithContext(t.Context()))
			return w
		}
		began := time.Now()
		hangs.Store(true)
		if w := send(http.MethodGet); w.Code != http.StatusCreated || time.Since(began) != 0 {
			t.Errorf("a read: %d after %v", w.Code, time.Since(began))
		}
		for i := range maxAbandoned {
			at := time.Now()
			if w := send(http.MethodPost); w.Code != http.StatusServiceUnavailable ||
				!strings.Contains(w.Body.String(), "look before you repeat it") || time.Since(at) > diskPatience {
				t.Fatalf("change %d: %d %s after %v", i, w.Code, w.Body, time.Since(at))
			} else if _, same := ids.LoadAndDelete(w.Header().Get("X-Request-Id")); !same {
				t.Fatalf("change %d: the answer has not its id: %v", i, w.Header())
			}
		}
		if w := send(http.MethodDelete); w.Code != http.StatusServiceUnavailable ||
			!strings.Contains(w.Body.String(), "nothing was changed") {
			t.Errorf("one more than may wait: %d %s", w.Code, w.Body)
		}
		hangs.Store(false)
		go func() {
			time.Sleep(time.Minute)
			close(goOn)
		}()
		w := send(http.MethodPut)
		if w.Code != http.StatusCreated || w.Body.String() != "made" || w.Header().Get("ETag") == "" {
			t.Errorf("a slow one: %d %s %v", w.Code, w.Body, w.Header())
		}
		synctest.Wait()
		if made.Load() != maxAbandoned+1 || cancelled.Load() != 0 || p.abandoned.Load() != 0 {
			t.Errorf("%d changes were made, %d of them cancelled, %d are under way; want %d", made.Load(), cancelled.Load(),
				p.abandoned.Load(), maxAbandoned+1)
		}
	})
}

func TestPatience_APanicIsTheServers(t *testing.T) {
	p := &slowDisk{disk: func() time.Duration { return 0 },
		next: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("abort") })}
	defer func() {
		if cause := recover(); cause != any("abort") {
			t.Errorf("recovered %v", cause)
		}
	}()
	p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
}
