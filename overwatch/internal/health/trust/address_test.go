package trust // inside: it looks at takes

import (
	"net/netip"
	"testing"

	"gslb.internal/shared/wire"
)

// rigHost listens on the ports of DNS and the API, and has an address of each family.
func rigHost(loopback bool) Host {
	own := []netip.Addr{netip.MustParseAddr("192.0.2.53"), netip.MustParseAddr("2001:db8::53"),
		netip.MustParseAddr("fe80::53")}
	return Host{Ports: []uint16{53, 8080}, Addresses: func() []netip.Addr { return own }, Loopback: loopback}
}

// The comment of Host.takes contains this table.
func TestAgent_AllowedAddresses(t *testing.T) {
	r := newRig(t)
	open, loopback := rigHost(false), rigHost(true)
	anywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	const none, policy, laptop, all = 1, 2, 4, 8 // no allowed_cidrs, 10.0.0.0/8, none and gossip on loopback, everything
	for address, want := range map[string]int{
		"10.1.2.3:80":                  none + policy + laptop + all,
		"[::ffff:10.1.2.3]:80":         none + policy + laptop + all,
		"192.0.2.1:53":                 none + laptop + all,
		"[2001:db8::1]:53":             none + laptop + all,
		"127.0.0.1:80":                 laptop + all,
		"127.8.9.10:80":                laptop + all,
		"[::ffff:127.0.0.1]:80":        laptop + all,
		"[64:ff9b::7f00:1]:80":         laptop + all,
		"[64:ff9b::c000:201]:80":       none + laptop + all,
		"[::1]:80":                     laptop + all,
		"169.254.169.254:80":           all,
		"[::ffff:169.254.169.254]:80":  all,
		"[64:ff9b::a9fe:a9fe]:80":      all,
		"[fe80::1]:80":                 all,
		"[fd00:ec2::254]:80":           all,
		"[fd00:ec2::23]:80":            all,
		"168.63.129.16:80":             all,
		"[::ffff:168.63.129.16]:32526": all,
		"100.100.100.200:80":           all,
		"192.0.0.192:80":               all,
		"[fd20:ce::254]:80":            all,
		"[fd00:c1::a9fe:a9fe]:80":      all,
		"[fd00:42::42]:80":             all,
		"[fd00:a9fe:a9fe::1]:80":       all,
		"[fd00:100::100:200]:80":       all,
		"100.100.100.201:80":           none + laptop + all,
		"[fd00:ec3::254]:80":           none + laptop + all,
		"192.0.2.53:80":                none + laptop + all, // the node's own address, where something else listens
		"192.0.2.53:8080":              0,
		"192.0.2.53:53":                0,
		"[::ffff:192.0.2.53]:8080":     0,
		"[64:ff9b::c000:235]:8080":     0,
		"[2001:db8::53]:8080":          0,
		"[fe80::53]:8080":              0,
		"127.0.0.1:8080":               0,
		"127.0.0.2:53":                 0,
		"[::1]:53":                     0,
		"[::ffff:127.0.0.1]:8080":      0,
		"0.0.0.0:80":                   0,
		"[::]:80":                      0,
		"[64:ff9b::]:80":               0,
		"224.0.0.1:80":                 0,
		"[ff02::1]:80":                 0,
		"255.255.255.255:80":           0,
		"[fe80::1%eth0]:80":            0,
	} {
		at, got := netip.MustParseAddrPort(address), 0
		for bit, taken := range map[int]bool{
			none: open.takes(at, nil), policy: open.takes(at, rigPolicies["db.test"]), laptop: loopback.takes(at, nil),
			all: open.takes(at, anywhere),
		} {
			if taken {
				got += bit
			}
		}
		if got != want {
			t.Errorf("%s: taken %04b, want %04b", address, got, want)
		}
	}
	r.host = open
	r.restart()
	a := r.agent("eu-web-1").enrol("app.test", "db.test").Agent
	if at := netip.MustParseAddrPort("127.0.0.1:80"); a.Allowed("app.test", at) ||
		r.trust.Allowed("eu-web-1", "app.test", at) {
		t.Error("loopback is allowed to an agent")
	}
	if a.Allowed("no.test", netip.MustParseAddrPort("10.1.2.3:80")) || a.Allowed("app.test", netip.AddrPort{}) {
		t.Error("allowed for nothing")
	}
}

// Fault 30.
func TestSetTokens_ALoopbackAddressIsAllowedWhileThePolicyContainsIt(t *testing.T) {
	r := newRig(t)
	a, at := r.agent("eu-web-1").enrol("app.test").Agent, netip.MustParseAddrPort("127.0.0.1:80")
	for _, networks := range [][]netip.Prefix{nil, {netip.MustParsePrefix("127.0.0.0/8")},
		{netip.MustParsePrefix("10.0.0.0/8")}, nil} {
		r.trust.SetTokens(r.tokens, map[string][]netip.Prefix{"app.test": networks})
		if want := len(networks) > 0 && networks[0].Contains(at.Addr()); a.Allowed("app.test", at) != want {
			t.Errorf("allowed_cidrs %v: want allowed %v", networks, want)
		}
	}
}

// Each refusal has exactly one rule, which names the remedy.
func TestHost_NamesTheRule(t *testing.T) {
	own := []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	h := Host{Ports: []uint16{53}, Addresses: func() []netip.Addr { return own }}
	net := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, try := range []struct {
		at      string
		allowed []netip.Prefix
		want    wire.Rule
	}{
		{"192.0.2.1:80", nil, 0}, {"10.1.1.1:80", net, 0}, {"224.0.0.1:80", nil, wire.RuleUnusable},
		{"192.0.2.1:53", nil, wire.RuleOwnListener}, {"192.0.2.2:80", net, wire.RuleNetworks},
		{"127.0.0.1:80", nil, wire.RuleLoopback}, {"169.254.1.1:80", nil, wire.RuleLinkLocal},
		{"100.100.100.200:80", nil, wire.RuleMetadata},
	} {
		got := h.judge(netip.MustParseAddrPort(try.at), try.allowed)
		if got != try.want || got != 0 && got.String() == "" {
			t.Errorf("%s: %q, want %q", try.at, got, try.want)
		}
	}
}
