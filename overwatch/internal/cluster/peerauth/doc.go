// Package peerauth authenticates overwatch nodes to each other by a shared secret and encrypts the answers. A client
// sends two GET requests; the server answers over the HTTP API:
//
//	client                                        server
//	GET <path>                                ->
//	                                          <-  WWW-Authenticate: Gslb-Key-Sync nonce="N"
//	GET <path>
//	Authorization: Gslb-Key-Sync v1.id.E.N.P  ->  E: X25519 public key of this request
//	                                              P: HMAC-SHA-256 of method, path, id, E and N with the secret
//	                                          <-  "sealed": F, the X25519 public key of this answer, and the
//	                                              AES-256-GCM ciphertext; its key is the HKDF of X25519(E, F) and
//	                                              the secret
//
// The server accepts a nonce once, within a minute, and only in the process that issued it. Each answer has its own
// key, which neither side stores. A recording of an exchange is therefore useless. keysync, replication and notify use
// the package, each with its own secret.
package peerauth
