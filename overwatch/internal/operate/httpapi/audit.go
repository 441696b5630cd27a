package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

func (p params) audit() (q audit.Query, err error) {
	q = audit.Query{
		Actions: p.list("actions"), Resources: p.list("resources"), Actors: p.list("actors"),
		Status: p["status"], Search: strings.ToLower(p["search"]), Ascending: p["sort_order"] == "asc",
	}
	q.From, q.To, err = p.period()
	return q, err
}

// listAudit answers GET /audit-logs.
func (s *Server) listAudit(c *call) (answer, error) {
	q, err := c.query.audit()
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
	if errors.Is(err, audit.ErrNoEntry) {
		return answer{}, notFound("there is no audit entry %d: it was never written, or is older than audit.retention",
			id)
	}
	return ok(api.AuditOne{Entry: e}), err
}

// exportAudit answers GET /audit-logs/export.
func (s *Server) exportAudit(c *call) (answer, error) {
	q, err := c.query.audit()
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
		panic(http.ErrAbortHandler) // so that the client does not take it for whole
	}
	return answer{status: http.StatusOK}, nil
}

// postUndo answers POST /audit-logs/{id}/undo.
func (s *Server) postUndo(c *call) (answer, error) {
	undone, err := s.op.Undo(c.request(), c.Param("id"), c.query.flag("dry_run"))
	return ok(undone), err
}
