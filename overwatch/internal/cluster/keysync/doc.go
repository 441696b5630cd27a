// Package keysync exchanges signing keys between overwatch nodes, so that all nodes sign with the same keys. A Sync
// requests the keys of the other nodes over the HTTP API and answers their requests. The root runs one Sync, and
// httpapi passes requests to it. Package dnssec stores keys and decides which keys a node uses.
//
// Package peerauth authenticates the nodes and encrypts private keys for one request. The API sends only public keys to
// clients without the secret.
//
// Run sends the requests in one goroutine. The other methods of a Sync are safe for concurrent use.
package keysync
