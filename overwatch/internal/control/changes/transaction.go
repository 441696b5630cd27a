package changes

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Entry describes a change for the audit log. Before and After are nil if there is no object.
type Entry struct {
	Action, Resource, ID string
	Before, After        any
	// Configured has the values of the file for the fields of an overlay; nil: no overlay.
	Configured map[string]json.RawMessage

	losesSecrets bool // After lacks a secret of Before
}

// Transaction collects the steps of a change. The steps and the audit entry are stored atomically.
type Transaction struct {
	Entry Entry

	c         *Changes
	change    *Change
	began     time.Time
	batch     store.Batch
	puts      []model.Server
	gone      []registry.ID
	expected  map[registry.ID]*model.Server // current servers of puts and gone; nil for a new server
	write     func(context.Context, store.Entry) error
	describe  func() Entry // returns Entry after write; nil: Entry is already complete
	stored    bool
	audited   bool // the audit log contains an entry of the change or of its failure
	publish   []func(context.Context) error
	removes   []impact.Withdrawal
	unchanged bool // the change has no write and no audit entry

	notesRejection bool // the audit log contains a rejection by write
}

// Write sets the function that validates and stores the change with the audit entry note in one transaction. It
// replaces the other steps. After a rejection by write, the store is unchanged. describe returns the description of the
// change for the audit log. Transaction calls it after the change is stored, and after a failure.
func (t *Transaction) Write(describe func() Entry, write func(ctx context.Context, note store.Entry) error) {
	t.describe, t.write = describe, write
}

// Publish adds a step that runs after the change is stored.
func (t *Transaction) Publish(step func(context.Context) error) { t.publish = append(t.publish, step) }

// Unchanged ends the change without an audit entry, because the current state equals the next state.
func (t *Transaction) Unchanged() { t.unchanged = true }

// SetAdminState stores an admin state and applies it immediately or at its start. It replaces the admin state of the
// same kind and target.
func (t *Transaction) SetAdminState(o registry.AdminState) {
	t.batch.PutOrder(restore.Order(o))
	t.publish = append(t.publish, func(ctx context.Context) error { return t.c.o.Registry.SetAdminState(ctx, o) })
}

// EndAdminState deletes an active or planned admin state.
func (t *Transaction) EndAdminState(o registry.AdminState) {
	t.batch.DeleteOrder(o.Kind, o.Service, o.Endpoint())
	t.publish = append(t.publish, func(ctx context.Context) error { return t.c.clear(ctx, o) })
}

// clear ends an admin state in the registry. The admin state may have expired in the meantime.
func (c *Changes) clear(ctx context.Context, o registry.AdminState) error {
	err := c.o.Registry.ClearAdminState(ctx, o.Kind, o.Service, o.Address, o.Port)
	if errors.Is(err, registry.ErrNoAdminState) {
		return nil
	}
	return err
}

// Removes adds backends that the change removes from answers. With Change.IfSafe, the change is rejected if a name
// would have too few backends.
func (t *Transaction) Removes(w impact.Withdrawal) { t.removes = append(t.removes, w) }

// accepts applies the precondition of the change to the current object, or nil without an object.
func (t *Transaction) accepts(now any) error {
	if t.change.Precondition == nil {
		return nil
	}
	return t.change.Precondition(now)
}

// now returns the time.
func (t *Transaction) now() time.Time { return t.c.o.Now() }

// plan validates the change and its effect on answers.
func (t *Transaction) plan(ctx context.Context) error {
	if err := t.change.Object.Plan(ctx, t); err != nil {
		return err
	}
	if err := t.checkServerScope(); err != nil || !t.change.IfSafe {
		return err
	}
	for _, w := range t.removes {
		if err := t.c.o.Impact.Check(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// checkServerScope rejects a change of a server outside the scope of the operator, before or after the change.
func (t *Transaction) checkServerScope() error {
	covers := func(s *model.Server) bool { return t.change.Covers == nil || s == nil || t.change.Covers(s.Scoped()) }
	for i := range t.puts {
		if !covers(&t.puts[i]) {
			return errOutside
		}
	}
	for _, before := range t.expected {
		if !covers(before) {
			return errOutside
		}
	}
	return nil
}

// errOutside rejects a change of a server outside the scope of the operator.
var errOutside = fault.New(fault.Forbidden, "a server of the request is outside the scope of the token")

// commit stores the change with its audit entry, publishes it and waits for DNS. It writes an audit entry for a
// failure. The log of rejected requests contains rejections.
func (t *Transaction) commit(ctx context.Context) (Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	err := t.writeAll(ctx, t.c.o.Audit.Entry(func() audit.Change {
		t.audited = true
		return t.auditChange(nil)
	}))
	if !t.stored && !t.audited && !t.notesRejection && fault.IsRejection(err) {
		return Result{}, err
	}
	for _, publish := range t.publish {
		if err == nil {
			err = publish(ctx)
		}
	}
	flushing, done := context.WithTimeout(context.WithoutCancel(ctx), timeout) // independent of the duration of the change
	defer done()
	if flushed := t.c.o.Flush(flushing); err == nil {
		err = flushed
	}
	if err != nil || !t.audited {
		t.record(err)
	}
	t.log(err)
	return Result{Audited: true}, err
}

// record appends the audit entry of a change with the result err. It only logs a write failure, because the change is
// already made.
func (t *Transaction) record(err error) {
	if failure := t.c.o.Audit.Record(t.auditChange(err)); failure != nil {
		t.c.o.Logger.Error().Err(failure).Str("request_id", t.change.Actor.RequestID).
			Msg("a change is not in the audit log")
	}
}

// writeAll stores the steps of the change with the audit entry.
func (t *Transaction) writeAll(ctx context.Context, note store.Entry) error {
	switch {
	case len(t.puts)+len(t.gone) > 0:
		return t.writeServers(ctx, note)
	case t.write != nil:
		return t.write(ctx, note)
	case t.batch.Empty():
		return nil
	}
	err := t.c.o.Store.Write(&t.batch, note)
	t.stored = err == nil
	return err
}

// entry returns the description of the change, without secrets.
func (t *Transaction) entry() Entry {
	e := t.Entry
	if t.describe != nil {
		e = t.describe()
	}
	e.losesSecrets = objects.LosesSecrets(e.Before, e.After)
	e.Before, e.After = objects.WithoutSecrets(e.Before), objects.WithoutSecrets(e.After)
	return e
}

// auditChange returns the audit entry of a change with the result err.
func (t *Transaction) auditChange(err error) audit.Change {
	a, e := &t.change.Actor, t.entry()
	return audit.Change{Action: e.Action, Resource: e.Resource, ResourceID: e.ID, Actor: a.Name,
		ActorType: api.ActorUser, ActorIP: a.IP, RequestID: a.RequestID, Before: e.Before, After: e.After,
		Configured: e.Configured, LosesSecrets: e.losesSecrets,
		Err: err, Duration: time.Since(t.began), Undoes: t.change.Undoes, Group: a.Group}
}

// log writes a log line about the change and its result.
func (t *Transaction) log(err error) {
	line, status := t.c.o.Logger.Info(), "success"
	if err != nil {
		line, status = t.c.o.Logger.Warn().Err(err), "failure"
	}
	a, e := &t.change.Actor, t.entry()
	line.Str("request_id", a.RequestID).Str("actor", a.Name).Str("actor_ip", a.IP).Str("action", e.Action).
		Str("resource", e.Resource).Str("resource_id", e.ID).Interface("before", e.Before).
		Interface("after", e.After).Str("status", status).Msg("change through the API")
}
