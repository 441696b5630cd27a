package peerauth

import (
	"crypto/hmac"
	"errors"
)

// maxUsedNonces is the maximum number of used nonces in a Server. Nodes may send a request for each change.
const maxUsedNonces = 1 << 16

// Server authenticates requests of other nodes. It is safe for concurrent use.
type Server struct{ nonces *nonces }

// NewServer returns a Server.
func NewServer() *Server { return &Server{newNonces(maxUsedNonces)} }

// Challenge returns a new value of the header field WWW-Authenticate.
func (s *Server) Challenge() string { return formatChallenge(s.nonces.issue()) }

// ErrWrongSecret means that the client of a request does not have a secret of this node.
var ErrWrongSecret = errors.New(
	"the proof is not by the secret of this node: overwatch.dnssec.key_sync.secret must be the same on all nodes")

// Authenticated is a request of an authenticated node.
type Authenticated struct {
	request *request
	secret  []byte
}

// Node returns the id of the client.
func (a *Authenticated) Node() string { return a.request.node }

// Seal encrypts the answer to the request.
func (a *Authenticated) Seal(plain []byte) (string, error) { return a.request.seal(a.secret, plain) }

// Authenticate verifies the header field Authorization of a request for a path with its query. It accepts a proof with
// any of the secrets. Clients may receive the error.
func (s *Server) Authenticate(secrets [][]byte, path, authorization string) (*Authenticated, error) {
	r, proof, err := parseAuthorization(path, authorization)
	if err != nil {
		return nil, err
	}
	if err := s.nonces.verify(r.nonce); err != nil {
		return nil, err
	}
	secret := r.provingSecret(secrets, proof)
	if secret == nil {
		return nil, ErrWrongSecret
	}
	if err := s.nonces.markUsed(r.nonce); err != nil {
		return nil, err
	}
	return &Authenticated{r, secret}, nil
}

// provingSecret returns the secret of the proof, or nil if no secret matches.
func (r *request) provingSecret(secrets [][]byte, proof []byte) []byte {
	for _, secret := range secrets {
		if hmac.Equal(r.proof(secret), proof) {
			return secret
		}
	}
	return nil
}
