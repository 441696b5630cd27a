package resolve

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Parents returns the addresses of the servers of the closest zone above apex, with port 53, sorted and without
// duplicates. It sends the queries to resolver, an address with port, through exchange.
func Parents(ctx context.Context, exchange Exchange, resolver, apex string) (addresses []string, err error) {
	apex = dns.CanonicalName(apex)
	var names []string
	for name := apex; len(names) == 0; {
		at, end := dns.NextLabel(name, 0)
		if name == "." {
			return nil, fmt.Errorf("%s knows no zone above %s", resolver, apex)
		}
		if name = name[at:]; end {
			name = "."
		}
		reply, err := exchange(ctx, resolver, name, dns.TypeNS, true)
		if err != nil {
			return nil, fmt.Errorf("the resolver %s: %w", resolver, err)
		}
		for _, rr := range reply.Answer {
			if ns, ok := rr.(*dns.NS); ok && strings.EqualFold(ns.Hdr.Name, name) {
				names = append(names, ns.Ns)
			}
		}
	}
	for _, name := range names {
		for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
			reply, err := exchange(ctx, resolver, name, kind, true)
			if err != nil {
				return nil, fmt.Errorf("the resolver %s: %w", resolver, err)
			}
			for _, rr := range reply.Answer {
				switch rr := rr.(type) {
				case *dns.A:
					addresses = append(addresses, net.JoinHostPort(rr.A.String(), "53"))
				case *dns.AAAA:
					addresses = append(addresses, net.JoinHostPort(rr.AAAA.String(), "53"))
				}
			}
		}
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("%s have no address", strings.Join(names, ", "))
	}
	slices.Sort(addresses)
	return slices.Compact(addresses), nil
}
