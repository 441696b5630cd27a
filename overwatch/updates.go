package overwatch

import (
	"context"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/operate/dnsupdate"
	"gslb.internal/overwatch/internal/state/definitions"
)

// newUpdates returns the handler of DNS UPDATE messages. It uses the state, the view and the operations of the API only
// for messages, so it can be created before them. Without the API, there are no keys.
func (n *node) newUpdates() (*dnsupdate.Handler, error) {
	keys := dnsupdate.NewKeys(func() *definitions.Set {
		set, _ := n.state.Defined()
		return set
	}, time.Now)
	return dnsupdate.New(dnsupdate.Options{
		HasKeys: func() bool { return n.operations.Load() != nil && keys.Exist() }, Key: keys.Get,
		ZoneOf: func(name string) (string, bool) { return n.view().ZoneOf(name) },
		Served: dnsupdate.ServedBy(n.view),
		Types:  func(name string) (fixed, balanced []uint16) { return n.view().TypesOf(name) },
		Published: func() *definitions.Set {
			set, _ := n.state.Defined()
			return set
		},
		Change: func(ctx context.Context, key string, from netip.Addr,
			edit func(*definitions.Set) (operations.RecordEdit, error)) error {
			return n.operations.Load().ChangeRecords(&operations.Request{Context: ctx,
				Actor: changes.Actor{Name: key, IP: from.String()}}, edit)
		},
		ChallengeExpiry: func() time.Duration { return n.state.Config().DNS.Update.ChallengeExpiry },
		Registerer:      n.registerer, Logger: n.componentLogger("dnsupdate"),
	})
}
