// Package keysync keeps the signing keys of several nodes the same: it asks the other nodes for theirs over the HTTP API, and answers
// when they ask. What is joined, and how, package dnssec decides.
//
// A node proves that it is one of us by a secret that agents do not hold, and private keys cross sealed to one request:
//
//	asker                                         answerer
//	GET /api/v1/dnssec/keys                   ->
//	                                          <-  WWW-Authenticate: Gslb-Key-Sync nonce="N"
//	GET /api/v1/dnssec/keys
//	Authorization: Gslb-Key-Sync v1.id.E.N.P  ->  E: X25519 key for this request
//	                                              P: HMAC-SHA-256 of method, path, id, E and N under the secret
//	                                          <-  "sealed": F and AES-256-GCM of the keys, under HKDF of X25519(E, F) and the secret
//
// A recording is of no use: each exchange has its own key, which nobody keeps, and a nonce is taken once, by the process that
// made it, within a minute. Access to the API without the secret yields public keys only.
//
// A Sync may be used from any goroutine; one goroutine, Run, asks.
package keysync
