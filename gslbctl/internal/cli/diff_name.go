package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/dnsask"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// diffName compares one name on all nodes: its domain and servers, the addresses that each node selects for the clients
// of each region, and the DNS answers. For a name without a domain, it compares only the DNS answers.
func (a *app) diffName(ctx context.Context, name string) error {
	nodes, err := a.Nodes()
	if err != nil {
		return err
	}
	if len(nodes) < 2 {
		return errors.New("diff compares nodes: name two or more, such as with --api twice")
	}
	stop := a.Progress("comparing " + name)
	limited, cancel := context.WithTimeout(ctx, a.Timeout)
	replies := make([]fleet.Answer[map[fact]string], len(nodes))
	fleet.ForEach(len(nodes), func(i int) {
		replies[i].Node = nodes[i].Node()
		replies[i].Value, replies[i].Err = nameFacts(limited, nodes[i], name)
	})
	cancel()
	stop()
	report := diffReport{Differences: []difference{}, Unasked: map[string]string{}, Name: name}
	replies, unasked := report.separate(replies)
	if len(replies) < 2 {
		return &fleet.Error{Code: fleet.NotAsked, Message: "nothing can be compared: " + strings.Join(unasked, "; ")}
	}
	report.Differences = differences(replies)
	if err := a.Print(report, a.Table(diffTable(report))); err != nil {
		return err
	}
	switch {
	case len(unasked) > 0:
		return &fleet.Error{Code: fleet.Degraded, Message: "not compared: " + strings.Join(unasked, "; ")}
	case len(report.Differences) > 0:
		return &fleet.Error{Code: fleet.Degraded}
	}
	return nil
}

// nameFacts returns the facts about one name on a node.
func nameFacts(ctx context.Context, n fleet.Node, name string) (map[fact]string, error) {
	facts := map[fact]string{}
	domains, err := domainThings(ctx, n.Client)
	if err != nil {
		return nil, err
	}
	for f, said := range domains {
		if sameName(strings.TrimSuffix(name, "."), f.name) {
			facts[f] = said
		}
	}
	selected := map[string]bool{} // addresses and host names that the node can answer
	if len(facts) > 0 {
		servers, err := serverThings(ctx, n.Client)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(servers, func(f fact, _ string) bool {
			service, _, _ := strings.Cut(strings.ReplaceAll(f.name, " ", ":"), ":")
			return !sameName(strings.TrimSuffix(name, "."), service)
		})
		maps.Copy(facts, servers)
		for _, family := range families {
			list, err := n.RoutingAnswers(ctx, name, family)
			if err != nil {
				return nil, err
			}
			for _, x := range list.Answers {
				facts[fact{"answer", family + " for clients in " + clientsOf(x)}] = selectionText(x)
				for _, s := range x.Addresses {
					selected[s.Address] = true
				}
			}
		}
	}
	return facts, addDNSFacts(ctx, n, name, selected, facts)
}

// selectionText returns the addresses of an answer with their shares, sorted by address, and the TTL.
func selectionText(x api.RoutingAnswer) string {
	list := slices.Clone(x.Addresses)
	slices.SortFunc(list, func(a, b api.RoutingShare) int { return strings.Compare(a.Address, b.Address) })
	if len(list) == 0 {
		return string(x.Decision)
	}
	return shares(list) + ", TTL " + strconv.Itoa(x.TTL) + "s"
}

// addDNSFacts queries the DNS server of a node for the addresses of a name. An answer of a domain rotates, and depends
// on the address of this machine. So its fact contains only addresses that the node has not selected.
func addDNSFacts(ctx context.Context, n fleet.Node, name string, selected map[string]bool,
	facts map[fact]string) error {
	conn, err := dnsask.Dial(ctx, n.DNS)
	if err != nil {
		return errors.New(fleet.ExplainDNS(err, n.DNS))
	}
	defer conn.Close()
	for _, family := range families {
		answer, err := conn.Ask(ctx, concrete(name), family == "AAAA")
		if err != nil {
			return errors.New(fleet.ExplainDNS(err, n.DNS))
		}
		facts[fact{"DNS", family}] = dnsText(answer, selected)
	}
	return nil
}

// dnsText describes a DNS answer. Without selected addresses, it contains all addresses and the TTL.
func dnsText(answer dnsask.Answer, selected map[string]bool) string {
	switch {
	case answer.Failure != "":
		return answer.Failure
	case answer.Alias != "" && !selected[answer.Alias]:
		return "CNAME " + answer.Alias
	case answer.Alias != "":
		return "as selected"
	case len(answer.Addresses) == 0:
		return "no address"
	case len(selected) == 0:
		return fmt.Sprintf("%s, TTL %ds", addressList(answer.Addresses), int(answer.TTL/time.Second))
	}
	other := slices.DeleteFunc(answer.Addresses, func(at netip.Addr) bool { return selected[at.String()] })
	if len(other) == 0 {
		return "as selected"
	}
	return "also " + addressList(other)
}
