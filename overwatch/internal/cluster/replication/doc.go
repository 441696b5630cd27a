// Package replication replicates operator state between overwatch nodes. It requests changes from the peers of
// key_sync.peers over the HTTP API, and answers their requests. The store merges the received objects, and a callback
// applies them. Package replica decides about versions, and package control about objects that a node may serve. The
// root runs one Replication; httpapi passes requests to it.
//
// Nodes authenticate with key_sync.secret, and each answer is sealed for its request, as in package keysync. A request
// waits for the next change (long polling), so that a change reaches the peers immediately. A request contains the
// number of the last change that the peer has stored, and the answer contains the later changes.
//
// Any goroutine may use a Replication. A goroutine for each peer sends requests.
package replication
