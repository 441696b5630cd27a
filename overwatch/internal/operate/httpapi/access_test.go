package httpapi // inside: it uses newAccess

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
)

func prefixes(t *testing.T, networks ...string) []netip.Prefix {
	t.Helper()
	var list []netip.Prefix
	for _, n := range networks {
		p, err := netip.ParsePrefix(n)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func TestAccess_WhoIsAdmitted(t *testing.T) {
	local := []string{"127.0.0.1/32", "::1/128"}
	proxied := []string{"10.0.0.0/8", "192.0.2.0/24", "2001:db8::/32"}
	for _, tc := range []struct {
		name      string
		networks  []string
		trust     bool
		remote    string
		forwarded []string
		client    string // "" for an invalid address
		allowed   bool
	}{
		{"IPv4 loopback", local, false, "127.0.0.1:1", nil, "127.0.0.1", true},
		{"IPv6 loopback", local, false, "[::1]:1", nil, "::1", true},
		{"another loopback address", local, false, "127.0.0.2:1", nil, "127.0.0.2", false},
		{"all IPv4 admits no IPv6", []string{"0.0.0.0/0"}, false, "[2001:db8::1]:1", nil, "2001:db8::1", false},
		{"all IPv4 admits not even IPv6 loopback", []string{"0.0.0.0/0"}, false, "[::1]:1", nil, "::1", false},
		{"all IPv6 admits no IPv4", []string{"::/0"}, false, "192.0.2.1:1", nil, "192.0.2.1", false},
		{"IPv4-mapped client is IPv4", []string{"0.0.0.0/0"}, false, "[::ffff:192.0.2.1]:1", nil, "192.0.2.1", true},
		{"IPv4-mapped client is not IPv6", []string{"::/0"}, false, "[::ffff:192.0.2.1]:1", nil, "192.0.2.1", false},
		{"IPv4-mapped network is IPv4", []string{"::ffff:192.0.2.0/120"}, false, "192.0.2.1:1", nil, "192.0.2.1", true},
		{"zone does not matter", []string{"fe80::/10"}, false, "[fe80::1%eth0]:1", nil, "fe80::1", true},
		{"no networks admit nobody", nil, false, "127.0.0.1:1", nil, "127.0.0.1", false},
		{"not an address", local, false, "@", nil, "", false},

		{"spoofed header without trust", proxied, false, "203.0.113.9:1", []string{"10.0.0.1"}, "203.0.113.9", false},
		{"header without trust is not looked at", proxied, false, "10.0.0.1:1", []string{"203.0.113.9"}, "10.0.0.1", true},
		{"spoofed header from outside", proxied, true, "203.0.113.9:1", []string{"10.0.0.1"}, "203.0.113.9", false},
		{"proxy tells an allowed client", proxied, true, "10.0.0.1:1", []string{"192.0.2.7"}, "192.0.2.7", true},
		{"proxy tells a foreign client", proxied, true, "10.0.0.1:1", []string{"203.0.113.9"}, "203.0.113.9", false},
		{"only the right-most counts", proxied, true, "10.0.0.1:1", []string{"192.0.2.7, 203.0.113.9"}, "203.0.113.9", false},
		{"what the client put on the left is not believed", proxied, true, "10.0.0.1:1", []string{"203.0.113.9,192.0.2.7"},
			"192.0.2.7", true},
		{"the last of several headers", proxied, true, "10.0.0.1:1", []string{"192.0.2.7", "203.0.113.9"}, "203.0.113.9",
			false},
		{"with a port", proxied, true, "10.0.0.1:1", []string{"192.0.2.7:5000"}, "192.0.2.7", true},
		{"IPv6 in brackets", proxied, true, "10.0.0.1:1", []string{"[2001:db8::5]"}, "2001:db8::5", true},
		{"IPv6 in brackets with a port", proxied, true, "10.0.0.1:1", []string{"[2001:db8::5]:5000"}, "2001:db8::5", true},
		{"IPv4-mapped in the header", proxied, true, "10.0.0.1:1", []string{"::ffff:192.0.2.7"}, "192.0.2.7", true},
		{"no header", proxied, true, "10.0.0.1:1", nil, "10.0.0.1", true},
		{"empty header", proxied, true, "10.0.0.1:1", []string{""}, "", false},
		{"trailing comma", proxied, true, "10.0.0.1:1", []string{"192.0.2.7,"}, "", false},
		{"unreadable header", proxied, true, "10.0.0.1:1", []string{"unknown"}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := newAccess(config.API{AllowedNetworks: prefixes(t, tc.networks...), TrustProxyHeaders: tc.trust}, &net.TCPAddr{})
			r := &http.Request{RemoteAddr: tc.remote, Header: http.Header{}}
			for _, value := range tc.forwarded {
				r.Header.Add("X-Forwarded-For", value)
			}
			client, allowed := a.client(r)
			if allowed != tc.allowed || client.IsValid() != (tc.client != "") ||
				(client.IsValid() && client.String() != tc.client) {
				t.Errorf("got %v, %v; want %q, %v", client, allowed, tc.client, tc.allowed)
			}
		})
	}
}

// publicPaths are open to everybody by the specification.
var publicPaths = []string{"/api/health", "/api/v1/ready", "/api/v1/live", "/api/v1/version"}

func TestAPI_StrangersSeeThePublicPathsOnly(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.AllowedNetworks = prefixes(t, "10.0.0.0/8", "::1/128") })
	for _, path := range publicPaths {
		w.want("GET "+path, w.send("GET", path, ""), 200)
		w.wantError("POST "+path, w.send("POST", path, "{}"), 403)
	}
	for _, o := range Operations() {
		if !o.Public {
			w.wantError(o.Method+" "+o.Path, w.send(o.Method, o.route(), ""), 403, "127.0.0.1", "api.allowed_networks")
		}
	}
	for _, path := range []string{
		"/", "/nothing", "/api/v1/ready/", "/api/v1/ready/../servers", "/api/v1/live/%2e%2e/servers", "//api/v1/version",
		"/api/v1/%72eady",
		"/api/v1/ready%2f..%2fservers", "/api/v1/servers?x=/api/health", "/API/HEALTH",
	} {
		w.wantError("GET "+path, w.send("GET", path, ""), 403)
	}
}

func TestAPI_IPv6ClientNeedsAnIPv6Network(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Logf("no IPv6 here, TestAccess_WhoIsAdmitted must do: %v", err)
		return
	} else {
		l.Close()
	}
	for network, status := range map[string]int{"0.0.0.0/0": 403, "::/0": 200, "::1/128": 200} {
		w := newWorld(t, func(o *Options) {
			o.API.Address = "[::1]:0"
			o.API.AllowedNetworks = prefixes(t, network)
		})
		if r := w.send("GET", "/api/v1/servers", ""); r.status != status {
			t.Errorf("%s: got %d, want %d", network, r.status, status)
		}
	}
}

func TestAPI_ForwardedClientIsCheckedOnlyBehindAnAllowedProxy(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		w := newWorld(t, func(o *Options) {
			o.API.TrustProxyHeaders = trusted
			o.API.AllowedNetworks = prefixes(t, "127.0.0.1/32", "192.0.2.0/24")
		})
		want := 200
		if trusted {
			want = 403
		}
		if r := w.send("GET", "/api/v1/servers", "", "X-Forwarded-For", "192.0.2.1, 203.0.113.9"); r.status != want {
			t.Errorf("trust_proxy_headers %v: got %d, want %d", trusted, r.status, want)
		}
		if r := w.send("GET", "/api/v1/servers", "", "X-Forwarded-For", "203.0.113.9, 192.0.2.1"); r.status != 200 {
			t.Errorf("trust_proxy_headers %v: got %d", trusted, r.status)
		}
	}
}

func TestAPI_HostThatIsNotTheNodeIsMisdirected(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.API.AllowedHosts = []string{"gslb.Example."} })
	for host, allowed := range map[string]bool{
		"localhost": true, "LOCALHOST:8080": true, "localhost.": true, "127.0.0.1": true, "127.0.0.1:80": true,
		"[::1]:80": true, "[::1]": true, "192.0.2.7": true,
		"node-1": true, "NODE-1.": true, "node-1:80": true, "gslb.example": true, "gslb.example.:80": true,
		"evil.example": false, "evil.example:8080": false, "localhost.evil.example": false, "node-1.evil.example": false,
		"127.0.0.1.evil.example": false, "0x7f000001": false,
	} {
		for _, path := range []string{"/api/v1/servers", "/api/health"} {
			r := w.send("GET", path, "", "Host", host)
			if allowed && r.status != 200 {
				t.Errorf("%s with host %s: %d %s", path, host, r.status, r.body)
			}
			if !allowed {
				w.wantError(fmt.Sprintf("%s with host %s", path, host), r, 421, "api.allowed_hosts")
			}
		}
	}
}

func TestAccess_HostIsFreeOnAnOpenListenerWithoutAllowedHosts(t *testing.T) {
	open := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}
	if a := newAccess(config.API{}, open, "node-1"); !a.hostAllowed("lb.example") {
		t.Error("refused")
	}
	if a := newAccess(config.API{AllowedHosts: []string{"a"}}, open, "node-1"); a.hostAllowed("lb.example") ||
		!a.hostAllowed("A:1") {
		t.Error("api.allowed_hosts does not count on an open listener")
	}
	if a := newAccess(config.API{}, &net.TCPAddr{IP: net.IPv6loopback}, "node-1"); a.hostAllowed("") {
		t.Error("no host at all is taken for the node's")
	}
}
