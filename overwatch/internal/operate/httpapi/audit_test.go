package httpapi // inside: it shares world_test.go

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// audited creates a world in which an override was set and then a reload failed.
func audited(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if r := w.send("PUT", "/api/v1/overrides/"+service+"/192.0.2.1",
		`{"healthy": false, "reason": "a=b <\"quoted\", with commas>"}`); r.status != 200 {
		t.Fatal(r)
	}
	w.reloads.err = errors.New("the file is gone")
	if r := w.send("POST", "/api/v1/config/reload", ""); r.status == 200 {
		t.Fatal(r)
	}
	return w
}

func (w *world) auditLog(query string) api.AuditList {
	w.t.Helper()
	var list api.AuditList
	r := w.send("GET", "/api/v1/audit-logs"+query, "")
	if err := json.Unmarshal([]byte(r.body), &list); err != nil || r.status != 200 {
		w.t.Fatal(r, err)
	}
	return list
}

func TestAudit_EveryChangeIsKeptWithItsOutcome(t *testing.T) {
	w := audited(t)
	list := w.auditLog("")
	if list.Total != 2 || len(list.Entries) != 2 {
		t.Fatalf("%+v", list)
	}
	reload, set := list.Entries[0], list.Entries[1]
	if reload.Action != "reload" || reload.Status != api.AuditFailure ||
		!strings.Contains(reload.Details["error"], "the file is gone") {
		t.Errorf("reload: %+v", reload)
	}
	if set.Action != "override" || set.Resource != "override" || set.ActorIP != "127.0.0.1" ||
		set.ActorType != api.ActorUser || set.Status != api.AuditSuccess ||
		set.RequestID == "" || string(set.Before) != "null" || !strings.Contains(string(set.After), "quoted") {
		t.Errorf("override: %+v", set)
	}
	if err := errors.Join(set.Follows(nil), reload.Follows(&set)); err != nil {
		t.Errorf("the chain as a client sees it: %v", err)
	}
	if r := w.send("GET", "/api/v1/audit-logs/1", ""); r.status != 200 || !strings.Contains(r.body, `{"entry":{"id":1,`) {
		t.Errorf("entry 1: %+v", r)
	}
	w.wantError("no such entry", w.send("GET", "/api/v1/audit-logs/3", ""), 404, "no audit entry 3")
	w.wantError("no number", w.send("GET", "/api/v1/audit-logs/x", ""), 400, "x")
}

func TestAudit_Filters(t *testing.T) {
	w := audited(t)
	for query, want := range map[string][]uint64{
		"":                                 nil,
		"?sort_order=asc":                  {1, 2},
		"?sort_order=desc":                 {2, 1},
		"?actions=override,delete":         {1},
		"?resources=config":                {2},
		"?actors=127.0.0.1":                {2, 1},
		"?actors=192.0.2.9":                {},
		"?status=failure":                  {2},
		"?search=QUOTED":                   {1},
		"?search=failure":                  {2},
		"?search=no+such+text":             {},
		"?start_time=2999-01-01T00:00:00Z": {},
		"?end_time=2999-01-01T00:00:00Z":   {2, 1},
		"?limit=1&offset=1":                {1},
	} {
		got := []uint64{}
		for _, e := range w.auditLog(query).Entries {
			got = append(got, e.ID)
		}
		if want != nil && !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]int{"": 2, "?limit=1": 2, "?limit=1&sort_order=asc": 2, "?offset=1": 2,
		"?offset=9": 2, "?limit=1&status=failure": 1, "?limit=1&actors=127.0.0.1": 2} {
		if got := w.auditLog(query); got.Total != want {
			t.Errorf("%s: a total of %d, want %d", query, got.Total, want)
		}
	}
	if got := newWorld(t).auditLog("?limit=1"); got.Total != 0 || len(got.Entries) != 0 {
		t.Errorf("an empty log: %+v", got)
	}
	w.wantError("time", w.send("GET", "/api/v1/audit-logs?start_time=today", ""), 400, "start_time", "today")
	w.wantError("status", w.send("GET", "/api/v1/audit-logs?status=good", ""), 400, "status", "good")
}

func TestAudit_ExportInEveryFormat(t *testing.T) {
	w := audited(t)
	for query, count := range map[string]int{"": 2, "?format=json&status=failure": 1,
		"?format=json&search=nothing-has-this": 0} {
		r := w.send("GET", "/api/v1/audit-logs/export"+query, "")
		var list api.AuditList
		if err := json.Unmarshal([]byte(r.body), &list); err != nil || len(list.Entries) != count ||
			!strings.Contains(r.header.Get("Content-Disposition"), "audit-log.json") {
			t.Errorf("%s: %+v %v", query, r, err)
		}
	}
	r := w.send("GET", "/api/v1/audit-logs/export?format=ndjson", "")
	for line := range strings.Lines(r.body) {
		var e api.AuditEntry
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Follows(nil) != nil && e.ID == 1 {
			t.Errorf("%q: %v", line, err)
		}
	}
	if strings.Count(r.body, "\n") != 2 || r.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("ndjson: %+v", r)
	}
	r = w.send("GET", "/api/v1/audit-logs/export?format=csv&sort_order=asc", "")
	rows, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][0] != "id" || rows[1][0] != "1" ||
		!strings.Contains(rows[1][11], "quoted") {
		t.Errorf("csv: %v %v", rows, err)
	}
	w.wantError("format", w.send("GET", "/api/v1/audit-logs/export?format=xml", ""), 400, "format", "xml")
}

func TestAudit_StatsCount(t *testing.T) {
	w := audited(t)
	var answer api.AuditStatsAnswer
	if err := json.Unmarshal([]byte(w.send("GET", "/api/v1/audit-logs/stats", "").body), &answer); err != nil {
		t.Fatal(err)
	}
	s := answer.Stats
	if s.TotalEntries != 2 || s.EntriesLast24h != 2 || s.ByStatus[api.AuditFailure] != 1 || s.ByAction["reload"] != 1 ||
		s.RetentionDays != 90 ||
		len(s.TopActors) != 1 || s.TopActors[0].Count != 2 || s.OldestEntry == nil || s.NewestEntry == nil {
		t.Errorf("%+v", s)
	}
}

// TestAuditExport_NoCellIsAFormula checks that text from a request cannot run as a formula in the spreadsheet of a
// reader.
func TestAuditExport_NoCellIsAFormula(t *testing.T) {
	w := newWorld(t)
	for _, action := range []string{"=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "plain"} {
		w.must(w.audit.Record(audit.Change{Action: action, Resource: "domain", ResourceID: action, Actor: action}))
	}
	cells, err := csv.NewReader(strings.NewReader(w.send("GET", "/api/v1/audit-logs/export?format=csv&sort_order=asc",
		"").body)).ReadAll()
	if err != nil || len(cells) != 8 {
		t.Fatalf("%d lines, %v", len(cells), err)
	}
	for _, line := range cells[1:] {
		for _, cell := range line {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("a cell is %q", cell)
			}
		}
	}
	if cells[1][2] != "'=HYPERLINK(1)" || cells[7][2] != "plain" {
		t.Errorf("%q, %q", cells[1][2], cells[7][2])
	}
}
