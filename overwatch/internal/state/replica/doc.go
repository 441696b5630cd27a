// Package replica merges the decisions of operators from all overwatch nodes, without a leader, so that each node comes
// to hold the same. A Table holds objects, each with the version of its last change; of two versions of an object the
// later one stands, whole. A deletion is an object too, a tombstone, until it is older than the retention. Two Tables
// that have merged each other's objects hold the same.
//
// store holds the node's Table and stores each change of it before anybody learns of it; replication carries offers
// between nodes. The package itself uses neither disk nor network. Values are JSON that it never looks into, so a node
// keeps and passes on kinds and fields that it does not know.
package replica
