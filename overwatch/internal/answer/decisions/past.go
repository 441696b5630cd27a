package decisions

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// Past is the content of a sampled answer without the basis of its decision.
type Past struct {
	ID           string         `json:"id"`
	At           time.Time      `json:"at"`
	Domain       string         `json:"domain"` // with its final dot
	Client       netip.Prefix   `json:"client"`
	ClientRegion string         `json:"client_region,omitempty"`
	Family       policy.Family  `json:"family"`
	Algorithm    string         `json:"algorithm"`
	Outcome      policy.Outcome `json:"outcome"`
	Server       *Server        `json:"server,omitempty"` // nil for an answer without an address
	Generation   uint64         `json:"generation"`
}

// Server is the backend of the first address or name of an answer.
type Server struct {
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port"`
	Target  string     `json:"target,omitempty"`
	Region  string     `json:"region,omitempty"`
}

// Past repeats the decision and returns its content.
func (d *Decision) Past() Past {
	basis := d.Steered.Input
	decision, selected := d.Decide()
	p := Past{
		ID: d.ID, At: d.At, Domain: basis.Name, Client: d.Client, ClientRegion: d.Steered.ClientLocation().Region,
		Family: d.Steered.Family, Algorithm: decision.Algorithm.String(), Outcome: decision.Outcome,
		Generation: basis.Generation,
	}
	if selected != nil {
		p.Server = &Server{selected.Address, selected.Port, selected.Target, selected.Region}
	}
	return p
}

// Restored returns the sampled answers of earlier processes, the latest first. The caller must not change them.
func (r *Recorder) Restored() []Past {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.restored
}
