package registry_test

import (
	"net/netip"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/health/registry"
)

func TestParseID_OneFormForEveryWayToWriteIt(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a.example:10.0.0.1:80", "a.example:10.0.0.1:80"},
		{"A.Example.:10.0.0.1:80", "a.example:10.0.0.1:80"},
		{"a:2001:db8::1:80", "a:2001:db8::1:80"},
		{"a:[2001:db8::1]:80", "a:2001:db8::1:80"},
		{"a:2001:DB8:0:0::1:80", "a:2001:db8::1:80"},
		{"a:[::ffff:10.0.0.1]:80", "a:10.0.0.1:80"},
		{"a:::ffff:10.0.0.1:80", "a:10.0.0.1:80"},
		{"a:::1:65535", "a:::1:65535"},
		{"*.a_b-c:127.0.0.1:1", "*.a_b-c:127.0.0.1:1"},
	} {
		got, err := registry.ParseID(c.in)
		if err != nil || got.String() != c.want {
			t.Errorf("ParseID(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestParseID_RefusesWhatIsNotOne(t *testing.T) {
	for _, in := range []string{
		"", ":", "::", "a", "a:10.0.0.1", "a:10.0.0.1:", "a::80", ":10.0.0.1:80", ".:10.0.0.1:80",
		"a:10.0.0.1:0", "a:10.0.0.1:080", "a:10.0.0.1:+80", "a:10.0.0.1:65536", "a:10.0.0.1:-1", "a:10.0.0.1:8 0",
		"a:10.0.0.1:http",
		"a:10.0.0.01:80", "a:10.0.0:80", "a:[10.0.0.1]:80", "a:[::1:80", "a:::1]:80", "a:[]:80", "a:example:80",
		"a:0.0.0.0:80", "a::::80", "a:224.0.0.1:80", "a:255.255.255.255:80", "a:ff02::1:80", "a:fe80::1%eth0:80",
		"a..b:10.0.0.1:80", ".a:10.0.0.1:80", "a b:10.0.0.1:80", "a/b:10.0.0.1:80", "ä:10.0.0.1:80", "a..:10.0.0.1:80",
		strings.Repeat("a", 64) + ":10.0.0.1:80", strings.Repeat("a.", 127) + "a:10.0.0.1:80",
	} {
		if got, err := registry.ParseID(in); err == nil {
			t.Errorf("ParseID(%q) = %q, want an error", in, got)
		}
	}
}

func TestNewID_RefusesPortZero(t *testing.T) {
	if _, err := registry.NewID("a", netip.MustParseAddr("10.0.0.1"), 0); err == nil {
		t.Error("port 0 was taken")
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{"a:10.0.0.1:80", "a:[::1]:80", "A.:::ffff:1.2.3.4:1", "::", "a:fe80::1%x:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		first, err := registry.ParseID(s)
		if err != nil {
			return
		}
		again, err := registry.ParseID(first.String())
		if err != nil || again != first {
			t.Fatalf("%q became %q, which became %q, %v", s, first, again, err)
		}
		if first.Address.Is4In6() || first.Address.Zone() != "" || first.Port == 0 ||
			first.Service != strings.ToLower(first.Service) {
			t.Fatalf("%q became %#v", s, first)
		}
	})
}
