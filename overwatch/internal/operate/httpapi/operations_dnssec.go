package httpapi

import (
	"time"

	"gslb.internal/shared/api"
)

func dnssecOperations() []Operation {
	return []Operation{
		{Method: get, Path: v1 + "/dnssec/status", handle: (*Server).getDNSSECStatus,
			Summary: "Whether answers are signed, and with which keys", Status: 200,
			Answer: api.DNSSECStatus{Enabled: true, Keys: []api.DNSSECKeyUse{
				{KeyTag: 12345, Zone: "example.com.", Flags: 257, Algorithm: 13, CreatedAt: at(), AgeSeconds: 86400, Active: true,
					Stage: api.StageActive}},
				Sync: api.DNSSECSyncState{Enabled: true, LastSync: new(at()), NextSync: new(at().Add(time.Hour)), PeerCount: 1,
					Peers: []api.DNSSECPeer{{
						Peer: "http://overwatch-2.example.com:8080", NodeID: "overwatch-2", OK: true, LastAttempt: new(at()),
						LastSuccess: new(at())}}}}},
		{Method: get, Path: v1 + "/dnssec/ds", handle: (*Server).listDSRecords,
			Summary: "Delegation signer records for the parents", Status: 200,
			Answer: api.DSRecords{Enabled: true, DSRecords: []api.DSRecord{
				{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: "0F1E2D3C",
					DSRecord: "example.com. IN DS 12345 13 2 0F1E2D3C"}}, NoDS: []string{}}},
		{Method: get, Path: v1 + "/dnssec/parent/{zone}", handle: signing((*Server).getParentDS),
			Summary: "DS records at the servers of a zone's parent", Status: 200, Errors: []int{absent, busy},
			Description: "The node queries overwatch.dnssec.rollover.parent_servers, or the servers that its resolver " +
				"finds, for at most 8 seconds.",
			Answer: api.ParentDS{Zone: "example.com.", Configured: true, DSRecords: []api.DSRecord{
				{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: "0F1E2D3C",
					DSRecord: "example.com. IN DS 12345 13 2 0F1E2D3C"}}}},
		{Method: post, Path: v1 + "/dnssec/sync", Changes: KindNode,
			handle: (*Server).postDNSSECSync, Role: api.RoleOperate,
			Summary: "Ask the other nodes for their keys now", Status: 200, Errors: []int{conflict, busy},
			Answer: api.DNSSECSync{Synced: true, Peers: []api.DNSSECPeerSync{
				{Peer: "http://overwatch-2.example.com:8080", OK: true, Imported: 1}}}},
		{Method: get, Path: v1 + "/dnssec/keys", handle: (*Server).listDNSSECKeys, Role: api.RoleNone, nodes: true,
			Summary: "Public halves of the signing keys; to a node that proves itself, all of them sealed", Status: 200,
			Answer: api.DNSSECKeys{Enabled: true, Keys: []api.DNSSECKey{
				{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, AlgorithmName: "ECDSAP256SHA256", Flags: 257,
					PublicKey: "mdsswUyr3DPW132mOi8V9xESWE8jTo0d", CreatedAt: at(), State: api.KeyActive,
					Stage: api.StageActive, OriginNode: "overwatch-1"}}}},
	}
}
