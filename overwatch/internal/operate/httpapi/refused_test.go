package httpapi // inside: it uses file

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// refusals returns the audit entries of refusals, one per line, the oldest first.
func (w *world) refusals() string {
	w.t.Helper()
	w.writeRefusals()
	lines := strings.Builder{}
	for e, err := range w.audit.Oldest(audit.Refusals) {
		w.must(err)
		if e.ID > api.FirstRefusal && e.Actor == audit.ActorNode {
			continue // the entry with the number of omitted refusals
		}
		if e.Status != api.AuditFailure || e.Resource != "request" || len(e.RequestID) != 16 || e.ActorIP != "127.0.0.1" {
			w.t.Errorf("%+v", e)
		}
		fmt.Fprintf(&lines, "%s: %s: %s\n", e.Actor, e.ResourceID, e.Details["error"])
	}
	return lines.String()
}

// The audit log contains requests without permission and refused changes. It does not contain reads and missing
// objects.
func TestRefused_IsInTheAuditLog(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	as := func(role string) string { return "Bearer " + tokenOf(role) }
	w.send("GET", "/api/v1/servers", "")
	w.send("DELETE", "/api/v1/domains/"+service, "", "Authorization", as("read"))
	w.send("POST", "/api/v1/servers", `{"service":"app.example","weight":"\u0007much"}`, "Authorization", as("admin"))
	w.send("POST", "/api/v1/servers", strings.Repeat(" ", api.MaxBody+1), "Authorization", as("admin"))
	w.send("PATCH", "/api/v1/servers/"+service+":192.0.2.77:80", `{"weight":5}`, "Authorization", as("admin"))
	w.send("GET", "/api/v1/audit-logs?actions=nothing", "", "Authorization", as("read"))
	w.send("GET", "/api/v1/nothing", "", "Authorization", as("read"))
	entries, want := w.refusals(), []string{
		"127.0.0.1: GET /api/v1/servers: 401: this needs a token",
		"the-read: DELETE /api/v1/domains/app.example: 403: this needs a token of role",
		"the-admin: POST /api/v1/servers: 400: weight is",
		"the-admin: POST /api/v1/servers: 413: the body is larger than",
	}
	got := strings.Split(strings.TrimSpace(entries), "\n")
	for i, line := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], line) {
			t.Errorf("entry %d is not %q in\n%s", i, line, entries)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d:\n%s", len(got), len(want), entries)
	}
}

// Only a few refusals of a flood have an audit entry, and none of them displaces the entry of a change.
func TestRefused_HasARoomOfItsOwn(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	admin := []string{"Authorization", "Bearer " + tokenOf("admin")}
	w.send("PUT", overridePath, `{"healthy":false,"reason":"r"}`, admin...)
	for i := range 50 {
		w.send("GET", fmt.Sprint("/api/v1/servers?", i), "")
		w.send("GET", fmt.Sprint("/api/v1/nothing/", i), "")
	}
	if got := strings.Count(w.refusals(), "\n"); got != 4 {
		t.Errorf("%d entries of a flood, want 4", got)
	}
	w.cfg.Store(w.defined.file) // without tokens
	if list := w.auditLog(""); list.Total != 1 || list.Entries[0].Action != api.AuditOverride {
		t.Errorf("changes: %+v", list)
	}
	both := w.auditLog("?actions=refused,override&sort_order=asc").Entries
	if len(both) < 5 || both[0].Action != api.AuditOverride || both[1].ID != api.FirstRefusal {
		t.Errorf("both rooms: %+v", both)
	}
	if err := w.audit.Record(audit.Change{Action: api.AuditReceive, Resource: "domain", Actor: "ow-2"}); err != nil {
		t.Fatal(err)
	}
	received := w.auditLog("?actions=receive").Entries
	if len(received) != 1 || received[0].Actor != "ow-2" || received[0].ID != api.FirstReceived ||
		w.auditLog("").Total != 1 || len(w.auditLog("?actions=receive,refused,override").Entries) != len(both)+1 {
		t.Errorf("changes of other nodes: %+v", received)
	}
	w.want("one refusal", w.send("GET", fmt.Sprint("/api/v1/audit-logs/", api.FirstRefusal), ""), 200)
	w.want("a domain", w.send("POST", "/api/v1/domains", `{"name":"x.example"}`), 201)
	before, changes := strings.Count(w.refusals(), "\n"), w.auditLog("").Total
	for range 50 { // each refusal has one entry, although only the change detects the error
		w.wantError("twice", w.send("POST", "/api/v1/domains", `{"name":"x.example"}`), 409)
		w.wantError("stale", w.send("PATCH", "/api/v1/domains/x.example", `{"ttl":5}`, "If-Match", `"0"`), 412)
		w.wantError("twice", w.send("POST", "/api/v1/servers", strings.Replace(serverBody, "2.9", "2.1", 1)), 400)
		w.wantError("of the file", w.send("DELETE", "/api/v1/servers/"+firstServer, ""), 400)
		w.wantError("gone", w.send("DELETE", "/api/v1/domains/none.example", ""), 404)
	}
	if got := strings.Count(w.refusals(), "\n") - before; got != 4 || w.auditLog("").Total != changes {
		t.Errorf("%d entries of four refusals; %d changes, want %d", got, w.auditLog("").Total, changes)
	}
}

func TestRefused_AStrangersAddressAndNothingLong(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.AllowedNetworks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	w.send("GET", "/api/v1/servers/"+strings.Repeat("x", 2000), "")
	w.writeRefusals()
	var got []api.AuditEntry
	for e, err := range w.audit.Newest(audit.Refusals) {
		w.must(err)
		got = append(got, e)
	}
	if len(got) != 1 || got[0].Actor != "127.0.0.1" || len(got[0].ResourceID) > 300 ||
		!strings.Contains(got[0].Details["error"], "403: 127.0.0.1 is not in api.allowed_networks") {
		t.Errorf("%+v", got)
	}
}
