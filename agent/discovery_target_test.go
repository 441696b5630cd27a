package agent // inside: it gives the book of names another resolver

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/resolve"
)

// The addresses of a target are backends. They share its weight, and drain when the name no longer has them. If the
// name has no address, or too many addresses, the previous addresses remain, and the agent logs this once.
func TestDiscovery_TheAddressesOfATargetAreBackends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records atomic.Pointer[[]string]
		records.Store(new([]string))
		f := newFinder(t, t.TempDir())
		f.book = resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: time.Second, MaxTTL: time.Second,
			Changed: func() {},
			Exchange: func(_ context.Context, _, name string, kind uint16, _ bool) (*dns.Msg, error) {
				reply := new(dns.Msg).SetReply(new(dns.Msg).SetQuestion(dns.Fqdn(name), kind))
				for _, text := range *records.Load() {
					if rr, err := dns.NewRR("lb.test. 1 " + text); err == nil && rr.Header().Rrtype == kind {
						reply.Answer = append(reply.Answer, rr)
					}
				}
				return reply, nil
			}})
		go func() { _ = f.book.Run(t.Context()) }()
		f.write("a.yaml", targets(9))
		c := *f.config
		c.Agent.Backends = []config.Backend{{Service: "app.example.com", Target: "lb.test", Port: 80, Weight: 100,
			HealthCheck: c.Agent.BackendsFrom[0].HealthCheck}}
		f.setConfig(&c)
		has := func(octets string, draining int, list ...string) {
			t.Helper()
			records.Store(&list)
			time.Sleep(3 * time.Second)
			f.twice()
			f.want(octets, draining)
		}
		has("9", 0)
		has("9 1 2 3", 0, "A 192.0.2.3", "A 192.0.2.1", "A 192.0.2.2", "A 224.0.0.1")
		for _, b := range f.discovered()[1:] {
			if b.Weight != 33 || b.Port != 80 || b.Service != "app.example.com" {
				t.Errorf("%+v", b)
			}
		}
		has("9 2 3 1", 1, "A 192.0.2.3", "A 192.0.2.2")
		f.log.Reset()
		has("9 2 3 1", 1)
		has("9 2 3 1", 1)
		has("9 2 3 1", 1, "A 224.0.0.1")
		has("9 2 3 1", 1, "A 192.0.2.9") // which a file names
		for problem, times := range map[string]int{"has no address\"": 1, "where a backend may be": 1, "192.0.2.9": 1} {
			if n := strings.Count(f.log.String(), problem); n != times {
				t.Errorf("%q is told %d times:\n%s", problem, n, f.log)
			}
		}
		f.setConfig(&c) // a reload keeps what was found
		f.want("9 2 3 1", 1)
		has("9 2 3 1", 2, "A 192.0.2.2")
		if !strings.Contains(f.log.String(), "is resolved") {
			t.Errorf("it is not told to be right: %s", f.log)
		}
		time.Sleep(30 * time.Second)
		f.twice()
		f.want("9 2", 0)
		none := c
		none.Agent.Backends = nil
		f.setConfig(&none)
		f.want("9", 0)
	})
}
