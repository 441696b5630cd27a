package trust_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/wire"
)

// canary is a server that a node can reach and its agents cannot, such as a local API or the metadata service of a
// cloud. It has a secret, and records the requests.
type canary struct {
	at   netip.AddrPort
	mu   sync.Mutex
	seen []*http.Request
}

const canarySecret = "token=s3cret"

func newCanary(t *testing.T, addr netip.Addr) *canary {
	t.Helper()
	c := &canary{}
	c.at = serve(t, addr, func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.seen = append(c.seen, r)
		c.mu.Unlock()
		_, _ = w.Write([]byte(canarySecret))
	})
	return c
}

func (c *canary) requests() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// everywhere makes the gossip of a node listen on all addresses, as for remote agents. Loopback addresses are local to
// the node only in this case.
func (s *stand) everywhere() {
	s.node.File.Overwatch.Gossip.BindAddress = fmt.Sprintf("0.0.0.0:%d", s.node.Gossip.Port())
}

// A node makes no check for an agent at its own loopback addresses, unless the operator's allowed_cidrs contain them.
func TestProbe_NothingOnLoopbackIsAskedForAnAgent(t *testing.T) {
	s := newStand(t)
	s.everywhere()
	s.start(t)
	begin, evil := time.Now(), s.pinned(t, "evil", evilName)
	c := newCanary(t, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	var backends []wire.Backend
	for _, at := range []netip.Addr{c.at.Addr(), netip.AddrFrom16(c.at.Addr().As16()), netip.AddrFrom4([4]byte{127, 9,
		9, 9}),
		netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fe80::1"), netip.MustParseAddr("fd00:ec2::254"),
		netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"), netip.IPv6Loopback()} {
		b := report(evilName, netip.AddrPortFrom(at, c.at.Port()))
		b.Check.BodyMatches = "^token=s"
		backends = append(backends, b)
	}
	for _, own := range []uint16{s.node.API.Port(), s.node.Prom.Port(), s.node.Gossip.Port(), s.node.DNS.Port()} {
		backends = append(backends, report(evilName, netip.AddrPortFrom(c.at.Addr(), own)))
	}
	for range 3 {
		_ = evil.Heartbeat(time.Second, backends) // refused or not
		s.checked(t, 1)
	}
	for _, b := range backends {
		s.unknown(t, netip.AddrPortFrom(b.Address.Unmap(), b.Port))
	}
	if n := len(c.requests()); n > 0 {
		t.Errorf("the node made %d requests to its own loopback for an agent", n)
	}
	s.good(t, begin)
}

// The listeners of the node itself cannot be backends, even if allowed_cidrs contain their address.
func TestProbe_TheNodesOwnListenersAreNoBackends(t *testing.T) {
	s := newStand(t)
	s.allow(netip.MustParsePrefix("127.0.0.0/8"))
	s.start(t)
	evil := s.pinned(t, "evil", evilName)
	for name, at := range map[string]netip.AddrPort{
		"API": s.node.API, "metrics": s.node.Prom, "gossip": s.node.Gossip, "DNS": s.node.DNS,
	} {
		until(t, "an answer to its "+name+" as a backend", func(context.Context) error {
			err := evil.Heartbeat(time.Second, []wire.Backend{report(evilName, at)})
			if err == nil {
				t.Errorf("its %s at %s was taken as a backend", name, at)
			}
			if refused(err) {
				return nil
			}
			return err
		})
		s.unknown(t, at)
	}
}

func (s *stand) allow(networks ...netip.Prefix) {
	s.node.File.Overwatch.AgentPolicies = map[string]harness.AgentPolicy{evilName: {AllowedCIDRs: networks}}
}

// A node does not use an interval and a timeout of one millisecond from an agent.
func TestProbe_IntervalsAreTheNodes(t *testing.T) {
	s := newStand(t)
	s.allow(netip.MustParsePrefix("127.0.0.0/8"))
	s.start(t)
	evil, c := s.pinned(t, "evil", evilName), newCanary(t, netip.AddrFrom4([4]byte{127, 0, 7, 2}))
	b := report(evilName, c.at)
	b.Check.IntervalMillis, b.Check.TimeoutMillis = 50, 50
	s.reports(t, evil, []wire.Backend{b})
	until(t, "the node to check it", func(context.Context) error {
		if len(c.requests()) == 0 {
			return errors.New("it has not")
		}
		return nil
	})
	began, before := time.Now(), len(c.requests())
	s.checked(t, 6)
	got, over := len(c.requests())-before, time.Since(began)
	if most := int(over/s.Timing.ValidationInterval) + 2; got > most {
		t.Errorf("%d checks in %s, want %d at most", got, over, most)
	}
}
