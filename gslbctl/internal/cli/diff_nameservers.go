package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/dnsask"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/resolve"
)

const (
	// nameServerKind is the kind of the facts about the addresses of name servers.
	nameServerKind = "name server"
	// parentColumn is the column of the parent zone in a difference.
	parentColumn = "parent"
	// maxComparedZones is the maximum number of zones with name servers that diff compares.
	maxComparedZones = 50
)

// glueOptions are the flags of diff about parent zones.
type glueOptions struct {
	parents  []string
	resolver string
}

func (o *glueOptions) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.parents, "parent", nil,
		"`address` of a DNS server of the parent zone to query for glue (default: the servers that the resolver returns); "+
			"repeat the flag for more servers")
	cmd.Flags().StringVar(&o.resolver, "resolver", "",
		"`address` of the resolver that finds the parent servers (default: the resolver of this machine)")
}

// explicit reports whether a flag requests a comparison with the parent.
func (o *glueOptions) explicit() bool { return len(o.parents) > 0 || o.resolver != "" }

// check checks the addresses and adds the missing ports.
func (o *glueOptions) check() (err error) {
	for i, text := range o.parents {
		if o.parents[i], err = withDNSPort("--parent", text); err != nil {
			return err
		}
	}
	if o.resolver != "" {
		o.resolver, err = withDNSPort("--resolver", o.resolver)
	}
	return err
}

// servedAddresses has the addresses of name servers according to one source, by zone and name server.
type servedAddresses map[fact]string

// nameServerFact identifies the addresses of one name server of a zone.
func nameServerFact(zone, server string) fact {
	return fact{nameServerKind, strings.TrimSuffix(server, ".") + " of " + strings.TrimSuffix(zone, ".")}
}

func addressList(addresses []netip.Addr) string {
	if len(addresses) == 0 {
		return "no address"
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	words := each(slices.Compact(addresses), netip.Addr.String)
	return strings.Join(words, " ")
}

// compareNameservers returns the name servers with different addresses in the DNS of nodes or in the glue of the
// parent. Each note names a source that could not be compared.
func (a *app) compareNameservers(ctx context.Context, o glueOptions, nodes []string) (list []difference, notes []string,
	err error) {
	all, err := a.Nodes()
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(n fleet.Node) bool { return !slices.Contains(nodes, n.Node()) })
	defer a.Progress("asking for the addresses of name servers")()
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	replies := make([]fleet.Answer[servedAddresses], len(all))
	zones := make([][]string, len(all))
	fleet.ForEach(len(all), func(i int) {
		replies[i].Node = all[i].Node()
		replies[i].Value, zones[i], replies[i].Err = servedByNode(ctx, all[i])
	})
	var unanswered []string
	replies = slices.DeleteFunc(replies, func(r fleet.Answer[servedAddresses]) bool {
		if r.Err != nil {
			notes = append(notes, fmt.Sprintf("the name servers of %s were not compared: %s", r.Node, r.Err))
			unanswered = append(unanswered, r.Node)
		}
		return r.Err != nil
	})
	served := servedAddresses{}
	for _, r := range replies {
		maps.Copy(served, r.Value)
	}
	names := slices.Concat(zones...)
	slices.Sort(names)
	glue, failed := a.glueOf(ctx, o, slices.Compact(names), served)
	list = differencesWithGlue(replies, glue)
	for _, d := range list {
		for _, node := range unanswered {
			d.Said[node] = "no answer"
		}
	}
	return list, append(notes, failed...), nil
}

// servedByNode queries the DNS server of a node for the name servers of its zones, and for the addresses of the name
// servers below the zone apex.
func servedByNode(ctx context.Context, n fleet.Node) (served servedAddresses, zones []string, err error) {
	config, err := n.DNSConfig(ctx)
	if err != nil {
		_, sentence := fleet.Explain(err)
		return nil, nil, errors.New(sentence)
	}
	zones = each(config.Config.Zones[:min(len(config.Config.Zones), maxComparedZones)], dns.CanonicalName)
	served = servedAddresses{}
	if len(zones) == 0 {
		return served, zones, nil
	}
	conn, err := dnsask.Dial(ctx, n.DNS)
	if err != nil {
		return nil, nil, errors.New(fleet.ExplainDNS(err, n.DNS))
	}
	defer conn.Close()
	for _, zone := range zones {
		servers, err := conn.Nameservers(ctx, zone)
		if err != nil {
			return nil, nil, errors.New(fleet.ExplainDNS(err, n.DNS))
		}
		for _, server := range servers {
			if !dns.IsSubDomain(zone, server) {
				continue
			}
			var addresses []netip.Addr
			for _, v6 := range []bool{false, true} {
				answer, err := conn.Ask(ctx, server, v6)
				if err != nil {
					return nil, nil, errors.New(fleet.ExplainDNS(err, n.DNS))
				}
				addresses = append(addresses, answer.Addresses...)
			}
			served[nameServerFact(zone, server)] = addressList(addresses)
		}
	}
	return served, zones, nil
}

// glueOf queries the parents for the glue addresses of the name servers of zones. The result also contains each name
// server of served that the delegation lacks. For a parent that does not answer, glueOf adds a note and no name
// servers.
func (a *app) glueOf(ctx context.Context, o glueOptions, zones []string, served servedAddresses) (glue servedAddresses,
	notes []string) {
	found := make([]map[string][]netip.Addr, len(zones))
	failed := make([]error, len(zones))
	fleet.ForEach(len(zones), func(i int) {
		parents := o.parents
		if len(parents) == 0 {
			if parents, failed[i] = parentsOf(ctx, o.resolver, zones[i]); failed[i] != nil {
				return
			}
		}
		found[i], failed[i] = dnsask.Glue(ctx, parents, zones[i])
	})
	glue = servedAddresses{}
	for i, zone := range zones {
		if failed[i] != nil {
			notes = append(notes, fmt.Sprintf("the glue of %s was not compared: %s", strings.TrimSuffix(zone, "."),
				failed[i]))
			continue
		}
		for name := range served {
			if strings.HasSuffix(name.name, " of "+strings.TrimSuffix(zone, ".")) {
				glue[name] = "no NS record"
			}
		}
		for server, addresses := range found[i] {
			if dns.IsSubDomain(zone, server) {
				glue[nameServerFact(zone, server)] = addressList(addresses)
			}
		}
	}
	return glue, notes
}

func parentsOf(ctx context.Context, resolver, zone string) ([]string, error) {
	if resolver == "" {
		machine, err := resolve.Machine()
		if err != nil {
			return nil, fmt.Errorf("%w; name the parent's servers with --parent", err)
		}
		resolver = machine[0]
	}
	parents, err := resolve.Parents(ctx, resolve.Ask, resolver, zone)
	if err != nil {
		return nil, fmt.Errorf("%w; name the parent's servers with --parent", err)
	}
	return parents, nil
}

// differencesWithGlue returns the name servers with different addresses on the nodes or in the glue. If a name server
// has no glue, it compares only the nodes.
func differencesWithGlue(replies []fleet.Answer[servedAddresses], glue servedAddresses) []difference {
	var between, all []fleet.Answer[map[fact]string]
	for _, r := range replies {
		alone, beside := map[fact]string{}, map[fact]string{}
		for name, addresses := range r.Value {
			if _, compared := glue[name]; compared {
				beside[name] = addresses
			} else {
				alone[name] = addresses
			}
		}
		between = append(between, fleet.Answer[map[fact]string]{Node: r.Node, Value: alone})
		all = append(all, fleet.Answer[map[fact]string]{Node: r.Node, Value: beside})
	}
	if len(all) > 0 {
		all = append(all, fleet.Answer[map[fact]string]{Node: parentColumn, Value: glue})
	}
	return append(differences(between), differences(all)...)
}
