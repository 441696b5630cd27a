package overwatch

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/operate/dnsupdate"
	"gslb.internal/overwatch/internal/state/definitions"
)

// newUpdates returns the handler of DNS UPDATE messages. It uses the state, the view and the API only for messages, so
// it can be created before them.
func (n *node) newUpdates() (*dnsupdate.Handler, error) {
	keys := dnsupdate.NewKeys(func() *definitions.Set {
		set, _ := n.state.Defined()
		return set
	}, time.Now)
	return dnsupdate.New(dnsupdate.Options{
		HasKeys: keys.Exist, Key: keys.Get,
		ZoneOf: func(name string) (string, bool) { return n.view().ZoneOf(name) },
		Served: n.servedRecords,
		Change: func(ctx context.Context, key string, from netip.Addr,
			edit func(*definitions.Set) (operations.RecordEdit, error)) error {
			return n.api.Operations().ChangeRecords(&operations.Request{Context: ctx,
				Actor: changes.Actor{Name: key, IP: from.String()}}, edit)
		},
		ChallengeExpiry: func() time.Duration { return n.state.Config().DNS.Update.ChallengeExpiry },
		Registerer:      n.registerer, Logger: n.componentLogger("dnsupdate"),
	})
}

// servedRecords returns the records of a name and type in the answers of this node. Wildcards do not count.
func (n *node) servedRecords(name string, rtype uint16) (records []dns.RR, exists bool) {
	view := n.view()
	if !view.Owns(name) {
		return nil, false
	}
	found := view.Resolve(name, rtype, false, netip.Addr{}, zone.NewRotations(rand.Uint64(), rand.Uint64()))
	return found.Answer, true
}
