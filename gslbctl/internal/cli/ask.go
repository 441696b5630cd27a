package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/dnsask"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
)

// maxAsked is the maximum number of domains that one refresh queries at each node.
const maxAsked = 50

// askedDomain holds the answers of all nodes to one question.
type askedDomain struct {
	Name    string     `json:"name"`
	Type    string     `json:"type"` // A or AAAA
	Replies []dnsReply `json:"replies"`
}

// dnsReply is the answer of a node.
type dnsReply struct {
	Node      string   `json:"node"`
	Addresses []string `json:"addresses"`
	Alias     string   `json:"alias,omitempty"` // host name of a CNAME record
	TTL       int      `json:"ttl"`             // seconds
	Error     string   `json:"error,omitempty"`
}

func (r dnsReply) cell() render.Cell {
	switch {
	case r.Error != "":
		return render.Cell{Text: r.Error, Tone: render.Bad}
	case len(r.Addresses) == 0:
		return render.C(cmp.Or(r.Alias, "no address"))
	}
	return render.C(strings.Join(r.Addresses, " "))
}

func (r dnsReply) ttl() render.Cell {
	if len(r.Addresses) == 0 && r.Alias == "" {
		return render.C(render.None)
	}
	return render.C(render.Span(time.Duration(r.TTL) * time.Second))
}

// families are the queried address types.
var families = []string{"A", "AAAA"}

// askAll queries the DNS servers of all nodes concurrently for the addresses of the domains. It omits questions for
// which every node answers without an address. It keeps failed questions.
func askAll(ctx context.Context, nodes []fleet.Node, domains []string, timeout time.Duration) []askedDomain {
	domains = domains[:min(len(domains), maxAsked)]
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	byNode := make([][]dnsReply, len(nodes))
	fleet.ForEach(len(nodes), func(i int) { byNode[i] = askNode(ctx, nodes[i], domains) })
	var list []askedDomain
	for k, name := range domains {
		for f, family := range families {
			asked := askedDomain{Name: name, Type: family}
			for i := range nodes {
				asked.Replies = append(asked.Replies, byNode[i][k*len(families)+f])
			}
			if family == "A" || slices.ContainsFunc(asked.Replies,
				func(r dnsReply) bool { return len(r.Addresses) > 0 }) {
				list = append(list, asked)
			}
		}
	}
	return list
}

// askNode sends all questions to one node on one connection. After the first failure, all following questions get the
// same error.
func askNode(ctx context.Context, n fleet.Node, domains []string) []dnsReply {
	replies := make([]dnsReply, 0, len(domains)*len(families))
	conn, failed := dnsask.Dial(ctx, n.DNS)
	if failed == nil {
		defer conn.Close()
	}
	for _, name := range domains {
		for _, family := range families {
			r := dnsReply{Node: n.Node(), Addresses: []string{}}
			var answer dnsask.Answer
			if failed == nil {
				answer, failed = conn.Ask(ctx, concrete(name), family == "AAAA")
			}
			switch {
			case failed != nil:
				r.Error = fleet.ExplainDNS(failed, n.DNS)
			default:
				r.Error, r.TTL, r.Alias = answer.Failure, int(answer.TTL/time.Second), answer.Alias
				for _, address := range answer.Addresses {
					r.Addresses = append(r.Addresses, address.String())
				}
			}
			replies = append(replies, r)
		}
	}
	return replies
}
