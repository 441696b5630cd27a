package hints_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/cluster/hints"
	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/registry"
)

// BenchmarkHint measures a hint about a backend to a peer: the processor time of both nodes, without the network.
func BenchmarkHint(b *testing.B) {
	w := newNetwork()
	e, err := hints.New(hints.Options{NodeID: "b", Settings: hints.Settings{Secret: []byte(secret)},
		Peers:   func() []replication.Reachable { return nil },
		Backend: func(id registry.ID) *registry.Backend { return &registry.Backend{ID: id} },
		Check:   func(registry.ID) {}, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(), Votes: noVotes})
	if err != nil {
		b.Fatal(err)
	}
	w.nodes["b"] = e
	client := &peerauth.Client{Node: "a", Peer: "http://b", Secret: []byte(secret), MaxBody: 1 << 20,
		HTTP: peerauth.NewHTTPClient(w)}
	for b.Loop() {
		if _, err := client.Get(b.Context(), hints.Path+"?backends=app.example.org%3A192.0.2.1%3A80"); err != nil {
			b.Fatal(err)
		}
	}
}
