package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/dnsask"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// drainNode is a node with an API and a DNS server that drainWait queries.
type drainNode struct {
	fleet.Node
	old *oldDrains // nil unless the node has version 0.9.0
}

// concrete returns a name that a wildcard covers.
func concrete(name string) string { return strings.Replace(name, "*", "any", 1) }

// clientsAnswered returns the client regions whose answers contain a server's address or host name, or "".
func (n drainNode) clientsAnswered(ctx context.Context, s api.Backend) (string, error) {
	kind := "A"
	if strings.Contains(s.Address, ":") {
		kind = "AAAA"
	}
	list, err := n.RoutingAnswers(ctx, s.Service, kind)
	if fleet.IsNotFound(err) {
		return "", nil
	}
	given := func(share api.RoutingShare) bool { return share.Address == s.Address || share.Address == s.Target }
	var who []string
	for _, answer := range list.Answers {
		if slices.ContainsFunc(answer.Addresses, given) {
			who = append(who, clientsOf(answer))
		}
	}
	slices.Sort(who)
	return strings.Join(slices.Compact(who), ", "), err
}

// stillAnswered explains why answers of a node contain a server with share zero.
func (w *drainWait) stillAnswered(n drainNode, s api.Backend, clients string, all []api.Backend) string {
	reason := fmt.Sprintf("%s still answers %s with %s%s", n.Client.Node(), s.Service, s.Address, inBrackets(s.Target))
	if clients != "" {
		reason += " to clients in " + clients
	}
	ours := func(b api.Backend) bool {
		return slices.ContainsFunc(w.servers, func(s api.Backend) bool { return s.ID == b.ID })
	}
	same := slices.IndexFunc(all, func(b api.Backend) bool { return b.Address == s.Address && !ours(b) })
	if same >= 0 {
		return reason + ", because " + all[same].ID + " has the same address: drain " + s.Address
	}
	same = slices.IndexFunc(all, func(b api.Backend) bool {
		return s.Target != "" && b.Target == s.Target && b.MayServe && b.Share > 0 && !ours(b)
	})
	if same >= 0 {
		return reason + ", because " + all[same].ID + " has the same host name: drain it as well"
	}
	if !slices.ContainsFunc(all, func(b api.Backend) bool { return b.MayServe && b.Share > 0 && !ours(b) }) {
		return reason + ", because no other backend of the name can serve"
	}
	return reason
}

// unanswered returns a sentence if the node serves a domain, and its DNS answer has neither addresses of the family
// (IPv6 if six) nor a CNAME record. Otherwise it returns "". A disabled domain is not served.
func (n drainNode) unanswered(ctx context.Context, service string, six bool, timeout time.Duration) []string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if detail, err := n.Domain(ctx, service); fleet.IsNotFound(err) || err == nil && !detail.Domain.Enabled {
		return nil
	}
	conn, err := dnsask.Dial(ctx, n.DNS)
	if err != nil {
		return []string{fleet.ExplainDNS(err, n.DNS)}
	}
	defer conn.Close()
	answer, err := conn.Ask(ctx, concrete(service), six)
	switch {
	case err != nil:
		return []string{fleet.ExplainDNS(err, n.DNS)}
	case len(answer.Addresses) > 0, answer.Alias != "":
		return nil
	}
	return []string{fmt.Sprintf("%s no longer answers %s: %s", n.Client.Node(), service, cmp.Or(answer.Failure,
		"no address"))}
}
