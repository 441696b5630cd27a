package httpapi // inside: it uses turns and the planner of a Server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/control/document"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// A body with millions of empty objects is refused without an allocation for each object.
func TestDocument_CountsObjectsBeforeItDecodesThem(t *testing.T) {
	w := newWorld(t)
	const most = inventory.MaxServers + definitions.MaxTargets
	for list, count := range map[string]int{"servers": most + 1, "domains": definitions.MaxDomains + 1} {
		body := `{"document":{"` + list + `":[` + strings.Repeat("{},", count-1) + `{}]}}`
		w.wantError(list, w.send("POST", "/api/v1/document/plan", body), http.StatusRequestEntityTooLarge, list,
			fmt.Sprint(count))
	}
	body := []byte(`{"servers":[` + strings.Repeat("{},", 4<<20) + `{}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := w.server.planner.Read(t.Context(), document.Request{Document: body})
	runtime.ReadMemStats(&after)
	if p, known := problemOf(err); !known || p.status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %v, want 413", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes were allocated to refuse %d objects, allowed is 1 MiB", used, 4<<20)
	}
}

func TestDocument_ReportsAtMostAThousandProblems(t *testing.T) {
	w := newWorld(t)
	for name, doc := range map[string]api.Document{
		"objects that cannot be read": {Servers: make([]api.DocumentServer, 1500)},
		"objects that cannot be":      {Servers: serversOf("nobody.example", 1500)},
	} {
		_, err := w.client.Plan(t.Context(), api.ApplyRequest{Document: doc})
		refusal, is := errors.AsType[*api.Error](err)
		if !is || refusal.Status != http.StatusBadRequest || len(refusal.Problems) != 1000 ||
			!strings.Contains(refusal.Message, "at least 999 more problems") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// serversOf returns so many servers of a service.
func serversOf(service string, count int) (list []api.DocumentServer) {
	for i := range count {
		list = append(list, api.DocumentServer{"service": service,
			"address": fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), "port": 80, "region": "eu"})
	}
	return list
}

// A rejected client receives the time of the next attempt in Retry-After.
func TestDocument_FewAtATimeTheOthersGet429(t *testing.T) {
	w := newWorld(t)
	for range cap(w.server.documents.waiting) {
		w.server.documents.waiting <- struct{}{}
	}
	for _, path := range []string{"/api/v1/document/plan", "/api/v1/document/apply"} {
		r := w.send("POST", path, `{"document":{}}`)
		w.wantError(path, r, http.StatusTooManyRequests, "try again")
		if r.header.Get("Retry-After") == "" {
			t.Errorf("%s: 429 without Retry-After: %v", path, r.header)
		}
	}
	<-w.server.documents.waiting
	w.want("a turn is free", w.send("POST", "/api/v1/document/plan", `{"document":{}}`), http.StatusOK)
}

func TestTurns_HoldersAndWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := newTurns(1, 2)
		first, err := places.waitForSlot(t.Context(), time.Second)
		if err != nil || first == nil {
			t.Fatalf("the first: %v", err)
		}
		got := make(chan string)
		wait := func(ctx context.Context) {
			done, err := places.waitForSlot(ctx, time.Second)
			got <- fmt.Sprint(done != nil, err)
		}
		leaving, leave := context.WithCancel(t.Context())
		go wait(leaving)
		go wait(t.Context())
		synctest.Wait()
		if done, err := places.waitForSlot(t.Context(), time.Second); done != nil || err != nil {
			t.Error("a fourth waits although two wait")
		}
		leave()
		if answer := <-got; answer != "false context canceled" {
			t.Errorf("who leaves gets %s", answer)
		}
		if answer := <-got; answer != "false <nil>" {
			t.Errorf("who waits too long gets %s", answer)
		}
		first()
		if done, err := places.waitForSlot(t.Context(), time.Second); done == nil || err != nil {
			t.Errorf("after the first: %v", err)
		}
	})
}

// After the client has left, the node stops reading its document and changes no object.
func TestDocument_EndsWithItsClient(t *testing.T) {
	w := newWorld(t)
	body, err := json.Marshal(api.Document{Servers: serversOf(service, 100)})
	w.must(err)
	gone, leave := context.WithCancel(t.Context())
	request := document.Request{Document: body}
	wanted, err := w.server.planner.Read(gone, request)
	w.must(err)
	leave()
	if _, err := w.server.planner.Read(gone, request); !errors.Is(err, context.Canceled) {
		t.Errorf("reading: %v", err)
	}
	if _, _, err := w.server.planner.Plan(gone, request, wanted); !errors.Is(err, context.Canceled) {
		t.Errorf("planning: %v", err)
	}
}
