package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// fakeAudit is a log of two entries that are chained as a node chains them.
func fakeAudit() api.AuditList {
	list := api.AuditList{Total: 2, Limit: api.DefaultPageLimit, GeneratedAt: now}
	previous := ""
	for i, e := range []api.AuditEntry{
		{Action: "override", Resource: "override", ResourceID: "app.example.com 192.0.2.11:443", Actor: "127.0.0.1",
			ActorType: api.ActorUser, Status: api.AuditSuccess},
		{Action: "reload", Resource: "config", ResourceID: "ow-1", Actor: "SIGHUP", ActorType: api.ActorSystem,
			Status: api.AuditFailure},
	} {
		e.ID, e.Timestamp, e.PreviousHash = uint64(i+1), now.Add(time.Duration(i-60)*time.Minute), previous
		e.Details, e.Before, e.After = map[string]string{}, json.RawMessage("null"), json.RawMessage(`{"a":"<b>"}`)
		e.Hash, _ = e.Sum()
		previous = e.Hash
		list.Entries = append(list.Entries, e)
	}
	return list
}

func TestAuditVerify_NamesTheEntryThatBreaksTheChain(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func([]api.AuditEntry) []api.AuditEntry
		says  string
		code  int
	}{
		"sound":  {func(l []api.AuditEntry) []api.AuditEntry { return l }, "whole: 2 entries", exitWell},
		"pruned": {func(l []api.AuditEntry) []api.AuditEntry { return l[1:] }, "whole: 1 entry", exitWell},
		"edited": {func(l []api.AuditEntry) []api.AuditEntry { l[1].Status = api.AuditSuccess; return l },
			"entry 2 was changed", exitDegraded},
		"moved": {func(l []api.AuditEntry) []api.AuditEntry { l[0], l[1] = l[1], l[0]; return l }, "out of order",
			exitDegraded},
		"removed": {func(l []api.AuditEntry) []api.AuditEntry { l[1].ID = 3; l[1].Hash, _ = l[1].Sum(); return l },
			"entries are missing", exitDegraded},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t)
			list := fakeAudit()
			list.Entries = test.spoil(list.Entries)
			list.Total = len(list.Entries)
			n.answers["GET /api/v1/audit-logs"] = list
			r := call(t, System{}, []*node{n}, "--api", documented(0), "audit", "verify")
			if r.code != test.code || !strings.Contains(r.out, test.says) || r.errors != "" {
				t.Errorf("exit code %d: %s%s, want %q", r.code, r.out, r.errors, test.says)
			}
		})
	}
}
