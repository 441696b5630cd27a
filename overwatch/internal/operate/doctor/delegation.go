package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/miekg/dns"

	"gslb.internal/shared/resolve"
)

// CheckAnswers queries a running node over UDP and TCP at each of its addresses.
func CheckAnswers(ctx context.Context, p Node) (found []Finding) {
	if !p.Running {
		return advice("node", "does not run now: what it answers was not looked at", "")
	}
	if len(p.Zones) == 0 {
		return nil
	}
	for _, at := range p.DNS {
		for _, network := range []string{"udp", "tcp"} {
			r, err := askListener(ctx, network, local(at).String(), p.Zones[0].Name)
			switch {
			case err != nil:
				found = append(found, trouble("node", fmt.Sprintf("%s over %s: %v", at, network, err),
					"look at its log: journalctl -u gslb-overwatch -n 50")...)
			case !r.Authoritative:
				found = append(found, trouble("node", fmt.Sprintf("%s over %s answers without authority for %s", at, network,
					p.Zones[0].Name),
					"another DNS server has the address: `ss -lnp 'sport = :53'` shows which")...)
			default:
				found = append(found, fine("node", fmt.Sprintf("%s answers over %s", at, network))...)
			}
		}
	}
	return found
}

// local returns the address for queries of this machine to its own listener: loopback for an unspecified address.
func local(at netip.AddrPort) netip.AddrPort {
	switch at.Addr() {
	case netip.IPv4Unspecified():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	case netip.IPv6Unspecified():
		return netip.AddrPortFrom(netip.IPv6Loopback(), at.Port())
	}
	return at
}

// delegations checks each zone from outside: the NS and DS records at the parent, and the name servers of the
// delegation.
func delegations(ctx context.Context, p Node) (found []Finding) {
	resolver := p.Resolver
	if resolver == "" {
		servers, err := resolve.Machine()
		if err != nil {
			return advice("delegation", "was not looked at: "+err.Error(), "")
		}
		resolver = servers[0]
	}
	of := make([][]Finding, len(p.Zones))
	var all sync.WaitGroup
	for i, z := range p.Zones {
		all.Go(func() { of[i] = delegation(ctx, p, z, resolver) }) // concurrently, because each check waits for timeouts
	}
	all.Wait()
	return slices.Concat(of...)
}

func delegation(ctx context.Context, p Node, z Zone, resolver string) (found []Finding) {
	r, err := ask(ctx, "udp", resolver, z.Name, dns.TypeNS, true)
	if err != nil {
		return advice("delegation", fmt.Sprintf("%s: asking %s: %v", z.Name, resolver, err), "")
	}
	var servers []string
	for _, rr := range r.Answer {
		if ns, ok := rr.(*dns.NS); ok {
			servers = append(servers, dns.CanonicalName(ns.Ns))
		}
	}
	if len(servers) == 0 {
		return trouble("delegation", fmt.Sprintf("%s: the parent has no delegation (%s)", z.Name, dns.RcodeToString[r.Rcode]),
			"add NS records for "+cmp.Or(strings.Join(z.Nameservers, ", "),
				"the nodes")+" to the parent zone, with their addresses")
	}
	slices.Sort(servers)
	for _, want := range z.Nameservers {
		if !slices.Contains(servers, dns.CanonicalName(want)) {
			found = append(found, advice("delegation",
				fmt.Sprintf("%s: the world knows %s and not %s", z.Name, strings.Join(servers, ", "), want),
				"give the parent zone the same NS records as dns.zones[].nameservers")...)
		}
	}
	for _, server := range servers {
		found = append(found, nameserver(ctx, z, server, resolver)...)
	}
	return append(found, chain(ctx, p, z, resolver)...)
}

// nameserver queries a name server of the delegation.
func nameserver(ctx context.Context, z Zone, server, resolver string) []Finding {
	var addresses []string
	for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
		r, err := ask(ctx, "udp", resolver, server, kind, true)
		if err != nil {
			continue
		}
		for _, rr := range r.Answer {
			switch rr := rr.(type) {
			case *dns.A:
				addresses = append(addresses, net.JoinHostPort(rr.A.String(), "53"))
			case *dns.AAAA:
				addresses = append(addresses, net.JoinHostPort(rr.AAAA.String(), "53"))
			}
		}
	}
	if len(addresses) == 0 {
		return trouble("name server", fmt.Sprintf("%s of %s has no address", server, z.Name),
			"add its address to the parent zone (glue) and to dns.zones[].records")
	}
	var found []Finding
	for _, address := range addresses {
		for _, network := range []string{"udp", "tcp"} {
			r, err := ask(ctx, network, address, z.Name, dns.TypeSOA, false)
			switch {
			case err != nil:
				found = append(found, trouble("name server", fmt.Sprintf("%s (%s) over %s: %v", server, address, network, err),
					"start it, or open port 53, UDP and TCP")...)
			case !r.Authoritative:
				found = append(found, trouble("name server",
					fmt.Sprintf("%s (%s) has no authority for %s (%s)", server, address, z.Name, dns.RcodeToString[r.Rcode]),
					"let it serve the zone, or take it out of the delegation")...)
			}
		}
	}
	if found == nil {
		return fine("name server", fmt.Sprintf("%s answers for %s over UDP and TCP", server, z.Name))
	}
	return found
}

// chain compares the DS records at the parent with the published keys of the node.
func chain(ctx context.Context, p Node, z Zone, resolver string) []Finding {
	r, err := ask(ctx, "udp", resolver, z.Name, dns.TypeDS, true)
	if err != nil {
		return advice("DNSSEC", fmt.Sprintf("%s: asking %s for DS: %v", z.Name, resolver, err), "")
	}
	var parents []*dns.DS
	for _, rr := range r.Answer {
		if ds, ok := rr.(*dns.DS); ok {
			parents = append(parents, ds)
		}
	}
	asks := p.Signed && p.Running && len(p.DNS) > 0
	var keys []*dns.DNSKEY
	if asks {
		if keys, err = keysOf(ctx, p, z); err != nil {
			return trouble("DNSSEC", fmt.Sprintf("%s: asking this node for its keys: %v", z.Name, err), "")
		}
	}
	unsigned := asks && len(keys) == 0 // as after gslbctl dnssec unsign
	switch {
	case (!p.Signed || unsigned) && len(parents) > 0:
		return trouble("DNSSEC",
			z.Name+": the parent has a DS record and answers are not signed: resolvers that validate refuse them",
			"have the DS removed, or turn overwatch.dnssec.enabled on and sign it (gslbctl dnssec sign)")
	case !p.Signed:
		return nil
	case unsigned:
		return fine("DNSSEC", z.Name+" is not signed, and the parent has no DS record")
	case len(parents) == 0:
		return advice("DNSSEC", z.Name+" is signed and the parent has no DS record: resolvers cannot validate the answers",
			"give the parent the record of `gslbctl dnssec ds`")
	case !asks:
		return nil
	}
	var tags []string
	for _, key := range keys {
		for _, ds := range parents {
			if own := key.ToDS(ds.DigestType); own != nil && own.KeyTag == ds.KeyTag &&
				strings.EqualFold(own.Digest, ds.Digest) {
				return fine("DNSSEC", fmt.Sprintf("%s: the parent's DS %d is of a key of this node", z.Name, ds.KeyTag))
			}
		}
		tags = append(tags, fmt.Sprint(key.KeyTag()))
	}
	return trouble("DNSSEC",
		fmt.Sprintf("%s: no DS of the parent is of a key of this node (%s): resolvers that validate refuse its answers",
			z.Name, strings.Join(tags, ", ")),
		"give the parent the record of `gslbctl dnssec ds`, or restore the key that it has")
}

// keysOf queries the node for the DNSKEY records of a zone.
func keysOf(ctx context.Context, p Node, z Zone) (keys []*dns.DNSKEY, err error) {
	r, err := ask(ctx, "tcp", local(p.DNS[0]).String(), z.Name, dns.TypeDNSKEY, false)
	if err != nil {
		return nil, err
	}
	for _, rr := range r.Answer {
		if key, ok := rr.(*dns.DNSKEY); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// ask sends a query to a server.
func ask(ctx context.Context, network, server, name string, kind uint16, recursive bool) (*dns.Msg, error) {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	q.RecursionDesired = recursive
	q.SetEdns0(1232, false)
	client := &dns.Client{Net: network, Timeout: patience}
	r, _, err := client.ExchangeContext(ctx, q, server)
	return r, err
}
