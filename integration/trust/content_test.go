package trust_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"testing"

	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// A check that an agent requests for an address does not reveal the content of the answer: the result is the same
// whether or not the content contains a pattern or text. A check with headers from the agent only connects.
func TestProbe_TheVerdictDoesNotDependOnContent(t *testing.T) {
	s := newStand(t)
	s.allow(netip.MustParsePrefix("127.0.0.0/8"))
	s.start(t)
	evil := s.pinned(t, "evil", evilName)
	ways := map[string]func(*wire.Check){
		"the right pattern": func(c *wire.Check) { c.BodyMatches = "^token=s3" },
		"a wrong pattern":   func(c *wire.Check) { c.BodyMatches = "^token=t" },
		"the right text":    func(c *wire.Check) { c.BodyContains = "s3cret" },
		"a wrong text":      func(c *wire.Check) { c.BodyContains = "t3cret" },
		"right octets":      func(c *wire.Check) { c.Type, c.Expect = "tcp", "HTTP" },
		"wrong octets":      func(c *wire.Check) { c.Type, c.Expect = "tcp", "ICAP" },
		"headers":           func(c *wire.Check) { c.Headers = "Metadata-Flavor: Google\nX-Forwarded-For: 127.0.0.1" },
		"a hop too many":    func(c *wire.Check) { c.Host, c.Headers = "internal.example", "Authorization: Bearer x" },
		"another method":    func(c *wire.Check) { c.Method = "POST" },
		"a path's host":     func(c *wire.Check) { c.Path = "//127.0.0.1:1/" },
	}
	canaries, backends := map[string]*canary{}, []wire.Backend{}
	for name, change := range ways {
		c := newCanary(t, netip.AddrFrom4([4]byte{127, 0, 7, 1}))
		b := report(evilName, c.at)
		change(&b.Check)
		canaries[name] = c
		backends = append(backends, b)
	}
	s.reports(t, evil, backends)
	s.checked(t, 3)
	until(t, "the same verdict whatever the content", func(ctx context.Context) error {
		list, err := s.node.Client.Backends(ctx, api.BackendFilter{Service: evilName})
		if err != nil {
			return err
		}
		for _, name := range []string{
			"the right pattern", "a wrong pattern", "the right text", "a wrong text", "right octets", "wrong octets",
		} {
			i := slices.IndexFunc(list.Backends, func(v api.Backend) bool { return v.Port == int(canaries[name].at.Port()) })
			if i < 0 {
				return fmt.Errorf("%s: no backend", name)
			}
			if v := list.Backends[i].ValidationHealthy; v == nil || !*v {
				return fmt.Errorf("%s: not found healthy", name)
			}
		}
		return nil
	})
	for name, c := range canaries {
		for _, r := range c.requests() {
			h := r.Header
			if r.Method != http.MethodGet || len(h["X-Forwarded-For"])+len(h["Metadata-Flavor"])+len(h["Authorization"]) > 0 {
				t.Errorf("%s: the node asked with %s %s %v", name, r.Method, r.URL, r.Header)
			}
		}
	}
	if n := len(canaries["headers"].requests()); n > 0 {
		t.Errorf("a check with headers made %d requests", n)
	}
}
