package dnsask

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/shared/resolve"
)

// MaxNameservers is the maximum number of name servers that are read from one answer.
const MaxNameservers = 32

// Nameservers queries the NS records of a zone. It returns at most MaxNameservers canonical names, sorted. After an
// error, the caller must not use the connection.
func (c *Conn) Nameservers(ctx context.Context, zone string) ([]string, error) {
	reply, err := c.exchange(ctx, new(dns.Msg).SetQuestion(dns.Fqdn(zone), dns.TypeNS))
	if err != nil {
		return nil, err
	}
	return nameservers(reply.Answer, zone), nil
}

// nameservers returns the names in the NS records of a zone.
func nameservers(section []dns.RR, zone string) (names []string) {
	for _, rr := range section {
		if ns, ok := rr.(*dns.NS); ok && strings.EqualFold(ns.Hdr.Name, dns.Fqdn(zone)) {
			names = append(names, dns.CanonicalName(ns.Ns))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), MaxNameservers)]
}

// Glue queries the servers of a parent zone, given as addresses with ports, until one of them answers. It returns the
// name servers of the delegation with their glue addresses. A name server without glue has no addresses.
func Glue(ctx context.Context, parents []string, zone string) (glue map[string][]netip.Addr, err error) {
	for _, server := range parents {
		reply, failed := resolve.Ask(ctx, server, zone, dns.TypeNS, false)
		if failed != nil {
			err = fmt.Errorf("the parent's server %s: %w", server, failed)
			continue
		}
		glue = map[string][]netip.Addr{}
		for _, name := range nameservers(slices.Concat(reply.Answer, reply.Ns), zone) {
			glue[name] = nil
		}
		if len(glue) == 0 {
			return nil, fmt.Errorf("the parent's server %s answers %s without a delegation of %s", server,
				dns.RcodeToString[reply.Rcode], zone)
		}
		for _, rr := range reply.Extra {
			name := dns.CanonicalName(rr.Header().Name)
			if _, listed := glue[name]; !listed {
				continue
			}
			if address := addressOf(rr); address.IsValid() {
				glue[name] = append(glue[name], address)
			}
		}
		return glue, nil
	}
	return nil, err
}
