package demo

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// observeEvery is the interval of the requests to the nodes for their view of the backends.
const observeEvery = 200 * time.Millisecond

// opinion is the status of a backend on a node.
type opinion struct {
	status string // effective_status; both words with a slash if the two services differ
	serves bool   // for at least one of the two services
	reason string
	heard  time.Time // last report of the agent; zero if no agent has reported
}

// picture is a snapshot of all backends of a node. It is immutable after publication.
type picture struct {
	at time.Time // zero: the node has not answered
	of map[netip.Addr]opinion
}

// observer polls all nodes and stores the latest snapshot of each node.
type observer struct {
	nodes []*harness.Node

	mu       sync.Mutex
	pictures map[*harness.Node]picture
}

// run polls until ctx ends.
func (o *observer) run(ctx context.Context) {
	tick := time.NewTicker(observeEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, n := range o.nodes {
			p := look(ctx, n)
			o.mu.Lock()
			o.pictures[n] = p
			o.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (o *observer) of(n *harness.Node) picture {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pictures[n]
}

// look requests the view of a node.
func look(ctx context.Context, n *harness.Node) picture {
	if !n.Running() {
		return picture{}
	}
	list, err := n.Client.Backends(ctx, api.BackendFilter{})
	if err != nil {
		return picture{}
	}
	p := picture{at: time.Now(), of: map[netip.Addr]opinion{}}
	for _, b := range list.Backends {
		addr, err := netip.ParseAddr(b.Address)
		if err != nil {
			return picture{}
		}
		p.of[addr] = merge(p.of[addr], b)
	}
	return p
}

// merge combines the status of a backend for its two services on a node.
func merge(o opinion, b api.Backend) opinion {
	status := string(b.EffectiveStatus)
	switch {
	case o.status == "":
		o.status = status
	case o.status != status:
		o.status += "/" + status
	}
	if !b.MayServe || o.reason == "" {
		o.reason = b.Reason
	}
	o.serves = o.serves || b.MayServe
	if b.AgentLastSeen != nil {
		o.heard = *b.AgentLastSeen
	}
	return o
}

// describe returns a short text about an answer.
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
