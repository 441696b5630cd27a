package operations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// LastChange is the name of the operator's latest change; it replaces a number.
const LastChange = "last"

// ChangePrefix begins the name "change-<id>" of the operator's latest change that was sent with this id.
const ChangePrefix = "change-"

const (
	// maxChangeEntries is the maximum number of entries of a change, and of searched entries of the audit log.
	maxChangeEntries = 5_000
	// maxChangeTime is the maximum time between the entries of a change.
	maxChangeTime = time.Hour
)

// undoStep undoes an entry of a change.
type undoStep struct {
	entry api.AuditEntry
	undo  func(*Request, *api.AuditEntry, *Change) error
}

// Undo undoes all audit entries of a change, or none. name is the number of an entry of the change, LastChange, or
// ChangePrefix with the id of the change. Each object must be unchanged since the change, so that no later change is
// lost. With dryRun, Undo has no side effects.
func (op *Operations) Undo(r *Request, name string, dryRun bool) (api.Undone, error) {
	e, err := op.entryToUndo(r, name)
	if err != nil {
		return api.Undone{}, err
	}
	if err := op.checkUndoScope(r, &e); err != nil {
		return api.Undone{}, err
	}
	undone := undoneBy([]api.AuditEntry{e})
	steps, err := op.undoSteps(r, &e, &undone)
	if err == nil && r.IfSafe {
		err = op.undoSafely(r, steps)
	}
	if err == nil && !dryRun {
		err = op.undoAll(r, steps)
	}
	if err != nil {
		return undone, withUndone(err, undone)
	}
	undone.Success, undone.Message = true, undoSentence(&undone, e.Details["undoes"], !dryRun)
	return undone, nil
}

// checkUndoScope rejects the undo of a change with an object outside the scope of the request. The error does not
// describe the change.
func (op *Operations) checkUndoScope(r *Request, e *api.AuditEntry) error {
	if !r.isLimited() {
		return nil
	}
	if !op.CoversEntry(r, e) {
		return errOutside
	}
	entries, err := op.changeOf(e)
	if err != nil {
		return err
	}
	for i := range entries {
		if !op.CoversEntry(r, &entries[i]) {
			return errOutside
		}
	}
	return nil
}

// withUndone adds the change that cannot be undone to a rejection.
func withUndone(err error, undone api.Undone) error {
	f, known := fault.Of(err)
	if !known {
		return err
	}
	with := *f
	undone.Message = f.Text
	with.Undo = &undone
	return &with
}

// undoneBy describes the change with the given entries, the latest first.
func undoneBy(entries []api.AuditEntry) api.Undone {
	e := entries[0]
	undone := api.Undone{Entry: e.ID, At: e.Timestamp, Action: e.Action, Resource: e.Resource, ResourceID: e.ResourceID,
		Change: e.Details[api.DetailChange], Version: e.Details[api.DetailVersion]}
	for i := range entries {
		undone.Entries = append(undone.Entries, entries[i].ID)
	}
	return undone
}

// undoSentence describes an undo that has been made, or would be. reverted is the number of the entry that the undone
// change had reverted, or "".
func undoSentence(u *api.Undone, reverted string, made bool) string {
	verb := "is undone"
	if !made {
		verb = "would be undone"
	}
	if reverted != "" {
		return fmt.Sprintf("the undo of entry %s %s: its change of %s applies again; an audit id selects an earlier change",
			reverted, verb, strings.TrimSpace(u.Resource+" "+u.ResourceID))
	}
	object := strings.TrimSpace(u.Resource + " " + u.ResourceID) // a document has no id
	if len(u.Entries) > 1 {
		return fmt.Sprintf("the %s of %s and of %d more %s", u.Action, object, len(u.Entries)-1, verb)
	}
	return fmt.Sprintf("the %s of %s %s", u.Action, object, verb)
}

// undoSteps returns the steps that undo the change of an entry, the latest first, and completes undone. Objects in the
// state before the change need no step.
func (op *Operations) undoSteps(r *Request, e *api.AuditEntry, undone *api.Undone) ([]undoStep, error) {
	switch {
	case e.ActorType != api.ActorUser:
		return nil, changes.CannotUndo(e, "the node made it without an operator")
	case e.Status != api.AuditSuccess:
		return nil, changes.CannotUndo(e, "it failed and changed nothing")
	}
	entries, err := op.changeOf(e)
	if err != nil {
		return nil, err
	}
	*undone = undoneBy(entries)
	for i := range entries {
		kind, found := op.undoKindOf(&entries[i])
		switch {
		case !found:
			return nil, changes.CannotUndo(&entries[i], "an undo requires a change of an override, weight, "+
				"drain, domain, server, region, mapping or overlay, a failback, or an apply of a document")
		case r.Role != "" && slices.Index(api.Roles(), r.Role) < slices.Index(api.Roles(), kind.role):
			return nil, fault.New(fault.Forbidden, "undoing entry %d needs a token of role %s", entries[i].ID, kind.role)
		case r.Scope != nil && !r.Scope.Permits(ActionOf(kind.role)):
			return nil, fault.New(fault.Forbidden, "undoing entry %d needs a token with the action %s", entries[i].ID,
				ActionOf(kind.role))
		}
	}
	pending, err := op.pendingUndo(entries)
	if err != nil {
		return nil, err
	}
	steps := make([]undoStep, len(pending))
	for i, one := range pending {
		if one.Details[api.DetailSecrets] != "" {
			return nil, changes.CannotUndo(&one, "the audit log omits the values of headers and send, which this change "+
				"altered: set them again")
		}
		kind, _ := op.undoKindOf(&one)
		steps[i] = undoStep{one, kind.undo}
	}
	if len(steps) == 0 {
		return nil, changes.CannotUndo(e, "everything is as it was before it")
	}
	return steps, nil
}

// undoAll executes steps in their order. The error of a step after others names the number of remaining steps.
func (op *Operations) undoAll(r *Request, steps []undoStep) error {
	for i := range steps {
		e := &steps[i].entry
		r.Audited = false // of the step before
		err := steps[i].undo(r, e, &Change{Action: undoAction(e.Action), Resource: e.Resource, ID: e.ResourceID,
			Undoes: e.ID})
		if errors.Is(err, changes.ErrChangedSince) {
			err = op.laterChangeError(e)
		}
		if f, known := fault.Of(err); err != nil && known && i > 0 {
			return fault.New(f.Kind, "%d of %d parts of the change are undone, and then: %s; undo it again for the "+
				"rest", i,
				len(steps), f.Text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// undoSafely rejects an undo with several steps that together would leave a name with insufficient backends. Each step
// performs the same check for its own change.
func (op *Operations) undoSafely(r *Request, steps []undoStep) error {
	if len(steps) < 2 {
		return nil
	}
	gone := map[registry.ID]bool{}
	for i := range steps {
		if orderKindOf(steps[i].entry.Action) == "" {
			continue
		}
		if w, removes := changes.RemovedByUndo(&steps[i].entry, op.o.Now()); removes {
			for _, b := range op.o.View.Service(w.Service) {
				if !w.Takes(b) {
					continue
				}
				gone[b.ID] = true
			}
		}
	}
	return op.o.Impact.Check(r.Context, impact.Withdrawal{
		Takes: func(b *registry.Backend) bool { return gone[b.ID] }, Alter: explain.MarkDrained})
}

// entryToUndo returns the audit entry that a request names.
func (op *Operations) entryToUndo(r *Request, text string) (e api.AuditEntry, err error) {
	if text == LastChange {
		return op.lastOf(r.Actor.Name, "")
	}
	if id, is := strings.CutPrefix(text, ChangePrefix); is {
		return op.lastOf(r.Actor.Name, id)
	}
	id, wrong := strconv.ParseUint(text, 10, 64)
	if wrong != nil {
		return e, fault.Invalidf("id is %.70q: it must be the number of an audit entry, %s, or %s and the id of a "+
			"change",
			text,
			LastChange, ChangePrefix)
	}
	e, err = op.o.Audit.Get(id)
	if errors.Is(err, audit.ErrNoEntry) && r.isLimited() {
		return e, errOutside // the error does not depend on the existence of the entry
	}
	if errors.Is(err, audit.ErrNoEntry) {
		err = fault.NotFoundf("there is no audit entry %d: it was never written, or is older than audit.retention", id)
	}
	return e, err
}

// changeOf returns the entries of the change to which an entry belongs, the latest first.
func (op *Operations) changeOf(e *api.AuditEntry) (entries []api.AuditEntry, err error) {
	for other, err := range op.o.Audit.Around(e.ID, maxChangeEntries) {
		switch {
		case err != nil:
			return nil, err
		case other.ID == e.ID || sameChange(e, &other):
			entries = append(entries, other)
		}
	}
	if len(entries) > maxChangeEntries {
		return nil, changes.CannotUndo(e, fmt.Sprintf("its change has more than %d entries", maxChangeEntries))
	}
	slices.Reverse(entries)
	return entries, nil
}

// sameChange reports whether two entries belong to the same change: an operator made them within maxChangeTime with
// requests of the same change id, or with the same request.
func sameChange(a, b *api.AuditEntry) bool {
	if a.Actor != b.Actor || b.ActorType != api.ActorUser || b.Status != api.AuditSuccess ||
		a.Timestamp.Sub(b.Timestamp).Abs() > maxChangeTime {
		return false
	}
	if change := a.Details[api.DetailChange]; change != "" {
		return b.Details[api.DetailChange] == change && isUndo(a) == isUndo(b)
	}
	return a.RequestID != "" && a.RequestID == b.RequestID
}

// isUndo reports whether an entry records an undo.
func isUndo(e *api.AuditEntry) bool { return e.Details["undoes"] != "" }

// lastOf returns the latest change of an actor. With a change id it returns the latest change with this id.
func (op *Operations) lastOf(actor, changeID string) (api.AuditEntry, error) {
	for e, err := range op.o.Audit.Newest(audit.Changes) {
		switch {
		case err != nil:
			return e, err
		case e.Actor == actor && e.ActorType == api.ActorUser && e.Status == api.AuditSuccess &&
			e.Action != api.AuditValidate && e.Action != api.AuditSync &&
			(changeID == "" || e.Details[api.DetailChange] == changeID):
			return e, nil
		}
	}
	if changeID != "" {
		return api.AuditEntry{}, fault.NotFoundf("the audit log has no change %.64q by %s", changeID, actor)
	}
	return api.AuditEntry{}, fault.NotFoundf("the audit log has no change by %s", actor)
}

// undoAction returns the action in the audit log for the undo of an action, such as delete for create. The undo of an
// admin state does not use this action, and sets the action itself.
func undoAction(action string) string {
	back := map[string]string{api.AuditCreate: api.AuditDelete, api.AuditDelete: api.AuditCreate}[action]
	if back == "" {
		return action
	}
	return back
}

// statesOf returns the object of an audit entry before and after the change; nil if it did not exist. It
// returns an error if both are nil.
func statesOf[T any](e *api.AuditEntry) (before, after *T, err error) {
	for _, state := range []struct {
		from json.RawMessage
		to   **T
	}{{e.Before, &before}, {e.After, &after}} {
		if len(state.from) == 0 || string(state.from) == "null" {
			continue
		}
		if *state.to, err = model.Decode[T](state.from); err != nil {
			return nil, nil, changes.CannotUndo(e, "it does not have the whole object")
		}
	}
	if before == nil && after == nil {
		return nil, nil, changes.CannotUndo(e, "it changed nothing")
	}
	return before, after, nil
}

// sameObject returns changes.ErrChangedSince unless two objects of a kind are equal. nil: the object does not exist.
func sameObject[T any](now, after *T) error {
	if now == nil || after == nil {
		if now == after {
			return nil
		}
		return changes.ErrChangedSince
	}
	a, err := model.Encode(now)
	if err != nil {
		return err
	}
	b, err := model.Encode(after)
	if err == nil && !bytes.Equal(a, b) {
		err = changes.ErrChangedSince
	}
	return err
}

// laterChangeError returns an error that names a later change of the same object, which must be undone first.
func (op *Operations) laterChangeError(e *api.AuditEntry) error {
	for later, err := range op.o.Audit.Newest(audit.Changes) {
		if err != nil || later.ID <= e.ID {
			break
		}
		if later.ResourceID == e.ResourceID && later.Status == api.AuditSuccess {
			return changes.CannotUndo(e, fmt.Sprintf("entry %d (%s by %s at %s) has changed it since: undo that first",
				later.ID,
				later.Action, later.Actor, later.Timestamp.UTC().Format(time.RFC3339)))
		}
	}
	return changes.CannotUndo(e, fmt.Sprintf("%s %s is no longer what it left", e.Resource, e.ResourceID))
}
