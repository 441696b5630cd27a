package nodes // inside: it calls joinPeers without sources

import (
	"reflect"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/shared/api"
)

func TestJoinPeers_ListsWhomOnlyTheExchangeOfKeysKnows(t *testing.T) {
	seen := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	joined := joinPeers([]api.OverwatchNode{{ID: "ow-1", Self: true, APIPort: 1},
		{ID: "ow-2", Status: api.OverwatchDegraded, Address: "192.0.2.2"}}, []api.DNSSECPeer{
		{Peer: "http://127.0.0.1:9", NodeID: "ow-1"},
		{Peer: "https://ow-2.example.com", NodeID: "ow-2", OK: true, LastSuccess: &seen},
		{Peer: "https://[2001:db8::3]:9090", NodeID: "ow-3", OK: true, LastSuccess: &seen},
		{Peer: "http://ow-4.example.com:8080"},
	}, func(peer string, node *api.OverwatchNode) {
		if node.ID == "ow-3" {
			tellAbout(node, keysync.About{Region: "us", Version: "1", Port: 53, Started: seen.Add(-100 * time.Second),
				Queries: 50}, seen, seen.Add(time.Minute))
		}
	})
	want := []api.OverwatchNode{
		{ID: "ow-1", Self: true, APIPort: 1},
		{ID: "ow-2", Status: api.OverwatchDegraded, Address: "192.0.2.2", APIPort: 443, DNSSECEnabled: true},
		{ID: "ow-3", Name: "ow-3", Status: api.OverwatchOnline, Address: "2001:db8::3", APIPort: 9090, LastSeen: &seen,
			DNSSECEnabled: true, Region: "us", Version: "1", Port: 53, UptimeSeconds: new(int64(160)),
			QueriesTotal: new(uint64(50)), QueriesPerSec: 0.5},
		{ID: "ow-4.example.com:8080", Name: "ow-4.example.com:8080", Status: api.OverwatchOffline,
			Address: "ow-4.example.com", APIPort: 8080},
	}
	if !reflect.DeepEqual(joined, want) {
		t.Errorf("%+v\nwant %+v", joined, want)
	}
}
