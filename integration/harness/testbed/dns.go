package testbed

import (
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
)

// Exchange sends a query to a node for a name, without its final dot, over "udp" or "tcp". No answer fails the test.
func Exchange(t *testing.T, network string, n *harness.Node, name string, qtype uint16) *dns.Msg {
	t.Helper()
	client := &dns.Client{Net: network, Timeout: Patience}
	r, _, err := client.ExchangeContext(t.Context(), new(dns.Msg).SetQuestion(name+".", qtype), n.DNS.String())
	if err != nil {
		t.Fatal(err)
	}
	return r
}
