package gossip

import (
	"encoding/hex"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	// maxRejectedNodes is the maximum number of certificates of other nodes that agents reject.
	maxRejectedNodes = 32
	// maxRejectingAgents is the maximum number of stored agents per rejected node.
	maxRejectingAgents = 64
	// rejectedBeats is the number of heartbeat intervals after which the report of a silent agent ends.
	rejectedBeats = 3
	// maxRejectedInterval is the maximum heartbeat interval of an agent, according to its heartbeats.
	maxRejectedInterval = time.Hour

	// maxGreetings is the maximum number of stored agents that have read this node's Hello and have not sent a message.
	maxGreetings = 1024
	// greetingsApart is the minimum time between the first and the last Hello to an agent that rejects this node. An agent
	// that accepts the certificate enrolls immediately.
	greetingsApart = 10 * time.Second
	// greetingLasts is three times the longest pause of an agent between two attempts.
	greetingLasts = 45 * time.Second
)

// RejectedNode is another overwatch node with a certificate that agents reject, according to authenticated agents.
type RejectedNode struct {
	NodeID string
	KeyID  identity.KeyID
	Agents []string // sorted, at most maxRejectingAgents
}

// rejections stores the reports of agents about other nodes. Any goroutine may use it.
type rejections struct {
	mu    sync.Mutex
	nodes map[wire.NodeCertificate]map[string]time.Time // expiry time, by agent id
}

// replaceReport replaces the nodes that an authenticated agent rejects.
func (r *rejections) replaceReport(agentID string, m *wire.Heartbeat, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(m.Rejected) == 0 && len(r.nodes) == 0 {
		return
	}
	for certificate, agents := range r.nodes {
		delete(agents, agentID)
		if len(agents) == 0 {
			delete(r.nodes, certificate)
		}
	}
	every := time.Duration(m.IntervalMillis) * time.Millisecond
	until := now.Add(rejectedBeats * min(max(every, time.Second), maxRejectedInterval))
	for _, one := range m.Rejected {
		agents := r.nodes[one]
		if agents == nil && len(r.nodes) >= maxRejectedNodes || len(agents) >= maxRejectingAgents {
			r.expire(now)
			agents = r.nodes[one]
		}
		if agents == nil && len(r.nodes) < maxRejectedNodes && identity.ValidateID(one.NodeID) == nil {
			agents = make(map[string]time.Time)
			r.nodes[one] = agents
		}
		if agents != nil && len(agents) < maxRejectingAgents {
			agents[agentID] = until
		}
	}
}

// expire removes the reports of silent agents. The caller holds mu.
func (r *rejections) expire(now time.Time) {
	for certificate, agents := range r.nodes {
		maps.DeleteFunc(agents, func(_ string, until time.Time) bool { return !now.Before(until) })
		if len(agents) == 0 {
			delete(r.nodes, certificate)
		}
	}
}

// list returns the rejected nodes, ordered by id.
func (r *rejections) list(now time.Time) (list []RejectedNode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for certificate, agents := range r.nodes {
		one := RejectedNode{NodeID: certificate.NodeID, KeyID: certificate.KeyID}
		for agent, until := range agents {
			if now.Before(until) {
				one.Agents = append(one.Agents, agent)
			}
		}
		if slices.Sort(one.Agents); len(one.Agents) > 0 {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b RejectedNode) int { return strings.Compare(a.NodeID, b.NodeID) })
	return list
}

// RejectedNodes lists the other nodes with a certificate that agents reject, ordered by id.
func (n *Node) RejectedNodes() []RejectedNode { return n.rejections.list(time.Now()) }

// introductions returns the rejected nodes that this node introduces.
func (n *Node) introductions(rejected []wire.NodeCertificate) (introduced []wire.NodeCertificate) {
	for _, one := range rejected {
		if n.options.Introduces(one.NodeID, one.KeyID) {
			introduced = append(introduced, one)
		}
	}
	return introduced
}

// greetings contains the agents that have read this node's Hello and have sent no message since, because they reject
// its certificate. The holder of the gossip key can forge entries. Any goroutine may use it.
type greetings struct {
	mu  sync.Mutex
	all map[string]greeting // by the agent's gossip name
}

type greeting struct {
	first, last time.Time
	from        netip.Addr
}

// add records that an agent has read the Hello.
func (g *greetings) add(name string, from netip.Addr, now time.Time) {
	if !isAgentName(name) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	one, known := g.all[name]
	if !known || now.Sub(one.last) > greetingLasts {
		one.first = now
	}
	if !known && len(g.all) >= maxGreetings {
		for other, old := range g.all {
			if now.Sub(old.last) > greetingLasts {
				delete(g.all, other)
			}
		}
		if len(g.all) >= maxGreetings {
			return
		}
	}
	one.last, one.from = now, from
	g.all[name] = one
}

// remove removes an agent that has sent a message.
func (g *greetings) remove(key identity.KeyID, epoch uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.all) > 0 {
		delete(g.all, frame.AgentName(key, epoch))
	}
}

// countSilent returns the number of agents that have read the Hello at least twice within greetingsApart or longer, and
// the address of any such agent.
func (g *greetings) countSilent(now time.Time) (count int, from netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.all {
		if now.Sub(one.last) <= greetingLasts && one.last.Sub(one.first) >= greetingsApart {
			count, from = count+1, one.from
		}
	}
	return count, from
}

// Rejecting returns the number of agents that probably reject the certificate of this node, and the address of one of
// them. They have read the Hello of this node several times and have sent no message. This is no proof, because the
// holder of the gossip key can forge entries.
func (n *Node) Rejecting() (count int, from netip.Addr) {
	return n.transport.greetings.countSilent(time.Now())
}

// isAgentName reports whether a name in gossip has the form of frame.AgentName.
func isAgentName(name string) bool {
	key, epoch, found := strings.Cut(name, "-")
	_, err := hex.DecodeString(key)
	return found && err == nil && len(key) == len(identity.KeyID{}) && epoch != "" && len(epoch) <= 16
}
