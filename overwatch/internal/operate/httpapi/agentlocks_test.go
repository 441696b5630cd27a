package httpapi // inside: it shares world_test.go

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

func TestRevoke_SaysWhatTheTokenStillAdmitsAndLocksIt(t *testing.T) {
	w := newWorld(t)
	w.agent("198.51.100.7", wire.ClaimHealthy)
	out, err := w.client.Revoke(t.Context(), agentName, api.RevokeRequest{Reason: "stolen"})
	if err != nil || !strings.Contains(out.Message, "still admits others") ||
		!strings.Contains(out.Message, "--lock-service") || len(out.Locked) != 0 ||
		!slices.Equal(out.Services, []string{service}) {
		t.Errorf("without the lock: %+v, %v", out, err)
	}
	out, err = w.client.Revoke(t.Context(), agentName, api.RevokeRequest{Reason: "stolen", LockService: true})
	if err != nil || !slices.Equal(out.Locked, []string{service}) ||
		!strings.Contains(out.Message, "admits no new agents") || len(out.Next) == 0 {
		t.Errorf("with the lock: %+v, %v", out, err)
	}
	if l, err := w.client.TokenLocks(t.Context()); err != nil || l.Total != 1 || l.Locks[0].Service != service ||
		l.Locks[0].AdmitsNew || l.Locks[0].AgentID != agentName {
		t.Errorf("locks %+v, %v", l, err)
	}
	if stored, err := w.store.LoadLocks(); err != nil || len(stored) != 1 {
		t.Errorf("on disk: %+v, %v", stored, err)
	}
	if out, err := w.client.UnlockToken(t.Context(), strings.ToUpper(service)+"."); err != nil || !out.Success {
		t.Errorf("unlock: %+v, %v", out, err)
	}
	w.wantError("again", w.send("DELETE", "/api/v1/overwatch/locks/"+service, ""), 404, "locked")
}

func TestUnpinMany_TakesThoseThatAreMeantAndSaysWho(t *testing.T) {
	w := newWorld(t)
	w.agent("198.51.100.7", wire.ClaimHealthy)
	const path = "/api/v1/overwatch/agents"
	for query, word := range map[string]string{
		"": "service is missing", "?service=" + service: "never_reported and pinned_since",
		"?service=" + service + "&never_reported=yes": "never_reported",
		"?service=" + service + "&pinned_since=today": "pinned_since", "?all=true": "all",
	} {
		w.wantError(query, w.send("DELETE", path+query, ""), 400, word)
	}
	for _, f := range []api.UnpinFilter{{Service: "other.example", NeverReported: true},
		{Service: service, PinnedSince: time.Now().Add(time.Hour)}} {
		if out, err := w.client.UnpinMany(t.Context(), f, false); err != nil || len(out.Unpinned) != 0 || out.Remaining != 0 {
			t.Errorf("%+v: %+v, %v", f, out, err)
		}
	}
	all := api.UnpinFilter{Service: strings.ToUpper(service), PinnedSince: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	out, err := w.client.UnpinMany(t.Context(), all, true)
	if err != nil || !slices.Equal(out.Unpinned, []string{agentName}) || out.Remaining != 1 || !out.DryRun {
		t.Errorf("dry run: %+v, %v", out, err)
	}
	out, err = w.client.UnpinMany(t.Context(), all, false)
	if err != nil || !slices.Equal(out.Unpinned, []string{agentName}) || out.Remaining != 0 || out.DryRun {
		t.Errorf("%+v, %v", out, err)
	}
	if pins, err := w.store.LoadPins(); err != nil || len(pins) != 0 {
		t.Errorf("on disk: %+v, %v", pins, err)
	}
	w.wantError("GET", w.send("GET", path+"/"+agentName, ""), 404)
}
