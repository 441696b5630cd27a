package httpapi

import (
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// call is one request. The steps of Server.serve fill it in, in their order; the handler reads it. It belongs to the
// goroutine that answers the request.
type call struct {
	*gin.Context
	operation *Operation
	id        string     // of the request: in X-Request-Id of the answer and in the log
	client    netip.Addr // that sent the request, to a trusted proxy or to this node
	actor     string     // the name of the token, or the address of the client where no token was needed
	query     params
	page      page // of an operation with limit and offset
	condition condition
	body      []byte // whole; nil for a request that changes nothing
}

// decode reads the body, which must be an object with fields of the struct that into points to and no others.
func (c *call) decode(into any) error { return decodeObject(c.body, into) }

// decoded returns the handler of an operation whose body is a T: it decodes the body and calls h.
func decoded[T any](h func(*Server, *call, T) (answer, error)) handler {
	return func(s *Server, c *call) (answer, error) {
		var body T
		if err := c.decode(&body); err != nil {
			return answer{}, err
		}
		return h(s, c, body)
	}
}

// entry returns the audit entry of a change that began at a time and ended with err now.
func (c *call) entry(ch *change, began time.Time, err error) audit.Change {
	return audit.Change{
		Action: ch.action, Resource: ch.resource, ResourceID: ch.id, Actor: c.actor, ActorType: api.ActorUser,
		ActorIP: c.client.String(), RequestID: c.id, Before: ch.before, After: ch.after, Err: err,
		Duration: time.Since(began),
	}
}
