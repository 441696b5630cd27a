package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// problem is an error with a status outside the kinds of rejections, and a sentence for the client.
type problem struct {
	status   int
	sentence string
	names    []api.Consequence // of an unsafe change
	objects  []api.DocumentProblem
	undo     *api.Undone // the change that cannot be undone
}

func (p *problem) Error() string { return p.sentence }

func problemf(status int, format string, args ...any) *problem {
	return &problem{status: status, sentence: fmt.Sprintf(format, args...)}
}

// badRequest rejects invalid input. The text names the field, the value and the remedy.
func badRequest(format string, args ...any) error { return fault.Invalidf(format, args...) }

func notFound(format string, args ...any) error { return fault.NotFoundf(format, args...) }

// faultStatus has the status of each kind of rejection.
var faultStatus = map[fault.Kind]int{fault.Invalid: http.StatusBadRequest, fault.NotFound: http.StatusNotFound,
	fault.Conflict: http.StatusConflict, fault.Precondition: http.StatusPreconditionFailed,
	fault.Forbidden: http.StatusForbidden, fault.TooLarge: http.StatusRequestEntityTooLarge,
	fault.Busy: http.StatusTooManyRequests, fault.Full: http.StatusInsufficientStorage,
	fault.Unavailable: http.StatusServiceUnavailable}

// problemOf converts an error of any package to a status and a sentence. ok is false for an internal error, which the
// client does not see.
func problemOf(err error) (p *problem, ok bool) {
	if p, ok := errors.AsType[*problem](err); ok {
		return p, true
	}
	if e, ok := fault.Of(err); ok {
		return &problem{faultStatus[e.Kind], e.Text, e.Names, e.Objects, e.Undo}, true
	}
	return nil, false
}

// fail writes an error response and ends the request.
func (s *Server) fail(c *call, err error) {
	p, ok := problemOf(err)
	if ok {
		s.hideNames(c, p)
		s.noteRefusal(c, p)
		reply(c, p.status, api.ErrorBody{Error: p.sentence, Names: p.names, Problems: p.objects, Undo: p.undo})
		return
	}
	s.log.Error().Err(err).Str("request_id", c.id).Str("method", c.Request.Method).Str("path",
		c.Request.URL.Path).Msg("request failed")
	s.internalError(c)
}

// hideNames removes the names outside the scope of the token from an error about losses of backends.
func (s *Server) hideNames(c *call, p *problem) {
	if !c.isLimited() || len(p.names) == 0 {
		return
	}
	seen := slices.DeleteFunc(slices.Clone(p.names), func(n api.Consequence) bool {
		return !c.sees(s.op.ScopedObject(model.KindDomain, n.Name))
	})
	if len(seen) < len(p.names) {
		p.names = seen
		p.sentence = "nothing was changed: a name would have too few backends, possibly a name outside the scope of the token"
	}
}

func (s *Server) internalError(c *call) {
	reply(c, http.StatusInternalServerError, api.ErrorBody{
		Error:     "an error of this node, not of the request: its log has details under request id " + c.id,
		RequestID: c.id,
	})
}
