package trust // inside: it looks at allowed

import (
	"net/netip"
	"testing"
)

// An address of a host name has the same rules as an address of an agent, but an address of this machine always
// requires allowed_cidrs.
func TestHost_TakesTarget(t *testing.T) {
	host := Host{Ports: []uint16{53}, Loopback: true}
	prefixes := func(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }
	for _, c := range []struct {
		at              string
		allowed, agents []netip.Prefix
		want            bool
	}{
		{"192.0.2.1:80", nil, nil, true},
		{"192.0.2.1:80", nil, prefixes("198.51.100.0/24"), false},
		{"192.0.2.1:80", prefixes("192.0.2.0/24"), prefixes("198.51.100.0/24"), true},
		{"192.0.2.1:80", prefixes("198.51.100.0/24"), nil, false},
		{"127.0.0.1:80", nil, nil, false},
		{"127.0.0.1:80", nil, prefixes("127.0.0.0/8"), false},
		{"127.0.0.1:80", prefixes("127.0.0.0/8"), nil, true},
		{"127.0.0.1:53", prefixes("127.0.0.0/8"), nil, false},
		{"169.254.169.254:80", nil, prefixes("0.0.0.0/0"), false},
		{"[::ffff:169.254.169.254]:80", nil, nil, false},
		{"[64:ff9b::7f00:1]:80", nil, nil, false},
		{"[fd00:ec2::254]:80", nil, nil, false},
	} {
		if got := host.TakesTarget(netip.MustParseAddrPort(c.at), c.allowed, c.agents); got != c.want {
			t.Errorf("%s with %v and %v: %v", c.at, c.allowed, c.agents, got)
		}
	}
}
