package httpapi

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/shared/api"
)

// Keys of what the guards leave in a request's context for the handlers.
const (
	keyRequestID = "request_id"
	keyClient    = "client"
	keyActor     = "actor"
	keyBody      = "body"

	keyHeededBody      = "heeded body" // that a handler has looked at it
	keyHeededQuery     = "heeded query"
	keyHeededCondition = "heeded condition"
)

// identify gives the request its id and says afterwards what came of it.
func (s *Server) identify(c *gin.Context) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	text := hex.EncodeToString(id[:])
	c.Set(keyRequestID, text)
	h := c.Writer.Header()
	h.Set("X-Request-Id", text)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	started := time.Now()
	c.Next()
	s.log.Debug().Str("request_id", text).Str("client", c.Request.RemoteAddr).Str("method", c.Request.Method).
		Str("path", c.Request.URL.Path).Int("status", c.Writer.Status()).Dur("took_ms", time.Since(started)).Msg("request")
}

func requestID(c *gin.Context) string { return c.GetString(keyRequestID) }

// recover turns a panic into an answer and a line in the log that can be
// found by the request's id.
func (s *Server) recover(c *gin.Context) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		id := requestID(c)
		s.log.Error().Str("request_id", id).Str("method", c.Request.Method).Str("path", c.Request.URL.Path).
			Str("panic", fmt.Sprint(cause)).Bytes("stack", debug.Stack()).Msg("panic while answering")
		if c.Writer.Written() {
			panic(http.ErrAbortHandler) // the client must see that its answer is cut
		}
		s.internalError(c, id)
	}()
	c.Next()
}

// admit lets a request pass that comes from an allowed network, means this
// node, was not made by a page of a foreign origin, and has a token where
// there are tokens.
func (s *Server) admit(c *gin.Context) {
	client, allowed := s.access.client(c.Request)
	o := s.guard.table.of(c)
	switch {
	case !allowed && (o == nil || !o.Public):
		s.fail(c, refusal(client))
		return
	case !s.access.hostAllowed(c.Request.Host):
		s.fail(c, misdirected(c.Request.Host))
		return
	}
	c.Set(keyClient, client)
	if p := s.cors.apply(c); p != nil {
		s.fail(c, p)
	}
	if c.IsAborted() { // refused, or a preflight, which carries no token
		return
	}
	if p := s.authorize(c); p != nil {
		s.fail(c, p)
	}
}

// clientOf is the address that the request is made for.
func clientOf(c *gin.Context) netip.Addr {
	addr, _ := c.MustGet(keyClient).(netip.Addr)
	return addr
}

// takeBody reads the whole body of a request that may have one, and then
// marks its connection as one that is being answered: until here it may be
// closed in favour of another.
func (s *Server) takeBody(c *gin.Context) {
	if changesState(c.Request.Method) {
		body, err := readBody(c.Request, s.guard.table.yaml(c))
		if err != nil {
			s.fail(c, err)
			return
		}
		c.Set(keyBody, body)
	}
	defer httpserve.Answering(c.Request)()
	c.Next()
}

func readBody(r *http.Request, yaml bool) ([]byte, error) {
	if r.ContentLength > api.MaxBody {
		return nil, tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, api.MaxBody+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problemf(http.StatusRequestTimeout, "the body did not arrive within %s", bodyTimeout)
	case err != nil:
		return nil, badRequest("the body cannot be read: it is cut or wrongly encoded")
	case len(body) > api.MaxBody:
		return nil, tooLarge()
	case len(body) > 0 && r.Header.Get("Content-Encoding") != "":
		return nil, problemf(http.StatusUnsupportedMediaType, "the body is encoded as %.64q: send it as it is, without Content-Encoding", r.Header.Get("Content-Encoding"))
	case yaml && len(body) > 0 && !isYAML(r.Header.Get("Content-Type")):
		return nil, problemf(http.StatusUnsupportedMediaType, "the body is %.64q: it must be application/yaml", r.Header.Get("Content-Type"))
	case !yaml && len(body) > 0 && !isJSON(r.Header.Get("Content-Type")):
		return nil, problemf(http.StatusUnsupportedMediaType, "the body is %.64q: it must be application/json", r.Header.Get("Content-Type"))
	}
	return body, nil
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

func tooLarge() *problem {
	return problemf(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", api.MaxBody)
}

// bodyOf is the body of a request that may have one.
func bodyOf(c *gin.Context) []byte {
	c.Set(keyHeededBody, true)
	body, _ := c.MustGet(keyBody).([]byte)
	return body
}

// bodyInto decodes the body of a request.
func bodyInto(c *gin.Context, into any) error { return decodeObject(bodyOf(c), into) }

// unheeded refuses a request that says what nothing has read: who makes a
// change must not believe in a condition or a parameter that does not count.
func unheeded(c *gin.Context) error {
	if _, err := queryOf(c); err != nil && !c.GetBool(keyHeededQuery) {
		return err
	}
	for _, header := range []string{"If-Match", "If-None-Match"} {
		if value := c.GetHeader(header); value != "" && !c.GetBool(keyHeededCondition) {
			return badRequest("%s is %.64q: %s of this path knows no such condition, leave it out", header, value, c.Request.Method)
		}
	}
	return unheededBody(c)
}

// unheededBody is unheeded for the body. PUT and PATCH always read it, and
// that of DELETE means nothing (RFC 9110 section 9.3.5).
func unheededBody(c *gin.Context) error {
	if c.GetBool(keyHeededBody) || c.Request.Method != http.MethodPost {
		return nil
	}
	if body := bodyOf(c); len(body) > 0 {
		return decodeObject(body, &struct{}{})
	}
	return nil
}
