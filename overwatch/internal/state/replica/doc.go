// Package replica merges operator state from all overwatch nodes without a leader, so that all nodes converge to the
// same objects. A Table contains objects, each with the version of its last change. A later version replaces an earlier
// version completely. A deletion is an object (a tombstone) until it is older than the retention. Two Tables that have
// merged each other's objects are equal.
//
// store owns the node's Table and stores each change before publishing it. replication exchanges offers between nodes.
// The package uses neither disk nor network. Values are opaque JSON, so that a node stores and forwards unknown kinds
// and fields.
package replica
