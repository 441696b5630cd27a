package operations

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// changeTimeout bounds a change, from the disk to the DNS. A change goes on when its client goes away.
const changeTimeout = 10 * time.Second

// Commit makes a change with apply, waits until DNS answers follow, and writes the outcome to the audit log and the
// log. apply receives the audit entry for the transaction that stores the change; if apply stores nothing, Commit
// writes the entry.
func (op *Operations) Commit(r *Request, ch *Change, apply func(ctx context.Context, note store.Entry) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context), changeTimeout)
	defer cancel()
	began := time.Now()
	err := apply(ctx, op.o.Audit.Entry(func() audit.Change {
		r.Audited = true
		return r.entry(ch, began, nil)
	}))
	flushing, done := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout) // however long the change took
	defer done()
	if flushed := op.o.Flush(flushing); err == nil {
		err = flushed
	}
	if err != nil || !r.Audited {
		op.Note(r, ch, began, err)
	}
	line := op.o.Logger.Info()
	status := "success"
	if err != nil {
		line, status = op.o.Logger.Warn().Err(err), "failure"
	}
	line.Str("request_id", r.Actor.RequestID).Str("actor", r.Actor.Name).Str("actor_ip", r.Actor.IP).Str("action",
		ch.Action).Str("resource", ch.Resource).
		Str("resource_id", ch.ID).Interface("before", objects.WithoutSecrets(ch.Before)).
		Interface("after", objects.WithoutSecrets(ch.After)).Str("status", status).Msg("change through the API")
	return err
}

// entry returns the audit entry of a change that began at a time and has ended now, with err.
func (r *Request) entry(ch *Change, began time.Time, err error) audit.Change {
	return audit.Change{
		Action: ch.Action, Resource: ch.Resource, ResourceID: ch.ID, Actor: r.Actor.Name, ActorType: api.ActorUser,
		ActorIP: r.Actor.IP, RequestID: r.Actor.RequestID, Before: objects.WithoutSecrets(ch.Before),
		After: objects.WithoutSecrets(ch.After), Err: err, Duration: time.Since(began), Undoes: ch.Undoes,
		Group: r.Actor.Group,
	}
}

// Define commits a change of definitions. edit changes the draft; see Definitions.Define.
func (op *Operations) Define(r *Request, ch *Change, edit func(*definitions.Draft) error) error {
	return op.Commit(r, ch, func(_ context.Context, note store.Entry) error {
		return op.o.Definitions.Define(note, edit)
	})
}

// Note writes the outcome of a change to the audit log, unless the change was rejected: rejections have their own part
// of the log. A reload that fails is no rejection.
func (op *Operations) Note(r *Request, ch *Change, began time.Time, err error) {
	if fault.IsRejection(err) && !r.Audited && ch.Action != api.AuditReload {
		return
	}
	op.Record(r, ch, began, err)
}

// Record appends the outcome of a change to the audit log. A failure is only logged, because the change has been made.
func (op *Operations) Record(r *Request, ch *Change, began time.Time, err error) {
	r.Audited = true
	if failure := op.o.Audit.Record(r.entry(ch, began, err)); failure != nil {
		op.o.Logger.Error().Err(failure).Str("request_id", r.Actor.RequestID).Msg("a change is not in the audit log")
	}
}

// Safely rejects a change with IfSafe that would leave a name with too few backends. Until done is called, other
// changes wait, so that two changes do not remove the last backends of a name together. Without IfSafe it does nothing.
// done is never nil.
func (op *Operations) Safely(r *Request, g impact.Withdrawal) (done func(), err error) {
	if !r.IfSafe {
		return func() {}, nil
	}
	return op.o.Changes.Exclusive(), op.o.Impact.Check(r.Context, g)
}

// CheckSafe is Safely for a caller that has called Changes.Exclusive.
func (op *Operations) CheckSafe(r *Request, g impact.Withdrawal) error {
	if !r.IfSafe {
		return nil
	}
	return op.o.Impact.Check(r.Context, g)
}
