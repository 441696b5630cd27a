package refusals

import (
	"fmt"
	"net/netip"
	"strconv"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// Request is a request to the API that was refused.
type Request struct {
	Actor    string     // the name of the token, or the address of the client where there was no valid one
	Client   netip.Addr // the zero value where it cannot be read
	Known    bool       // that client may use the API: it is what it asked for that was refused
	Method   string
	Path     string
	Status   int
	Sentence string // what the client was told
}

// Error returns the sentence that the audit log has of it.
func (q Request) Error() string { return fmt.Sprintf("%d: %s", q.Status, q.Sentence) }

// Request takes a request that was refused. Any goroutine may call it; it never waits.
func (r *Log) Request(q Request, requestID string) {
	address := ""
	if q.Client.IsValid() {
		address = q.Client.String()
	}
	r.take(q, group{code: strconv.Itoa(q.Status), known: q.Known, stream: true}, audit.Change{
		Resource: "request", ResourceID: q.Method + " " + q.Path, Actor: q.Actor, ActorType: api.ActorUser,
		ActorIP: address, RequestID: requestID, Err: q,
	}, q.Client)
}
