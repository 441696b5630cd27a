// Package replication carries operators' decisions between overwatch nodes. It asks the nodes of key_sync.peers for
// what has changed there, over the HTTP API, and answers when they ask; the store merges and keeps what comes, and a
// callback puts it into force. It decides nothing about versions (package replica) and nothing about what may be served
// (package control). The root runs one Replication; httpapi passes requests to it.
//
// Nodes prove themselves by key_sync.secret, and answers are sealed for one request, as in package keysync. A request
// is held open while there is nothing new, so that a change reaches the peers at once. A request also says which
// changes the peer has: it asks for those after the last one that it has stored.
//
// A Replication may be used from any goroutine. One goroutine per peer asks.
package replication
