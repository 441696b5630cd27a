package check // inside: it uses requestURL and target

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// valid returns a Spec without problems. Tests make it invalid.
func valid() Spec {
	return Spec{
		Type: HTTP, Path: "/health", Interval: DefaultInterval, Timeout: DefaultTimeout,
		FailureThreshold: DefaultFailureThreshold, SuccessThreshold: DefaultSuccessThreshold,
	}
}

func TestValidate_NamesTheField(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*Spec)
		field  string // empty: no problem
	}{
		{"the defaults", func(*Spec) {}, ""},
		{"tcp without a path", func(s *Spec) { s.Type, s.Path = TCP, "" }, ""},
		{"no type", func(s *Spec) { s.Type = "" }, "type"},
		{"another type", func(s *Spec) { s.Type = "icmp" }, "type"},
		{"type in capitals", func(s *Spec) { s.Type = "HTTP" }, "type"},
		{"http without a path", func(s *Spec) { s.Path = "" }, "path"},
		{"path without a slash", func(s *Spec) { s.Path = "health" }, "path"},
		{"path with a space", func(s *Spec) { s.Path = "/a b" }, "path"},
		{"path with a line end", func(s *Spec) { s.Path = "/a\r\nX: y" }, "path"},
		{"path with a fragment", func(s *Spec) { s.Path = "/a#b" }, "path"},
		{"path with a half escape", func(s *Spec) { s.Path = "/a%2" }, "path"},
		{"path beyond the limit", func(s *Spec) { s.Path = "/" + strings.Repeat("a", MaxPathLength) }, "path"},
		{"path with query and two slashes", func(s *Spec) { s.Path = "//a/../b%20c?d=e&f" }, ""},
		{"host with port", func(s *Spec) { s.Host = "www.example.com:8080" }, ""},
		{"host is an address", func(s *Spec) { s.Host = "192.0.2.1" }, ""},
		{"host is IPv6 with a port", func(s *Spec) { s.Host = "[2001:db8::1]:80" }, ""},
		{"host is IPv6", func(s *Spec) { s.Host = "[2001:db8::1]" }, ""},
		{"host is IPv6 without brackets", func(s *Spec) { s.Host = "2001:db8::1" }, "host"},
		{"host with an empty port", func(s *Spec) { s.Host = "www.example.com:" }, "host"},
		{"host with a wrong port", func(s *Spec) { s.Host = "www.example.com:65536" }, "host"},
		{"host with a header behind it", func(s *Spec) { s.Host = "a\r\nX: y" }, "host"},
		{"host is a URL", func(s *Spec) { s.Host = "http://a" }, "host"},
		{"host with an empty label", func(s *Spec) { s.Host = "a..b" }, "host"},
		{"host with a long label", func(s *Spec) { s.Host = strings.Repeat("a", 64) + ".b" }, "host"},
		{"probe address", func(s *Spec) { s.Address = netip.MustParseAddr("::1") }, ""},
		{"unspecified probe address", func(s *Spec) { s.Address = netip.IPv6Unspecified() }, "address"},
		{"multicast probe address", func(s *Spec) { s.Address = netip.MustParseAddr("224.0.0.1") }, "address"},
		{"no interval", func(s *Spec) { s.Interval = 0 }, "interval"},
		{"interval below the limit", func(s *Spec) { s.Interval, s.Timeout = MinInterval-1, MinTimeout }, "interval"},
		{"interval above the limit", func(s *Spec) { s.Interval = MaxInterval + 1 }, "interval"},
		{"the shortest times", func(s *Spec) { s.Interval, s.Timeout = MinInterval, MinTimeout }, ""},
		{"no timeout", func(s *Spec) { s.Timeout = 0 }, "timeout"},
		{"timeout above the interval", func(s *Spec) { s.Timeout = s.Interval + 1 }, "timeout"},
		{"no failure threshold", func(s *Spec) { s.FailureThreshold = 0 }, "failure_threshold"},
		{"failure threshold above the limit", func(s *Spec) { s.FailureThreshold = MaxThreshold + 1 }, "failure_threshold"},
		{"no success threshold", func(s *Spec) { s.SuccessThreshold = -1 }, "success_threshold"},
		{"server name", func(s *Spec) { s.ServerName = "internal_name.example.com." }, ""},
		{"server name with a port", func(s *Spec) { s.ServerName = "www.example.com:443" }, "server_name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := valid()
			c.damage(&spec)
			problems := spec.Validate()
			fields := make([]string, len(problems))
			for i, p := range problems {
				fields[i] = p.Field
				if p.Remedy == "" {
					t.Errorf("%s has no remedy", p.Field)
				}
			}
			want := []string{c.field}
			if c.field == "" {
				want = []string{}
			}
			if !slices.Equal(fields, want) {
				t.Errorf("problems %v, want %v", problems, want)
			}
		})
	}
}

func TestValidate_ReportsEverythingAtOnce(t *testing.T) {
	bad := Spec{Type: "x", Host: "a b", Address: netip.IPv4Unspecified(), Timeout: MaxInterval + time.Hour,
		ServerName: "/"}
	if got := bad.Validate(); len(got) != 8 {
		t.Errorf("%d problems, want 8: %v", len(got), got)
	}
	_, err := NewProber(bad, netip.MustParseAddrPort("192.0.2.1:80"), "test")
	if err == nil || strings.Count(err.Error(), "\n") != 7 {
		t.Errorf("NewProber must refuse with all problems, got %v", err)
	}
}

func TestNewProber_RefusesABackendWithoutAddressOrPort(t *testing.T) {
	for _, backend := range []netip.AddrPort{{}, netip.MustParseAddrPort("192.0.2.1:0")} {
		if _, err := NewProber(valid(), backend, "test"); err == nil {
			t.Errorf("%v was accepted", backend)
		}
	}
}

// Any Spec from the network that Validate accepts results in a request to the host of the Spec, and never in a panic.
func FuzzSpec_WhatIsValidMakesOneRequest(f *testing.F) {
	f.Add("http", "/health?a=b", "www.example.com:8080", "name")
	f.Add("https", "//x", "[::1]:443", "192.0.2.1")
	f.Add("http", "/%zz", "a..b", "a:b")
	f.Add("tcp", "", "", "")
	f.Fuzz(func(t *testing.T, kind, path, host, name string) {
		spec := valid()
		spec.Type, spec.Path, spec.Host, spec.ServerName = Type(kind), path, host, name
		problems := spec.Validate()
		prober, err := NewProber(spec, netip.MustParseAddrPort("192.0.2.1:80"), "test")
		if (err == nil) != (len(problems) == 0) {
			t.Fatalf("problems %v, error %v", problems, err)
		}
		if err != nil || spec.Type != HTTP && spec.Type != HTTPS {
			return
		}
		location := requestURL(target{spec: spec, at: prober.target})
		if host != "" && location.Host != host {
			t.Errorf("host %q became %q", host, location.Host)
		}
		if got := location.RequestURI(); strings.ContainsAny(got, " \r\n#") || got[0] != '/' {
			t.Errorf("path %q became the request target %q", path, got)
		}
	})
}
