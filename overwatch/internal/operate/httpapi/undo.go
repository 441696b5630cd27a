package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// lastChange, in place of a number, names the newest change of the client that asks.
const lastChange = "last"

// errChangedSince is the error of an undo whose object has changed again since.
var errChangedSince error = problemf(http.StatusConflict, "a later change stands on it")

// postUndo answers POST /audit-logs/{id}/undo. The object must still be as the change has left it, so that no later
// change is lost.
func (s *Server) postUndo(c *call) (answer, error) {
	e, err := s.entryToUndo(c)
	if err != nil {
		return answer{}, err
	}
	undo, need := s.undoOf(&e)
	switch {
	case undo == nil:
		return answer{}, cannotUndo(&e, "it is no override, weight or drain, and made, changed or removed no domain, "+
			"server, region or mapping, and laid nothing over the configuration")
	case c.role != "" && slices.Index(api.Roles(), c.role) < slices.Index(api.Roles(), need):
		return answer{}, problemf(http.StatusForbidden, "undoing entry %d needs a token of role %s", e.ID, need)
	}
	undone := api.Undone{Success: true, Entry: e.ID, At: e.Timestamp, Action: e.Action, Resource: e.Resource,
		ResourceID: e.ResourceID, Message: fmt.Sprintf("the %s of %s %s is undone", e.Action, e.Resource, e.ResourceID)}
	if c.query.flag("dry_run") {
		undone.Message = fmt.Sprintf("the %s of %s %s would be undone", e.Action, e.Resource, e.ResourceID)
		return ok(undone), nil
	}
	ch := &change{action: undoes(e.Action), resource: e.Resource, id: e.ResourceID, undoes: e.ID}
	if err := undo(c, &e, ch); errors.Is(err, errChangedSince) {
		return answer{}, s.laterChangeError(&e)
	} else if err != nil {
		return answer{}, err
	}
	return ok(undone), nil
}

// entryToUndo returns the audit entry that a request names, if it is a change that was made.
func (s *Server) entryToUndo(c *call) (e api.AuditEntry, err error) {
	if text := c.Param("id"); text == lastChange {
		e, err = s.lastOf(c.actor)
	} else if id, wrong := strconv.ParseUint(text, 10, 64); wrong != nil {
		return e, badRequest("id is %.64q: it must be the number of an audit entry, or %s", text, lastChange)
	} else if e, err = s.o.Audit.Get(id); errors.Is(err, audit.ErrNoEntry) {
		return e, notFound("there is no audit entry %d: it was never written, or is older than audit.retention", id)
	}
	switch {
	case err != nil:
		return e, err
	case e.ActorType != api.ActorUser:
		return e, cannotUndo(&e, "the node did it by itself")
	case e.Status != api.AuditSuccess:
		return e, cannotUndo(&e, "it failed and changed nothing")
	}
	return e, nil
}

// lastOf returns the newest change that an actor has made.
func (s *Server) lastOf(actor string) (api.AuditEntry, error) {
	for e, err := range s.o.Audit.Newest(audit.Changes) {
		switch {
		case err != nil:
			return e, err
		case e.Actor == actor && e.ActorType == api.ActorUser && e.Status == api.AuditSuccess &&
			e.Action != api.AuditValidate && e.Action != api.AuditSync:
			return e, nil
		}
	}
	return api.AuditEntry{}, notFound("the audit log has no change by %s", actor)
}

// undoOf returns the function that undoes a change, and the role that it needs; nil if the change cannot be undone.
func (s *Server) undoOf(e *api.AuditEntry) (undo func(*call, *api.AuditEntry, *change) error, need api.Role) {
	switch e.Action {
	case api.AuditOverride, api.AuditClearOverride, api.AuditWeight, api.AuditClearWeight, api.AuditDrain,
		api.AuditUndrain:
		return s.undoOrder, api.RoleOperate
	case api.AuditCreate, api.AuditUpdate, api.AuditDelete:
	default:
		return nil, ""
	}
	switch e.Resource {
	case "server", "backend":
		return s.undoServer, api.RoleAdmin
	case "domain":
		return s.undoDomain, api.RoleAdmin
	case "region":
		return s.undoRegion, api.RoleAdmin
	case "geo_mapping":
		return s.undoMapping, api.RoleAdmin
	case "overlay":
		return s.undoOverlay, api.RoleAdmin
	}
	return nil, ""
}

// undoes returns the action of an undo in the audit log, such as delete for create. The undo of an order sets its own.
func undoes(action string) string {
	back := map[string]string{api.AuditCreate: api.AuditDelete, api.AuditDelete: api.AuditCreate}[action]
	if back == "" {
		return action
	}
	return back
}

// states returns an entry's object before and after the change, nil where it did not exist.
func states[T any](e *api.AuditEntry) (before, after *T, err error) {
	for _, state := range []struct {
		from json.RawMessage
		to   **T
	}{{e.Before, &before}, {e.After, &after}} {
		if len(state.from) > 0 && json.Unmarshal(state.from, state.to) != nil {
			return nil, nil, cannotUndo(e, "it does not have the whole object")
		}
	}
	if before == nil && after == nil {
		return nil, nil, cannotUndo(e, "it changed nothing")
	}
	return before, after, nil
}

// statesOf is states for an object of a kind of package model.
func statesOf[T any](e *api.AuditEntry) (before, after *T, err error) {
	for _, state := range []struct {
		from json.RawMessage
		to   **T
	}{{e.Before, &before}, {e.After, &after}} {
		if len(state.from) == 0 || string(state.from) == "null" {
			continue
		}
		if *state.to, err = model.Decode[T](state.from); err != nil {
			return nil, nil, cannotUndo(e, "it does not have the whole object")
		}
	}
	if before == nil && after == nil {
		return nil, nil, cannotUndo(e, "it changed nothing")
	}
	return before, after, nil
}

// sameObject returns errChangedSince unless two objects of a kind are equal. nil stands for no object.
func sameObject[T any](now, after *T) error {
	if now == nil || after == nil {
		if now == after {
			return nil
		}
		return errChangedSince
	}
	a, err := model.Encode(now)
	if err != nil {
		return err
	}
	b, err := model.Encode(after)
	if err == nil && !bytes.Equal(a, b) {
		err = errChangedSince
	}
	return err
}

// unchangedSince returns errChangedSince unless an object is as the change has left it. The fields in passing do not
// count: they change with time alone.
func unchangedSince(e *api.AuditEntry, object any, passing ...string) error {
	plain := func(encoded []byte) (v any) {
		_ = json.Unmarshal(encoded, &v) // nothing where it is no JSON
		if fields, is := v.(map[string]any); is {
			for _, name := range passing {
				delete(fields, name)
			}
		}
		return v
	}
	now, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(plain(now), plain(e.After)) {
		return errChangedSince
	}
	return nil
}

// laterChangeError returns an error that names a later change of the same object, which must be undone first.
func (s *Server) laterChangeError(e *api.AuditEntry) error {
	for later, err := range s.o.Audit.Newest(audit.Changes) {
		if err != nil || later.ID <= e.ID {
			break
		}
		if later.ResourceID == e.ResourceID && later.Status == api.AuditSuccess {
			return cannotUndo(e, fmt.Sprintf("entry %d (%s by %s at %s) has changed it since: undo that first", later.ID,
				later.Action, later.Actor, later.Timestamp.UTC().Format(time.RFC3339)))
		}
	}
	return cannotUndo(e, fmt.Sprintf("%s %s is no longer what it left", e.Resource, e.ResourceID))
}

func cannotUndo(e *api.AuditEntry, why string) error {
	return problemf(http.StatusConflict, "entry %d, %s of %s %s, cannot be undone: %s", e.ID, e.Action, e.Resource,
		e.ResourceID, why)
}
