package decisions

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// Summary is a sampled answer without its decision input.
type Summary struct {
	ID           string         `json:"id"`
	At           time.Time      `json:"at"`
	Domain       string         `json:"domain"` // with the final dot
	Client       netip.Prefix   `json:"client"`
	ClientRegion string         `json:"client_region,omitempty"`
	Family       policy.Family  `json:"family"`
	Algorithm    string         `json:"algorithm"`
	Outcome      policy.Outcome `json:"outcome"`
	Server       *Server        `json:"server,omitempty"` // nil for an answer without an address
	Generation   uint64         `json:"generation"`
}

// Server is the backend of the first address or alias target of an answer.
type Server struct {
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port"`
	Target  string     `json:"target,omitempty"`
	Region  string     `json:"region,omitempty"`
}

// Summary repeats the decision and returns the summary of the sample.
func (d *Decision) Summary() Summary {
	input := d.Selection.Input
	decision, selected := d.Repeat()
	p := Summary{
		ID: d.ID, At: d.At, Domain: input.Name, Client: d.Client, ClientRegion: d.Selection.ClientLocation().Region,
		Family: d.Selection.Family, Algorithm: decision.Algorithm.String(), Outcome: decision.Outcome,
		Generation: input.Generation,
	}
	if selected != nil {
		p.Server = &Server{selected.Address, selected.Port, selected.Target, selected.Region}
	}
	return p
}

// Restored returns the sampled answers of earlier processes, the latest first. The caller must not change them.
func (r *Recorder) Restored() []Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.restored
}
