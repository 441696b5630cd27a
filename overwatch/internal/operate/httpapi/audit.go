package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

func auditOperations() []Operation {
	filters := []Parameter{
		moment("start_time", "not before"), moment("end_time", "not after"),
		list("actions", "these, with commas, of "+listed(api.AuditActions()), api.AuditActions(), "create,delete"),
		list("resources", "these, with commas, of "+listed(api.AuditResources()), api.AuditResources(), "domain"),
		text("actors", "these, with commas", nil),
		word("status", "list only entries with this outcome", []string{api.AuditSuccess, api.AuditFailure}),
		text("search", "a text in the entry, in any case", nil),
		word("sort_order", "desc: the latest first", []string{"asc", "desc"}),
	}
	entry := api.AuditEntry{
		ID: 1, Timestamp: exampleTime(), Action: "create", Resource: "domain", ResourceID: "app.example.com",
		Actor:     "127.0.0.1",
		ActorType: api.ActorUser, ActorIP: "127.0.0.1",
		Status: api.AuditSuccess, Details: map[string]string{}, DurationMs: 12.5, RequestID: "0123456789abcdef",
		Hash: "9f86d081",
	}
	return []Operation{
		{Method: get, Path: v1 + "/audit-logs", handle: (*Server).listAudit,
			Summary: "List audit entries of changes and refusals",
			Query:   paged(filters...), Status: 200,
			Answer: api.AuditList{Entries: []api.AuditEntry{entry}, Total: 1, Limit: 100, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/audit-logs/{id}", handle: (*Server).getAudit, Summary: "Get an audit entry", Status: 200,
			Answer: api.AuditOne{Entry: entry}},
		{Method: post, Path: v1 + "/audit-logs/{id}/undo", Changes: KindSeveral,
			handle: (*Server).postUndo, Role: api.RoleOperate,
			Summary: "Undo a change",
			Description: "Undoes overrides, weights and drains. With the role admin it also undoes that domains, " +
				"servers, " +
				"regions and mappings were made, changed or removed, and applies of documents. All entries with the " +
				"same " +
				api.ChangeHeader + " (a header of requests that change something) are one change. The id last " +
				"is the latest change of the client, " + operations.ChangePrefix +
				" and an id for its change with this id. 409 if a later change " +
				"concerns the same object, or if the change cannot be undone. An undo is a change, and can be undone.",
			Query:  []Parameter{ifSafeParameter(), flag("dry_run", "check and describe the change without making it")},
			Status: 200,
			Answer: api.Undone{Success: true, Entry: 17, Entries: []uint64{17}, Change: "drain-eu-7", At: exampleTime(),
				Version: api.FormatVersion(exampleTime().UnixMilli(), 0),
				Message: "the drain of server " + exampleServer + " is undone", Action: api.AuditDrain,
				Resource:   "server",
				ResourceID: exampleServer}, Errors: []int{conflict, noStore}},
		{Method: get, Path: v1 + "/audit-logs/stats", handle: (*Server).getAuditStats, Query: none,
			Summary: "Count audit entries by action and resource", Status: 200,
			Answer: api.AuditStatsAnswer{Stats: api.AuditStats{TotalEntries: 1, EntriesLast24h: 1, EntriesLast7d: 1,
				ByAction: map[string]int{"create": 1}, ByResource: map[string]int{"domain": 1},
				ByStatus: map[string]int{"success": 1}, ByActorType: map[string]int{"user": 1},
				TopActors: []api.ActorCount{{Actor: "127.0.0.1", Count: 1}}, RetentionDays: 90,
				OldestEntry: new(exampleTime()), NewestEntry: new(exampleTime())}, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/audit-logs/export", handle: (*Server).exportAudit,
			Summary: "Export audit entries as a file",
			Status:  200, Files: []string{"text/csv", "application/x-ndjson"},
			Answer: api.AuditExport{Entries: []api.AuditEntry{entry}},
			Query:  append(filters, word("format", "default: json", []string{"json", "csv", "ndjson"}))},
	}
}

// auditQuery parses the query. It selects only entries of the scope of the token.
func (s *Server) auditQuery(c *call) (q audit.Query, err error) {
	p := c.query
	q = audit.Query{
		Actions: p.list("actions"), Resources: p.list("resources"), Actors: p.list("actors"),
		Status: p["status"], Search: strings.ToLower(p["search"]), Ascending: p["sort_order"] == "asc",
	}
	if c.isLimited() {
		q.Sees = func(e *api.AuditEntry) bool { return s.op.CoversEntry(c.request(), e) }
	}
	q.From, q.To, err = p.period()
	return q, err
}

// listAudit answers GET /audit-logs.
func (s *Server) listAudit(c *call) (answer, error) {
	q, err := s.auditQuery(c)
	if err != nil {
		return answer{}, err
	}
	list := api.AuditList{Limit: c.page.limit, Offset: c.page.offset, GeneratedAt: stamp(s.o.Now())}
	list.Entries, list.Total, err = s.o.Audit.Page(q, c.page.offset, c.page.limit)
	return ok(list), err
}

// getAuditStats answers GET /audit-logs/stats.
func (s *Server) getAuditStats(*call) (answer, error) {
	now := s.o.Now()
	stats, err := s.o.Audit.Stats(now)
	return ok(api.AuditStatsAnswer{Stats: stats, GeneratedAt: stamp(now)}), err
}

// getAudit answers GET /audit-logs/{id}.
func (s *Server) getAudit(c *call) (answer, error) {
	id, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return answer{}, badRequest("id is %.64q: it must be the number of an audit entry", c.Param("id"))
	}
	e, err := s.o.Audit.Get(id)
	if errors.Is(err, audit.ErrNoEntry) && c.isLimited() {
		return answer{}, outsideScope(c.actor) // the error does not depend on the existence of the entry
	}
	if errors.Is(err, audit.ErrNoEntry) {
		return answer{}, notFound("there is no audit entry %d: it was never written, or is older than audit.retention",
			id)
	}
	if err == nil && !s.op.CoversEntry(c.request(), &e) {
		return answer{}, outsideScope(c.actor)
	}
	return ok(api.AuditOne{Entry: e}), err
}

// exportAudit answers GET /audit-logs/export.
func (s *Server) exportAudit(c *call) (answer, error) {
	q, err := s.auditQuery(c)
	if err != nil {
		return answer{}, err
	}
	format := cmp.Or(c.query["format"], "json")
	c.Header("Content-Disposition", `attachment; filename="audit-log.`+format+`"`)
	c.Header("Content-Type", map[string]string{"json": "application/json", "csv": "text/csv; charset=utf-8",
		"ndjson": "application/x-ndjson"}[format])
	c.Status(http.StatusOK)
	if err := audit.Export(c.Writer, format, s.o.Audit.Entries(q)); err != nil {
		s.log.Warn().Err(err).Str("request_id", c.id).Msg("an export of the audit log was cut short")
		panic(http.ErrAbortHandler) // the client must detect the incomplete response
	}
	return answer{status: http.StatusOK}, nil
}

// postUndo answers POST /audit-logs/{id}/undo.
func (s *Server) postUndo(c *call) (answer, error) {
	undone, err := s.op.Undo(c.request(), c.Param("id"), c.query.flag("dry_run"))
	return ok(undone), err
}
