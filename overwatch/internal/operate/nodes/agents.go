package nodes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// Agents lists the pinned and the announced agents, by ID.
func (s *Sources) Agents() []api.AgentNode {
	set, _ := s.Defined()
	var nodes []api.AgentNode
	pinned := map[string]bool{}
	for _, r := range s.Pins.Agents() {
		pinned[r.AgentID] = true
		nodes = append(nodes, s.Agent(r, set.Nodes[r.AgentID]))
	}
	for id, announced := range set.Nodes {
		if !pinned[id] {
			nodes = append(nodes, Pending(announced))
		}
	}
	slices.SortFunc(nodes, func(a, b api.AgentNode) int { return strings.Compare(a.ID, b.ID) })
	return nodes
}

// Pending describes an announced agent that has not authenticated.
func Pending(n *store.Node) api.AgentNode {
	return api.AgentNode{
		ID: n.ID, Name: n.ID, Address: n.Address, Port: n.Port, Region: n.Region, Version: n.Version,
		Status: api.AgentPending, RegisteredAt: api.MomentOrNull(n.RegisteredAt),
	}
}

// Agent describes a pinned agent as a node. Its status is online while its heartbeats arrive.
func (s *Sources) Agent(r trust.Record, announced *store.Node) api.AgentNode {
	node := api.AgentNode{
		ID: r.AgentID, Name: r.AgentID, Region: r.Region, Status: api.AgentOffline, Version: r.Version,
		CertificateExpiry: api.MomentOrNull(r.NotAfter), RegisteredAt: api.MomentOrNull(r.FirstSeen),
	}
	if announced != nil {
		node.Address, node.Port = announced.Address, announced.Port
	}
	if from := s.HeardFrom(r.KeyID); from.IsValid() {
		node.Address, node.Port = parts(from)
	}
	state, heard := s.View.Agent(r.AgentID)
	if !heard {
		return node
	}
	node.Region, node.Version = cmp.Or(state.Region, r.Region), cmp.Or(state.Version, r.Version)
	node.LastSeen, node.LeftAt = api.MomentOrNull(state.LastSeen), api.MomentOrNull(state.LeftAt)
	node.UptimeSeconds = int64(state.Uptime / time.Second)
	node.ChecksTotal, node.ActiveChecks, node.TargetCount = state.Figures.ChecksTotal, state.Backends, state.Backends
	if seconds := state.Uptime.Seconds(); seconds > 0 {
		node.ChecksPerSec = float64(state.Figures.ChecksTotal) / seconds
	}
	if conditions.AgentStatus(state, s.Now()) != api.GossipDead {
		node.Status = api.AgentOnline
	}
	return node
}

// Pinned describes an agent: its pin, its reports and times from the registry, and its problems.
func (s *Sources) Pinned(r trust.Record, troubles []trust.Trouble) api.Agent {
	view := api.Agent{
		AgentID:        r.AgentID,
		Fingerprint:    r.KeyID.Fingerprint(),
		Region:         r.Region,
		Services:       append([]string{}, r.Services...),
		Version:        r.Version,
		FirstSeen:      api.Stamp(r.FirstSeen),
		NotAfter:       api.Stamp(r.NotAfter),
		ExpiresInHours: float64(int64(r.ExpiresInHours*10)) / 10,
		Revoked:        r.Revoked,
		RevokedAt:      api.MomentOrNull(r.RevokedAt),
		RevokedReason:  r.RevokedReason,
	}
	var refused []wire.RefusedClaim
	if state, heard := s.View.Agent(r.AgentID); heard {
		refused = state.Refused
		view.LastSeen, view.LeftAt = api.MomentOrNull(state.LastSeen), api.MomentOrNull(state.LeftAt)
		view.Backends = state.Backends
		view.Region, view.Version = cmp.Or(state.Region, r.Region), cmp.Or(state.Version, r.Version)
	}
	view.Problems = conditions.Problems(r.AgentID, troubles, refused)
	return view
}
