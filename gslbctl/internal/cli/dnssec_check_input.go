package cli

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/chain"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
	"gslb.internal/shared/resolve"
)

// checkedServers returns the servers of the command line, or else the servers of the nodes.
func (a *app) checkedServers(named []string) ([]string, error) {
	var servers []string
	if len(named) == 0 {
		nodes, err := a.Nodes()
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			servers = append(servers, n.DNS)
		}
		return servers, nil
	}
	for _, text := range named {
		server, err := withDNSPort("--server", text)
		if err != nil {
			return nil, err
		}
		servers = append(servers, server)
	}
	return servers, nil
}

func withDNSPort(flag, text string) (string, error) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return net.JoinHostPort(addr.String(), "53"), nil
	}
	if host, port, err := net.SplitHostPort(text); err == nil && host != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err == nil && number > 0 {
			return text, nil
		}
	}
	if _, ok := dns.IsDomainName(text); ok && text != "" && !strings.ContainsAny(text, ":/ ") {
		return net.JoinHostPort(text, "53"), nil
	}
	return "", fmt.Errorf("%s is %q: give an address or host:port, such as 192.0.2.1 or [2001:db8::1]:5353", flag, text)
}

// checkedZones returns the zones to check, with their domains if a node's API answers.
func (a *app) checkedZones(ctx context.Context, o checkOptions, args []string) ([]chain.Question, error) {
	var zones []string
	if len(args) > 0 {
		if _, ok := dns.IsDomainName(args[0]); !ok || args[0] == "" {
			return nil, fmt.Errorf("%q is not the name of a zone", args[0])
		}
		zones = []string{dns.CanonicalName(args[0])}
	}
	if len(zones) > 0 && len(o.servers) > 0 {
		return []chain.Question{{Zone: zones[0]}}, nil
	}
	keys, err := fleet.First(ctx, a.Fleet, fleet.Call((*api.Client).DNSSECKeys))
	if err != nil {
		return nil, err
	}
	var known []string
	for _, k := range keys.Keys {
		known = append(known, k.Zone)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if len(zones) == 0 {
		zones = known
	}
	if len(zones) == 0 {
		return nil,
			&fleet.Error{Code: fleet.Degraded,
				Message: "no zone is signed (overwatch.dnssec.enabled is false), so there is nothing to check"}
	}
	if len(o.ds) > 0 && len(zones) > 1 {
		return nil, fmt.Errorf("--ds is for one zone, and there are %d: name one", len(zones))
	}
	domains, err := fleet.First(ctx, a.Fleet, fleet.Call((*api.Client).Domains))
	if err != nil {
		return nil, err
	}
	questions := make([]chain.Question, len(zones))
	for i, zone := range zones {
		questions[i] = chain.Question{Zone: zone, Names: namesIn(zone, known, domains.Domains)}
	}
	return questions, nil
}

// namesIn returns the domains that belong to a zone and to no zone below it, at most maxCheckedNames.
func namesIn(zone string, zones []string, domains []api.Domain) (names []string) {
	for i := range domains {
		name := dns.CanonicalName(concrete(domains[i].Name))
		below := slices.ContainsFunc(zones, func(other string) bool {
			return other != zone && dns.IsSubDomain(zone, other) && dns.IsSubDomain(other, name)
		})
		if dns.IsSubDomain(zone, name) && !below && len(names) < maxCheckedNames {
			names = append(names, name)
		}
	}
	return names
}

// parentDS returns the DS records of the command line, or else the records of the parent zone.
func (a *app) parentDS(ctx context.Context, o checkOptions, zone string) (list []*dns.DS, err error) {
	for _, text := range o.ds {
		ds, err := chain.ParseDS(zone, text)
		if err != nil {
			return nil, err
		}
		list = append(list, ds)
	}
	if len(list) > 0 {
		return list, nil
	}
	resolver := o.resolver
	if resolver == "" {
		if list, known, err := a.nodesDS(ctx, o, zone); known || err != nil {
			return list, err
		}
		servers, unknown := resolve.Machine()
		if unknown != nil {
			return nil, fmt.Errorf("%w; name one with --resolver, or the record with --ds", unknown)
		}
		resolver = servers[0]
	} else if resolver, err = withDNSPort("--resolver", resolver); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	if list, err = chain.AskDS(ctx, resolver, zone); err != nil {
		return nil, fmt.Errorf("%w; name a resolver with --resolver, or the record with --ds", err)
	}
	return list, nil
}

// nodesDS returns the DS records that the nodes find at the servers of the parent. known is false if the nodes have no
// result: no node has the zone, all nodes are older, or no node can query the parent. If the configuration of a node
// names parent servers and they do not answer, nodesDS returns an error. With --server it queries no node.
func (a *app) nodesDS(ctx context.Context, o checkOptions, zone string) (list []*dns.DS, known bool, err error) {
	if len(o.servers) > 0 {
		return nil, false, nil
	}
	answer, err := fleet.First(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (api.ParentDS, error) {
		return c.ParentDS(ctx, zone)
	})
	switch {
	case err != nil || answer.Problem != nil && !answer.Configured:
		return nil, false, nil //nolint:nilerr // the caller queries the machine's resolver instead
	case answer.Problem != nil:
		return nil, false, fmt.Errorf("overwatch.dnssec.rollover.parent_servers: %s; name a resolver with "+
			"--resolver, or the record with --ds", *answer.Problem)
	}
	for _, r := range answer.DSRecords {
		ds, err := chain.ParseDS(zone, r.DSRecord)
		if err != nil {
			return nil, false, err
		}
		list = append(list, ds)
	}
	return list, true, nil
}
