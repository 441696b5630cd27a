package keysync

import "time"

// About is what a node tells its peers of itself beside its keys. An earlier version tells nothing.
type About struct {
	Region  string    `json:"region,omitempty"`
	Version string    `json:"version,omitempty"`
	Port    uint16    `json:"dns_port,omitempty"`
	Started time.Time `json:"started_at,omitzero"`
	Queries uint64    `json:"queries,omitempty"` // that it has received
}

func (s *Sync) about() About {
	if s.o.About == nil {
		return About{}
	}
	return s.o.About()
}

// About returns what a peer, given by its base URL, told with its last keys, and when; the zero values if it never did.
func (s *Sync) About(peer string) (About, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.status.peers[peer]
	return p.about, p.told
}
