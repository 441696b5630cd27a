package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// call is a request. The steps of Server.serve set the fields in order, and the handler reads them. A call belongs to
// the goroutine that answers the request.
type call struct {
	*gin.Context
	operation *Operation
	id        string            // request id: in X-Request-Id of the answer and in the log
	role      api.Role          // role of the token; empty if no token is required
	scope     *model.TokenScope // of the token; nil: no limits
	client    netip.Addr        // client of a trusted proxy or of this node
	actor     string            // name of the token, or the client address if no token is required
	query     params
	page      page // page of an operation with limit and offset
	condition condition
	body      []byte              // complete body; nil for a read request
	made      *operations.Request // nil before the first use of request
	change    string              // the common id of the requests of a change, set by the client; "": none
}

// decode decodes the body into the struct that into points to. The body must be an object without unknown fields.
func (c *call) decode(into any) error { return strictjson.Decode(c.body, into) }

// decoded returns a handler that decodes the body as a T and calls h.
func decoded[T any](h func(*Server, *call, T) (answer, error)) handler {
	return func(s *Server, c *call) (answer, error) {
		var body T
		if err := c.decode(&body); err != nil {
			return answer{}, err
		}
		return h(s, c, body)
	}
}

// request returns the operator's request for one change, with the conditions of the call.
func (c *call) request() *operations.Request {
	if c.made == nil {
		c.made = &operations.Request{Context: c.Request.Context(), Role: c.role, Scope: c.scope,
			Replace: c.Request.Method == http.MethodPut, IfSafe: c.query.flag("if_safe"),
			Actor: changes.Actor{Name: c.actor, IP: c.client.String(), RequestID: c.id, Group: c.change},
			Force: c.Request.Method == http.MethodPatch || len(c.condition.match) > 0 ||
				c.query.flag("replace_planned"),
			Condition: func(now any) error {
				if o, is := now.(registry.AdminState); is {
					now = adminStateView(o)
				}
				return c.condition.holds(now)
			}}
	}
	return c.made
}

// isAudited reports whether the audit log contains the outcome of the request.
func (c *call) isAudited() bool { return c.made != nil && c.made.Audited }

// yamlTypes contains the media types of YAML: the type of RFC 9512, older types, and text. JSON is valid YAML.
var yamlTypes = []string{
	"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain", "application/json",
}

// readBody reads a body of at most most bytes. The body must be JSON, or also YAML if yaml is true.
func readBody(r *http.Request, yaml bool, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	kind, _, malformed := mime.ParseMediaType(r.Header.Get("Content-Type"))
	types := []string{"application/json"}
	if yaml {
		types = yamlTypes
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problemf(http.StatusRequestTimeout, "the body did not arrive within %s", bodyTimeout)
	case err != nil:
		return nil, badRequest("the body cannot be read: it is cut or wrongly encoded")
	case int64(len(body)) > most:
		_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded) // even after Expect, because the client sends the body by now
		return nil, tooLarge(most)
	case len(body) > 0 && r.Header.Get("Content-Encoding") != "":
		return nil, problemf(http.StatusUnsupportedMediaType,
			"the body is encoded as %.64q: send it as it is, without Content-Encoding",
			r.Header.Get("Content-Encoding"))
	case len(body) > 0 && (malformed != nil || !slices.Contains(types, kind)):
		return nil, problemf(http.StatusUnsupportedMediaType, "the body is %.64q: it must be %s",
			r.Header.Get("Content-Type"), types[0])
	}
	return body, nil
}

// maxDiscarded is the maximum number of bytes of a body that the node reads and discards.
const maxDiscarded = 64 << 20

// discardBody reads the rest of the body of a rejected request: at most maxDiscarded bytes, until bodyTimeout.
// Otherwise a client that first sends the whole body would see a reset connection instead of the answer.
func discardBody(r *http.Request) {
	if r.Header.Get("Expect") != "" { // the client waits for 100 Continue, which a read would send
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, maxDiscarded)
}

func tooLarge(most int64) *problem {
	return problemf(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", most)
}

// answer is the result of a handler: a status and a JSON body, or no body if it is nil.
type answer struct {
	status int
	body   any
}

func ok(body any) answer { return answer{http.StatusOK, body} }

func noContent() answer { return answer{http.StatusNoContent, nil} }

// reply writes a status and a JSON body and ends the request. An encoding failure is an internal error, which recovered
// answers.
func reply(c *call, status int, body any) {
	c.Abort()
	c.Status(status)
	if body == nil {
		c.Writer.WriteHeaderNow()
		return
	}
	c.Header("Content-Type", "application/json")
	encoder := json.NewEncoder(c.Writer)
	encoder.SetEscapeHTML(false) // texts contain < and &, and the media type is not HTML
	if err := encoder.Encode(body); err != nil && !c.Writer.Written() {
		panic(err)
	}
}

// stamp returns a time in the format of the API: UTC, in milliseconds.
func stamp(t time.Time) time.Time { return api.Stamp(t) }
