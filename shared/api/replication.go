package api

import (
	"context"
	"time"
)

// Replication is the answer of GET /api/v1/replication: how operators' decisions reach the other nodes.
type Replication struct {
	Enabled   bool    `json:"enabled"`
	OffReason *string `json:"off_reason"` // why nothing is replicated; null: it is
	NodeID    string  `json:"node_id"`
	Objects   int     `json:"objects"`
	// Tombstones are deletions that are remembered, so that no node brings back what was deleted.
	Tombstones int `json:"tombstones"`
	// Joining: this node has been without the others for as long as deletions are remembered, or always.
	Joining bool                 `json:"joining"`
	Digest  string               `json:"digest"` // the same on nodes that hold the same
	Peers   []ReplicationPeer    `json:"peers"`
	Refused []ReplicationRefused `json:"refused"`
	// Unused are objects that refer to what is not there, or in whose place the configuration has one: at most 1 000 of
	// UnusedTotal.
	Unused      []ReplicationRefused `json:"unused"`
	UnusedTotal int                  `json:"unused_total"`
}

// MaxUnused bounds Replication.Unused.
const MaxUnused = 1000

// ReplicationPeer is another node, as this one sees it.
type ReplicationPeer struct {
	Peer      string    `json:"peer"`    // its base URL
	NodeID    string    `json:"node_id"` // empty: it has never authenticated
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since"`  // since when Connected is so
	Behind    int       `json:"behind"` // objects of this node that it has not stored yet
	// ClockDifferenceMS is the lead of its clock over this node's, in milliseconds, as far as the network lets see.
	ClockDifferenceMS int64 `json:"clock_difference_ms"`
	// Rejected counts the objects that the peer sent and that had no effect here, since this node started.
	Rejected int     `json:"rejected"`
	Error    *string `json:"error"` // null: none
}

// ReplicationRefused is an object of another node that has no effect on this node.
type ReplicationRefused struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Node   string `json:"node,omitempty"` // the node that changed it last, as its version says; empty: not known
	Peer   string `json:"peer,omitempty"` // the node that sent it; empty: not known, such as after a restart
}

// Reached is the field replication of the answer to a change: the nodes that have it on disk and in their answers, and
// those that lack it still, by their ids.
type Reached struct {
	Has   []string `json:"has"`
	Lacks []string `json:"lacks"` // they get it by themselves; one that has never authenticated is named by its URL
}

// MaxWaitForPeers bounds wait_for_peers of a change.
const MaxWaitForPeers = 30 * time.Second

// ReplicationObjects is the answer to another node that requests objects.
type ReplicationObjects struct {
	Sealed string `json:"sealed,omitempty"` // only the asker can open it; missing: the asker has not authenticated
}

// Replication returns the state of replication: the peers of a node and how far each has operators' decisions.
func (c *Client) Replication(ctx context.Context) (Replication, error) {
	return get[Replication](ctx, c, "/api/v1/replication", nil)
}
