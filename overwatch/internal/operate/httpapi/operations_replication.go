package httpapi

import (
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/shared/api"
)

// maxChange bounds the numbers of changes: larger ones are not exact in JSON.
const maxChange = 1 << 53

func replicationOperations() []Operation {
	return []Operation{
		{Method: get, Path: v1 + "/replication", handle: (*Server).getReplication, Query: none,
			Summary: "How operators' decisions reach the other nodes", Status: 200,
			Answer: api.Replication{Enabled: true, NodeID: "overwatch-1", Objects: 12, Tombstones: 1, Digest: "0f1e2d3c",
				Peers: []api.ReplicationPeer{{Peer: "http://overwatch-2.example.com:8080", NodeID: "overwatch-2",
					Connected: true, Since: at(), ClockDifferenceMS: 3}},
				Refused: []api.ReplicationRefused{{Kind: "domain", Name: "app.example.org",
					Reason: "it does not go with the configuration of this node"}},
				Unused: []api.ReplicationRefused{{Kind: "override", Name: "old.example.com 192.0.2.1:80",
					Reason: "no name old.example.com is answered"}}, UnusedTotal: 1}},
		{Method: get, Path: replication.Path, handle: (*Server).getReplicationObjects, Role: api.RoleNone, nodes: true,
			Summary: "To a node that proves itself, what operators decided, sealed; to others, nothing", Status: 200,
			Query: []Parameter{number("since", "the last change that the node was told of", 0, maxChange, 0),
				number("has", "the last change up to which it has stored all, at most since", 0, maxChange, maxChange),
				text("instance", "of which process of this node, and the clock of the asking node", nil),
				flag("hold", "wait while there is nothing new")},
			Answer: api.ReplicationObjects{Sealed: "p5cW"}},
	}
}
