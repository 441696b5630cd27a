// Package keysync exchanges signing keys between overwatch nodes, so that all sign alike: it asks the other nodes over
// the HTTP API, and answers when they ask. The root runs one Sync; httpapi passes requests to it. It never stores or
// chooses keys: package dnssec decides what is joined.
//
// A node proves itself by a secret that agents do not have, and private keys are encrypted for one request:
//
//	asker                                         answerer
//	GET /api/v1/dnssec/keys                   ->
//	                                          <-  WWW-Authenticate: Gslb-Key-Sync nonce="N"
//	GET /api/v1/dnssec/keys
//	Authorization: Gslb-Key-Sync v1.id.E.N.P  ->  E: X25519 key for this request
//	                                              P: HMAC-SHA-256 of method, path, id, E and N under the secret
//	                                          <-  "sealed": F, an X25519 key for this answer, and
//	                                              AES-256-GCM of the keys, under HKDF of X25519(E, F) and the secret
//
// A recording is of no use: each exchange has its own key, which nobody keeps. A nonce is accepted once, by the process
// that made it, within a minute. The API gives public keys only to clients without the secret.
//
// A Sync may be used from any goroutine; one goroutine, Run, asks.
package keysync
