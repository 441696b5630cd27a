package api

import (
	"context"
	"time"
)

// Replication is the answer of GET /api/v1/replication: the state of the replication of operator state to peers.
type Replication struct {
	Enabled   bool    `json:"enabled"`
	OffReason *string `json:"off_reason"` // reason why replication is off; null: it is on
	NodeID    string  `json:"node_id"`
	Objects   int     `json:"objects"`
	// Tombstones is the number of stored deletions. They prevent a node from restoring a deleted object.
	Tombstones int `json:"tombstones"`
	// Joining: this node has had no contact with its peers for as long as tombstones last, or ever.
	Joining bool                 `json:"joining"`
	Digest  string               `json:"digest"` // equal on nodes with the same objects
	Peers   []ReplicationPeer    `json:"peers"`
	Refused []ReplicationRefused `json:"refused"`
	// Unused are objects with a reference to a missing object, and objects that the configuration declares: at most 1 000
	// of UnusedTotal.
	Unused      []ReplicationRefused `json:"unused"`
	UnusedTotal int                  `json:"unused_total"`
}

// MaxUnused bounds Replication.Unused.
const MaxUnused = 1000

// ReplicationPeer is the state of a peer of this node.
type ReplicationPeer struct {
	Peer      string    `json:"peer"`    // its base URL
	NodeID    string    `json:"node_id"` // empty: it has never authenticated
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since"`  // time since when Connected has this value
	Behind    int       `json:"behind"` // objects of this node that it has not stored yet
	// ClockDifferenceMS is the estimated difference of the peer's clock to this node's clock, in milliseconds; positive if
	// the peer's clock is ahead.
	ClockDifferenceMS int64 `json:"clock_difference_ms"`
	// Rejected is the number of objects from the peer that this node rejected since its start.
	Rejected int     `json:"rejected"`
	Error    *string `json:"error"` // null: none
}

// ReplicationRefused is an object of another node without effect on this node.
type ReplicationRefused struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Node   string `json:"node,omitempty"` // the node that changed the object last, by its version; empty: unknown
	Peer   string `json:"peer,omitempty"` // the node that sent the object; empty: unknown, such as after a restart
}

// Reached is the field replication of the answer to a change: the ids of the nodes that have stored and applied the
// change, and of the nodes that have not yet.
type Reached struct {
	Has   []string `json:"has"`
	Lacks []string `json:"lacks"` // they receive the change automatically; URLs of nodes without a known id
}

// MaxWaitForPeers bounds wait_for_peers of a change.
const MaxWaitForPeers = 30 * time.Second

// ReplicationHints is the answer to a hint of another node.
type ReplicationHints struct {
	// Sealed is encrypted for the node. It is empty for other clients.
	Sealed string `json:"sealed,omitempty"`
}

// ReplicationObjects is the answer to another node that requests objects.
type ReplicationObjects struct {
	Sealed string `json:"sealed,omitempty"` // encrypted for the requesting node; missing: the node has not authenticated
}

// Replication returns the state of replication: the peers of a node and the number of objects that each lacks.
func (c *Client) Replication(ctx context.Context) (Replication, error) {
	return get[Replication](ctx, c, "/api/v1/replication", nil)
}
