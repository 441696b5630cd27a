package control // inside: it looks at save

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
)

// noBackends is a registry without declared backends.
type noBackends struct{}

func (noBackends) Service(string) []*registry.Backend { return nil }

// After a restart, a node knows the durations of its checks and the backends that it selected by them for each group of
// clients.
func TestLatencies_AreRestoredAsTheyWereSaved(t *testing.T) {
	kept, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	before := map[registry.ID]policy.LatencyMeasurement{
		{Service: "app.gslb.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80}: {Smoothed: 20 * time.Millisecond,
			Samples: 3, Groups: []string{"geolocation eu", "latency"}},
	}
	publisher, err := publish.New(publish.Options{
		Settings: publish.Settings{
			DNS:     config.DNS{Zones: []config.Zone{{Name: "gslb.test"}}},
			Domains: []config.Domain{{Name: "app.gslb.test", RoutingAlgorithm: "latency"}},
			NodeID:  "node-1", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7")},
		},
		Backends: noBackends{}, Latencies: before, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	keeper := LatencyKeeper{Store: kept, Publisher: publisher}
	if err := keeper.save(); err != nil {
		t.Fatal(err)
	}
	if after, err := Latencies(kept); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("%+v (%v), want %+v", after, err, before)
	}
}
