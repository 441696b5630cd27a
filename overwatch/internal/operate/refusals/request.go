package refusals

import (
	"fmt"
	"net/netip"
	"strconv"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// Request is a refused API request.
type Request struct {
	Actor    string     // name of the token, or the address of the client without a valid token
	Client   netip.Addr // zero if the address is unknown
	Known    bool       // the client may use the API, and only this request was rejected
	Method   string
	Path     string
	Status   int
	Sentence string // error text in the response
}

// Error returns the text for the audit log.
func (q Request) Error() string { return fmt.Sprintf("%d: %s", q.Status, q.Sentence) }

// Request records a rejected request. It does not block and is safe for concurrent use.
func (r *Log) Request(q Request, requestID string) {
	address := ""
	if q.Client.IsValid() {
		address = q.Client.String()
	}
	r.queueEntry(q, group{code: strconv.Itoa(q.Status), known: q.Known, stream: true}, audit.Change{
		Resource: "request", ResourceID: q.Method + " " + q.Path, Actor: q.Actor, ActorType: api.ActorUser,
		ActorIP: address, RequestID: requestID, Err: q,
	}, q.Client)
}
