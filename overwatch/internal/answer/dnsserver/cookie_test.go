package dnsserver // inside: it uses serverCookie

import (
	"encoding/hex"
	"net/netip"
	"testing"
)

// These are the examples of RFC 9018, appendix A. All servers with the same secret must create the same server cookie.
func TestServerCookie_IsTheInteroperableOne(t *testing.T) {
	cases := []struct {
		client, address, secret string
		now                     uint32
		want                    string
	}{
		{"2464c4abcf10c957", "198.51.100.100", "e5e973e5a6b2a43f48e7dc849e37bfcf", 1559731985,
			"010000005cf79f111f8130c3eee29480"},
		{"fc93fc62807ddb86", "203.0.113.203", "e5e973e5a6b2a43f48e7dc849e37bfcf", 1559734700,
			"010000005cf7a9acf73a7810aca2381e"},
		{"22681ab97d52c298", "2001:db8:220:1:59de:d0f4:8769:82b8", "dd3bdf9344b678b185a6f5cb60fca715", 1559741817,
			"010000005cf7c57926556bd0934c72f8"},
		{"22681ab97d52c298", "2001:db8:220:1:59de:d0f4:8769:82b8", "445536bcd2513298075a5d379663c962", 1559741961,
			"010000005cf7c609a6bb79d16625507a"},
	}
	for _, c := range cases {
		client, _ := hex.DecodeString(c.client)
		secret, _ := hex.DecodeString(c.secret)
		got := hex.EncodeToString(serverCookie(nil, (*[16]byte)(secret), client, netip.MustParseAddr(c.address), c.now))
		if got != c.want {
			t.Errorf("client %s at %s: %s, want %s", c.client, c.address, got, c.want)
		}
	}
}
