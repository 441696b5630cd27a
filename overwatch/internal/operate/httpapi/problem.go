package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// problem is an error with a status, and a sentence that the client may read.
type problem struct {
	status   int
	sentence string
	names    []api.Consequence // of a change that was not safe
	objects  []api.DocumentProblem
	undo     *api.Undone // the change that cannot be undone
}

func (p *problem) Error() string { return p.sentence }

func problemf(status int, format string, args ...any) *problem {
	return &problem{status: status, sentence: fmt.Sprintf(format, args...)}
}

// badRequest refuses input that cannot be used. The sentence names the field, the value and what would be right.
func badRequest(format string, args ...any) *problem {
	return problemf(http.StatusBadRequest, format, args...)
}

// asBadRequest returns the error of a check of package definitions as a problem with status 400; nil stays nil.
func asBadRequest(err error) error {
	if err == nil {
		return nil
	}
	return badRequest("%s", err)
}

func notFound(format string, args ...any) *problem {
	return problemf(http.StatusNotFound, format, args...)
}

// faultStatus has the status of each kind of rejection.
var faultStatus = map[fault.Kind]int{fault.Invalid: http.StatusBadRequest, fault.NotFound: http.StatusNotFound,
	fault.Conflict: http.StatusConflict, fault.Precondition: http.StatusPreconditionFailed,
	fault.Forbidden: http.StatusForbidden, fault.TooLarge: http.StatusRequestEntityTooLarge,
	fault.Busy: http.StatusTooManyRequests, fault.Full: http.StatusInsufficientStorage}

// problemOf turns an error of any owner into a status and a sentence; it is the one place that does. ok is false for
// a fault of this node, of which the client learns nothing.
func problemOf(err error) (p *problem, ok bool) {
	if p, ok := errors.AsType[*problem](err); ok {
		return p, true
	}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return &problem{faultStatus[e.Kind], e.Text, e.Names, e.Objects, e.Undo}, true
	}
	if problems, ok := errors.AsType[settings.Problems](err); ok {
		return badRequest("%s", problems.Error()), true
	}
	switch {
	case errors.Is(err, trust.ErrNotPinned):
		return notFound("no agent of that id is pinned"), true
	case errors.Is(err, trust.ErrNotLocked):
		return notFound("no token of that service is locked"), true
	case errors.Is(err, registry.ErrUnknownBackend):
		return notFound("no such backend is known"), true
	case errors.Is(err, registry.ErrNoOrder):
		return notFound("no such override is in force"), true
	case errors.Is(err, inventory.ErrExists): // with the server's id
		return badRequest("%v", err), true
	case errors.Is(err, inventory.ErrUnknown):
		return notFound("no such server was created through the API"), true
	case errors.Is(err, inventory.ErrFull):
		return problemf(http.StatusInsufficientStorage, "%v", inventory.ErrFull), true
	case errors.Is(err, store.ErrNotDurable):
		return problemf(http.StatusInsufficientStorage,
			"nothing was changed, because it could not be stored: the disk of this node is full or failing"), true
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, registry.ErrStopped):
		return problemf(http.StatusServiceUnavailable, "the node is stopping or too busy to do this in time: try again"), true
	}
	return nil, false
}

// fail answers with an error and ends the request.
func (s *Server) fail(c *call, err error) {
	p, ok := problemOf(err)
	if ok {
		s.noteRefusal(c, p)
		reply(c, p.status, api.ErrorBody{Error: p.sentence, Names: p.names, Problems: p.objects, Undo: p.undo})
		return
	}
	s.log.Error().Err(err).Str("request_id", c.id).Str("method", c.Request.Method).Str("path",
		c.Request.URL.Path).Msg("request failed")
	s.internalError(c)
}

func (s *Server) internalError(c *call) {
	reply(c, http.StatusInternalServerError, api.ErrorBody{
		Error:     "a fault of this node, not of the request: its log tells more under request id " + c.id,
		RequestID: c.id,
	})
}
