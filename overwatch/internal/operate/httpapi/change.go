package httpapi

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// changeTimeout bounds a change, from the disk to the DNS. A change goes on when its client goes away.
const changeTimeout = 10 * time.Second

// change describes the change that a request is about to make, for the logs.
type change struct {
	action   string
	resource string
	id       string
	before   any    // nil: there was nothing
	after    any    // nil: there is nothing
	undoes   uint64 // the audit entry of the change that this one takes back; 0: none
}

// commit makes a change with apply, waits until DNS answers follow, and notes the outcome in the audit log and the log.
// apply is given the audit entry for the transaction that stores the change; where it stores nothing, commit writes the
// entry itself.
func (s *Server) commit(c *call, ch *change, apply func(ctx context.Context, note store.Entry) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), changeTimeout)
	defer cancel()
	began := time.Now()
	err := apply(ctx, s.o.Audit.Entry(func() audit.Change {
		c.noted = true
		return c.entry(ch, began, nil)
	}))
	flushing, done := context.WithTimeout(context.WithoutCancel(ctx),
		changeTimeout) // however long the change itself took
	defer done()
	if flushed := s.o.Flush(flushing); err == nil {
		err = flushed
	}
	if err != nil || !c.noted {
		s.note(c, ch, began, err)
	}
	line := s.log.Info()
	status := "success"
	if err != nil {
		line, status = s.log.Warn().Err(err), "failure"
	}
	line.Str("request_id", c.id).Str("actor", c.actor).Str("actor_ip", c.client.String()).Str("action",
		ch.action).Str("resource", ch.resource).
		Str("resource_id", ch.id).Interface("before", objects.WithoutSecrets(ch.before)).
		Interface("after", objects.WithoutSecrets(ch.after)).Str("status", status).Msg("change through the API")
	return err
}

// define commits a change of definitions. edit changes the draft; see Definitions.Define.
func (s *Server) define(c *call, ch *change, edit func(*definitions.Draft) error) error {
	return s.commit(c, ch, func(_ context.Context, note store.Entry) error {
		return s.o.Definitions.Define(note,
			edit)
	})
}

// note writes the outcome of a change into the audit log, unless it was refused and changed nothing: fail notes that
// among the refusals. A reload that fails is no refusal, whatever the file's faults are.
func (s *Server) note(c *call, ch *change, began time.Time, err error) {
	if p, known := problemOf(err); known && p.status/100 == 4 && !c.noted && ch.action != api.AuditReload {
		return
	}
	c.noted = true
	s.audit(c.entry(ch, began, err))
}

// audit appends an entry to the audit log. A failure is only logged, because the change has been made.
func (s *Server) audit(c audit.Change) {
	if err := s.o.Audit.Record(c); err != nil {
		s.log.Error().Err(err).Str("request_id", c.RequestID).Msg("a change is not in the audit log")
	}
}
