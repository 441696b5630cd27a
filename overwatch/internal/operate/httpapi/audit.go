package httpapi

import (
	"cmp"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// auditQuery selects audit entries.
type auditQuery struct {
	from, to                   time.Time // zero: no bound
	actions, resources, actors []string  // empty: all
	status, search             string    // empty: all
	ascending                  bool
}

func (p params) audit() (q auditQuery, err error) {
	q = auditQuery{
		actions: p.list("actions"), resources: p.list("resources"), actors: p.list("actors"),
		status: p["status"], search: strings.ToLower(p["search"]), ascending: p["sort_order"] == "asc",
	}
	q.from, q.to, err = p.period()
	return q, err
}

// everything reports whether no entry is left out.
func (q auditQuery) everything() bool {
	return q.from.IsZero() && q.to.IsZero() && len(q.actions)+len(q.resources)+len(q.actors) == 0 && q.status == "" &&
		q.search == ""
}

func (q auditQuery) wants(e *api.AuditEntry) bool {
	in := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	return (q.from.IsZero() || !e.Timestamp.Before(q.from)) && (q.to.IsZero() || !e.Timestamp.After(q.to)) &&
		in(q.actions, e.Action) && in(q.resources, e.Resource) && in(q.actors, e.Actor) &&
		(q.status == "" || q.status == e.Status) &&
		(q.search == "" || auditContains(e, q.search))
}

// rooms returns the parts of the log that q reads: refusals and changes of other nodes only if q names their actions.
func (q auditQuery) rooms() (rooms []audit.Room) {
	for _, action := range q.actions {
		if room := audit.RoomOf(action); !slices.Contains(rooms, room) {
			rooms = append(rooms, room)
		}
	}
	if rooms == nil {
		rooms = []audit.Room{audit.Changes}
	}
	return rooms
}

// auditEntries yields the entries that q selects, by time. An error is the last thing it yields.
func (s *Server) auditEntries(q auditQuery) iter.Seq2[api.AuditEntry, error] {
	var parts []iter.Seq2[api.AuditEntry, error]
	for _, room := range q.rooms() {
		if q.ascending {
			parts = append(parts, s.o.Audit.Oldest(room))
		} else {
			parts = append(parts, s.o.Audit.Newest(room))
		}
	}
	all := parts[0]
	for _, part := range parts[1:] {
		all = mergeAudit(all, part, q.ascending)
	}
	return func(yield func(api.AuditEntry, error) bool) {
		for e, err := range all {
			if (err != nil || q.wants(&e)) && !yield(e, err) {
				return
			}
		}
	}
}

// listAudit answers GET /audit-logs.
func (s *Server) listAudit(c *call) (answer, error) {
	q, err := c.query.audit()
	if err != nil {
		return answer{}, err
	}
	list := api.AuditList{Entries: []api.AuditEntry{}, Limit: c.page.limit, Offset: c.page.offset,
		GeneratedAt: stamp(s.o.Now())}
	all := 0 // the number of entries, known without reading them where none is left out
	if q.everything() {
		if all, err = s.countAudit(); err != nil {
			return answer{}, err
		}
	}
	for e, err := range s.auditEntries(q) {
		if err != nil {
			return answer{}, err
		}
		if list.Total >= c.page.offset && len(list.Entries) < c.page.limit {
			list.Entries = append(list.Entries, e)
		}
		if list.Total++; all > 0 && len(list.Entries) == c.page.limit {
			break
		}
	}
	list.Total = max(list.Total, all)
	return ok(list), nil
}

// countAudit returns the number of changes that are kept, from the first and the last number: numbers have no gaps.
func (s *Server) countAudit() (int, error) {
	var ends [2]uint64
	log := s.o.Audit
	for i, entries := range []iter.Seq2[api.AuditEntry, error]{log.Oldest(audit.Changes), log.Newest(audit.Changes)} {
		for e, err := range entries {
			if err != nil {
				return 0, err
			}
			ends[i] = e.ID
			break
		}
	}
	if ends[0] == 0 {
		return 0, nil
	}
	return int(ends[1] - ends[0] + 1), nil
}

// getAudit answers GET /audit-logs/{id}.
func (s *Server) getAudit(c *call) (answer, error) {
	id, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return answer{}, badRequest("id is %.64q: it must be the number of an audit entry", c.Param("id"))
	}
	e, err := s.o.Audit.Get(id)
	if errors.Is(err, audit.ErrNoEntry) {
		return answer{}, notFound("there is no audit entry %d: it was never written, or is older than audit.retention", id)
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
	if err := writeAudit(c.Writer, format, s.auditEntries(q)); err != nil {
		s.log.Warn().Err(err).Str("request_id", c.id).Msg("an export of the audit log was cut short")
		panic(http.ErrAbortHandler) // so that the client does not take it for whole
	}
	return answer{status: http.StatusOK}, nil
}
