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
	Queries   uint64           `json:"queries,omitempty"` // number of queries that it has received
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

// About returns the description that a peer, given by its base URL, sent with its last keys, and when; the zero values
// if it never did.
func (s *Sync) About(peer string) (About, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.status.peers[peer]
	return p.about, p.told
}

// Gossip returns the gossip addresses that the peers have last sent, by the ids that they have proved.
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
