package replication

import (
	"encoding/json"
	"slices"

	"gslb.internal/shared/identity"
)

// maxServing is the maximum number of names in facts, and maxServed the maximum length of a name in octets.
const (
	maxServing = 10_000
	maxServed  = 255
)

// facts describes the answering node to a peer. Nodes of earlier versions send no facts.
type facts struct {
	// Certificate is the key id of the node's agent-facing certificate.
	Certificate []byte `json:"certificate,omitempty"`
	// Serving lists at most maxServing names with a backend that may serve. Only the first answer to a process contains
	// it.
	Serving names `json:"serving,omitempty"`
}

// names are names of domains.
type names []string

// UnmarshalJSON reads at most maxServing names. It omits texts that are longer than a name.
func (n *names) UnmarshalJSON(text []byte) error {
	_, err := readList(text, func(d *json.Decoder) (more bool, err error) {
		var name string
		if err := d.Decode(&name); err != nil {
			return false, err
		}
		if len(name) <= maxServed {
			*n = append(*n, name)
		}
		return len(*n) < maxServing, nil
	})
	return err
}

// facts returns the facts about this node. first is true for the first answer of this process to the peer.
func (r *Replication) facts(first bool) (f facts) {
	if r.o.Certificate != (identity.KeyID{}) {
		f.Certificate = r.o.Certificate[:]
	}
	if first && r.o.Serving != nil {
		f.Serving = r.o.Serving()
		f.Serving = f.Serving[:min(len(f.Serving), maxServing)]
	}
	return f
}

// recordIn records the facts of a peer. The caller holds Replication.mu.
func (f *facts) recordIn(p *peer) {
	p.certificate = identity.KeyID{}
	if len(f.Certificate) == len(p.certificate) {
		p.certificate = identity.KeyID(f.Certificate)
	}
	if p.serving == nil && len(f.Serving) > 0 {
		p.serving = f.Serving
	}
}

// Introduces reports whether exactly one peer has authenticated with the given node id, and has sent the given
// certificate key id in its last answer. It returns false for a peer that does not answer.
func (r *Replication) Introduces(node string, certificate identity.KeyID) bool {
	if node == r.o.NodeID || certificate == (identity.KeyID{}) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found := false
	for _, p := range r.peers {
		if p.self || !p.connected || p.node != node {
			continue
		}
		if p.certificate != certificate {
			return false // two nodes have the id, or the certificate is outdated
		}
		found = true
	}
	return found
}

// PeersServe returns the sorted names that a peer served when it first answered this process. pending is true while a
// peer has neither answered nor failed.
func (r *Replication) PeersServe() (names []string, pending bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if !p.self {
			names = append(names, p.serving...)
			pending = pending || !p.connected && p.err == nil
		}
	}
	slices.Sort(names)
	return slices.Compact(names), pending
}
