package drill_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// probe queries two validating resolvers continuously. One caches no record, so each of its answers is a node's answer.
// The other caches records for their TTLs.
type probe struct {
	direct, caching *signed.Resolver
	known           map[netip.Addr]bool

	mu    sync.Mutex
	dead  map[netip.Addr]time.Time
	asked int
	wrong []string
}

// deadBound is the time after which no answer contains the address of a stopped backend.
const deadBound = 10 * time.Second

func startProbe(t *testing.T, s *testbed.Site) *probe {
	t.Helper()
	anchor := signed.DS(t, s.Nodes[0]).DSRecord
	stub := ""
	for i, n := range s.Nodes {
		if i == 0 {
			stub = signed.Stub(testbed.ZoneName, n.DNS)
			continue
		}
		stub += fmt.Sprintf("  stub-addr: %s@%d\n", n.DNS.Addr(), n.DNS.Port())
	}
	const impatient = "infra-host-ttl: 1\n  val-bogus-ttl: 1\n  serve-expired: no\n  trust-anchor-signaling: no\n  "
	p := &probe{known: map[netip.Addr]bool{}, dead: map[netip.Addr]time.Time{},
		direct: signed.UnboundOver(t, testbed.ZoneName, stub, anchor,
			impatient+"cache-max-ttl: 0\n  cache-max-negative-ttl: 0"),
		caching: signed.UnboundOver(t, testbed.ZoneName, stub, anchor, impatient)}
	for _, b := range s.Backends {
		p.known[b.At.Addr()] = true
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	const pace = 200 * time.Millisecond
	for _, r := range []*signed.Resolver{p.direct, p.caching} {
		running.Go(func() {
			for range testbed.Every(ctx, pace) {
				p.look(r)
			}
		})
	}
	return p
}

// look queries one resolver for the name. An answer is wrong if it is not secure, has no address, has an unknown
// address, or has the address of a backend that has been stopped for deadBound.
func (p *probe) look(r *signed.Resolver) {
	asked := time.Now()
	reply, err := r.Ask(testbed.AppName, dns.TypeA)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	wrong := func(why string) {
		p.wrong = append(p.wrong, fmt.Sprintf("%s after %s: %s: %v", asked.Format(time.TimeOnly),
			time.Since(asked).Round(time.Millisecond), why, reply))
	}
	if err != nil {
		wrong(err.Error())
		return
	}
	addresses := 0
	for _, rr := range reply.Answer {
		a, is := rr.(*dns.A)
		if !is {
			continue
		}
		addresses++
		at, _ := netip.AddrFromSlice(a.A.To4())
		if since, dead := p.dead[at]; !p.known[at] || dead && asked.Sub(since) > deadBound {
			wrong("it has " + at.String())
		}
	}
	if addresses == 0 {
		wrong("it has no address")
	}
}

// add makes the address of a backend a valid answer.
func (p *probe) add(b *harness.Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[b.At.Addr()] = true
}

// died and returned report the state of a backend to the probe.
func (p *probe) died(b *harness.Backend)     { p.set(b, time.Now()) }
func (p *probe) returned(b *harness.Backend) { p.set(b, time.Time{}) }

func (p *probe) set(b *harness.Backend, dead time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead[b.At.Addr()] = dead
	if dead.IsZero() {
		delete(p.dead, b.At.Addr())
	}
}

// judge fails the test for each new wrong answer.
func (p *probe) judge(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wrong {
		t.Errorf("a wrong answer: %s", w)
	}
	p.wrong = nil
}
