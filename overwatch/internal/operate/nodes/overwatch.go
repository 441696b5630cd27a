package nodes

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/shared/api"
)

// Overwatch lists this node first, then its peers by ID.
func (s *Sources) Overwatch() []api.OverwatchNode {
	nodes := []api.OverwatchNode{s.ownNode()}
	for _, m := range s.Members() {
		if m.Self {
			continue
		}
		status := api.OverwatchOffline
		switch m.Status {
		case gossip.StatusAlive:
			status = api.OverwatchOnline
		case gossip.StatusSuspect:
			status = api.OverwatchDegraded
		}
		node := api.OverwatchNode{ID: m.Name, Name: m.Name, Region: m.Region, Status: status, Version: m.Version,
			LastSeen: api.MomentOrNull(m.LastSeen)}
		node.Address, _ = parts(m.Address)
		nodes = append(nodes, node)
	}
	if s.Peers != nil {
		nodes = joinPeers(nodes, s.Peers.Status().Peers, func(peer string, node *api.OverwatchNode) {
			about, told := s.Peers.About(peer)
			tellAbout(node, about, told, s.Now())
		})
	}
	slices.SortStableFunc(nodes[1:], func(a, b api.OverwatchNode) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Address, b.Address))
	})
	return nodes
}

// joinPeers adds the peers of the key exchange: the API ports of nodes that gossip lists, and further nodes. The ID of
// an unauthenticated node is its address.
func joinPeers(nodes []api.OverwatchNode, peers []api.DNSSECPeer,
	tell func(peer string, node *api.OverwatchNode)) []api.OverwatchNode {
	for _, p := range peers {
		node := api.OverwatchNode{ID: p.NodeID, Status: api.OverwatchOffline, LastSeen: p.LastSuccess}
		if at, err := url.Parse(p.Peer); err == nil {
			node.ID, node.Address = cmp.Or(node.ID, at.Host), at.Hostname()
			port := cmp.Or(at.Port(), map[string]string{"http": "80", "https": "443"}[at.Scheme])
			node.APIPort, _ = strconv.Atoi(port)
		}
		node.Name = node.ID
		if p.OK {
			node.Status, node.DNSSECEnabled = api.OverwatchOnline, true
		}
		at := slices.IndexFunc(nodes, func(n api.OverwatchNode) bool { return n.ID == node.ID })
		switch {
		case at < 0:
			tell(p.Peer, &node)
			nodes = append(nodes, node)
		case !nodes[at].Self:
			known := &nodes[at]
			known.APIPort, known.Address = node.APIPort, cmp.Or(known.Address, node.Address)
			known.DNSSECEnabled = node.DNSSECEnabled
			tell(p.Peer, known)
		}
	}
	return nodes
}

// tellAbout adds the description that a peer sent with its last keys at the time told. The uptime grows with now unless
// the node is down. The number of queries is from the time told.
func tellAbout(node *api.OverwatchNode, about keysync.About, told, now time.Time) {
	node.Region, node.Version = cmp.Or(node.Region, about.Region), cmp.Or(node.Version, about.Version)
	node.Port = int(about.Port)
	if about.Started.IsZero() {
		return
	}
	node.QueriesTotal = &about.Queries
	if up := told.Sub(about.Started).Seconds(); up > 0 {
		node.QueriesPerSec = float64(about.Queries) / up
	}
	if node.Status != api.OverwatchOffline {
		node.UptimeSeconds = new(int64(max(now.Sub(about.Started), 0).Seconds()))
	}
}

// gossipAddress returns this node's address in gossip.
func (s *Sources) gossipAddress() string {
	for _, m := range s.Members() {
		if m.Self && m.Address.IsValid() {
			return m.Address.Addr().String()
		}
	}
	return ""
}

func (s *Sources) ownNode() api.OverwatchNode {
	now := s.Now()
	cfg, _ := s.Config()
	self := s.Self()
	up := now.Sub(s.StartedAt).Seconds()
	node := api.OverwatchNode{
		ID: s.NodeID, Name: s.NodeID, Region: cfg.Overwatch.Identity.Region, Status: api.OverwatchOnline,
		Version:       s.Version,
		UptimeSeconds: new(int64(up)), LastSeen: api.MomentOrNull(now), QueriesTotal: &self.Queries,
		DNSSECEnabled: s.Signs, Self: true, APIPort: s.APIPort,
	}
	if !s.Ready().Ready {
		node.Status = api.OverwatchDegraded
	}
	if up > 0 {
		node.QueriesPerSec = float64(self.Queries) / up
	}
	if len(self.Addresses) > 0 {
		node.Address, node.Port = parts(self.Addresses[0])
		if self.Addresses[0].Addr().IsUnspecified() {
			node.Address = s.gossipAddress()
		}
	}
	return node
}
