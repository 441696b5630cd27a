package keysync

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
)

// About describes a node to its peers, in addition to its keys. A node of an earlier version sends none.
type About struct {
	Region  string    `json:"region,omitempty"`
	Version string    `json:"version,omitempty"`
	Port    uint16    `json:"dns_port,omitempty"`
	Started time.Time `json:"started_at,omitzero"`
	// Algorithm is the algorithm of new keys of the node.
	Algorithm dnssec.Algorithm `json:"algorithm,omitempty"`
	Queries   uint64           `json:"queries,omitempty"` // number of queries that the node has received
	// Gossip is the address of its gossip.
	Gossip netip.AddrPort `json:"gossip,omitzero"`
}

func (s *Sync) about() About {
	var a About
	if s.o.About != nil {
		a = s.o.About()
	}
	a.Algorithm = s.settings.Get().Algorithm
	return a
}

// About returns the description that a peer sent with its last keys, and the time. peer is a base URL. It returns zero
// values if the peer has sent no description.
func (s *Sync) About(peer string) (About, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.status.peers[peer]
	return p.about, p.told
}

// Gossip returns the latest gossip addresses of the peers, by authenticated node id.
func (s *Sync) Gossip() map[string]netip.AddrPort {
	peers := s.settings.Get().Peers
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make(map[string]netip.AddrPort, len(peers))
	for _, peer := range peers {
		if p := s.status.peers[peer]; p.node != "" && p.about.Gossip.IsValid() {
			known[p.node] = p.about.Gossip
		}
	}
	return known
}
