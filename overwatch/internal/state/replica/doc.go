// Package replica keeps the decisions of operators the same on all overwatch nodes, without a leader. A Table holds
// objects, each with the version of its last change; of two versions of an object the later one stands, whole. A
// deletion is an object too, a tombstone, until it is older than the retention. Tables that have had the objects of one
// another hold the same.
//
// The package reaches neither disk nor network: a caller stores what Table returns before anybody is told of it, and
// carries it to other nodes. Values are JSON that the package never looks into, so a node keeps and passes on kinds and
// fields that it does not know.
package replica
