package httpapi

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// handler answers one request, or returns an error for the client. A zero answer means that the handler has written the
// response.
type handler func(*Server, *call) (answer, error)

// steps returns the steps before the handler, in order. The first error is the answer.
func (s *Server) steps() []func(*call) error {
	return []func(*call) error{
		s.checkNetwork, s.checkHost, s.checkOrigin, s.checkToken, takeQuery, takeCondition, takeChange,
		takeBody, s.checkScope,
	}
}

// serve returns the gin handler of an operation. It runs the steps and the operation's handler, and encodes the answer.
func (s *Server) serve(o *Operation) gin.HandlerFunc {
	steps := s.steps()
	return func(g *gin.Context) {
		c := &call{Context: g, operation: o}
		s.identify(c)
		defer s.logged(c, time.Now())
		defer s.recovered(c)
		for _, step := range steps {
			if err := step(c); err != nil {
				discardBody(c.Request)
				s.fail(c, err)
			}
			if c.IsAborted() { // the request is rejected, or an answered preflight
				return
			}
		}
		if s.proved(c) { // otherwise, and before this call, another connection may replace this connection
			defer httpserve.Answering(c.Request)()
		}
		a, err := o.handle(s, c)
		switch {
		case err != nil:
			discardBody(c.Request)
			s.fail(c, err)
		case a.status != 0:
			a = s.withReached(c, a)
			reply(c, a.status, a.body)
		}
	}
}

// requestID is the context key of a request id that slowDisk has assigned.
type requestID struct{}

// newRequestID returns a random id.
func newRequestID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	return hex.EncodeToString(id[:])
}

// identify sets the id of the request, and the headers of all answers.
func (s *Server) identify(c *call) {
	if c.id, _ = c.Request.Context().Value(requestID{}).(string); c.id == "" {
		c.id = newRequestID()
	}
	c.Header("X-Request-Id", c.id)
	c.Header("Cache-Control", "no-store")
	c.Header("X-Content-Type-Options", "nosniff")
}

// logged writes a debug line about an answered request.
func (s *Server) logged(c *call, began time.Time) {
	s.log.Debug().Str("request_id", c.id).Str("client", c.Request.RemoteAddr).Str("method", c.Request.Method).
		Str("path", c.Request.URL.Path).Int("status", c.Writer.Status()).Dur("took_ms", time.Since(began)).Msg("request")
}

// recovered converts a panic to an error response and a log line with the request id. The caller must defer it. It
// aborts a response that has begun, so that the client detects the incomplete response.
func (s *Server) recovered(c *call) {
	cause := recover()
	if cause == nil {
		return
	}
	s.log.Error().Str("request_id", c.id).Str("method", c.Request.Method).Str("path", c.Request.URL.Path).
		Str("panic", fmt.Sprint(cause)).Bytes("stack", debug.Stack()).Msg("panic while answering")
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	s.internalError(c)
}

// checkNetwork rejects a client outside api.allowed_networks, unless the operation is public.
func (s *Server) checkNetwork(c *call) error {
	client, allowed := s.access.client(c.Request)
	if client.IsValid() {
		c.client, c.actor = client, client.String()
	}
	if !allowed && !c.operation.Public {
		return refusal(client)
	}
	return nil
}

// checkHost rejects a request with a Host that is not a name of this node.
func (s *Server) checkHost(c *call) error {
	if !s.access.hostAllowed(c.Request.Host) {
		return misdirected(c.Request.Host)
	}
	return nil
}

// takeQuery parses the query of an operation with parameters or of a change. It rejects unknown parameters, because
// they would have no effect.
func takeQuery(c *call) (err error) {
	if c.operation.Query == nil && !changesState(c.operation.Method) {
		return nil
	}
	if c.query, err = readQuery(c.Request.URL.RawQuery, c.operation.Query); err != nil {
		return err
	}
	c.page = page{limit: c.query.number("limit"), offset: c.query.number("offset")}
	return nil
}

// takeCondition parses If-Match and If-None-Match of a change, and rejects a header that the operation does not
// support.
func takeCondition(c *call) (err error) {
	if changesState(c.operation.Method) {
		c.condition, err = readCondition(c.Request, c.operation)
	}
	return err
}

// takeChange reads the id that is common to the requests of a change.
func takeChange(c *call) error {
	if !changesState(c.operation.Method) {
		return nil
	}
	c.change = c.Request.Header.Get(api.ChangeHeader)
	if remedy := settings.LabelRemedy(c.change, api.MaxChangeID); c.change != "" && remedy != "" {
		return badRequest("%s is %.70q: %s", api.ChangeHeader, c.change, remedy)
	}
	return nil
}

// takeBody reads the whole body of a change. For a POST operation without a body, it accepts an empty object. It
// ignores the body of a DELETE request (RFC 9110 section 9.3.5).
func takeBody(c *call) (err error) {
	if !changesState(c.operation.Method) {
		return nil
	}
	if c.body, err = readBody(c.Request, c.operation.YAML,
		cmp.Or(c.operation.MaxBody, api.MaxBody)); err != nil {
		return err
	}
	if c.operation.Body == nil && c.operation.Method == http.MethodPost && len(c.body) > 0 {
		return c.decode(&struct{}{})
	}
	return nil
}
