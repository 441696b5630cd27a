package demo

import (
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
)

// describe puts an answer into a few words.
func describe(a harness.Answer) string {
	switch {
	case a.Err != nil:
		return "no answer"
	case a.Rcode != dns.RcodeSuccess:
		return dns.RcodeToString[a.Rcode]
	case len(a.Addrs) == 0:
		return "no address"
	}
	var b strings.Builder
	for i, addr := range a.Addrs {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(addr.String())
	}
	return b.String()
}
