package keysync

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
)

// PeerSecret returns the key by which nodes prove themselves for a purpose other than signing keys. It is derived from
// key_sync.secret alone, never from tokens that agents have; nil where that is not set.
func PeerSecret(c *config.Config, purpose string) []byte {
	own := c.Overwatch.DNSSEC.KeySync.Secret.Reveal()
	if own == "" {
		return nil
	}
	return derive([]byte(own), "for "+purpose)
}

// Door admits requests of nodes that prove a secret. It may be used from any goroutine.
type Door struct{ nonces *nonces }

// NewDoor makes a Door. Its nonces are valid in this process only.
func NewDoor() *Door { return &Door{newNonces(maxUsedPeers)} }

// Challenge returns the value of WWW-Authenticate for a peer.
func (d *Door) Challenge() string { return challenge(d.nonces.issue()) }

// Visitor is a node that has proved the secret, for one request.
type Visitor struct {
	request request
	secret  []byte
}

// Node returns the id that the node gives itself.
func (v *Visitor) Node() string { return v.request.node }

// Seal encrypts the answer to the request.
func (v *Visitor) Seal(plain []byte) (string, error) { return v.request.sealText(v.secret, plain) }

// errPeerSecret reports a proof by another secret.
var errPeerSecret = errors.New(
	"the proof is not by the secret of this node: overwatch.dnssec.key_sync.secret must be the same on all nodes")

// Admit checks the value of Authorization of a request of a path with its query. Its error may be shown to the asker.
func (d *Door) Admit(secret []byte, target, authorization string) (*Visitor, error) {
	r, proof, err := parseProof(authorization)
	if err != nil {
		return nil, err
	}
	r.path = target
	if err := d.nonces.check(r.nonce); err != nil {
		return nil, err
	}
	if provenBy([][]byte{secret}, &r, proof) == nil {
		return nil, errPeerSecret
	}
	if err := d.nonces.use(r.nonce); err != nil {
		return nil, err
	}
	return &Visitor{r, secret}, nil
}

// Guest sends requests to the Door of one peer. It belongs to one goroutine.
type Guest struct {
	Node   string // this one's id
	Peer   string // base URL
	Secret []byte
	Client *http.Client
	Max    int64 // octets of an answer's body

	nonce []byte // from the last answer; nil: none
}

// Get returns the answer of the peer to a path with its query. Its error is a sentence for operators.
func (g *Guest) Get(ctx context.Context, target string) ([]byte, error) {
	e := exchanger{client: g.Client}
	url := strings.TrimRight(g.Peer, "/") + target
	kept := g.nonce != nil
	if !kept {
		first, err := e.get(ctx, url, "")
		if err != nil {
			return nil, err
		}
		err = g.keepNonce(first)
		_, _ = io.Copy(io.Discard, io.LimitReader(first.Body, maxRefusal)) // so that the connection can be used again
		first.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	plain, err := g.prove(ctx, &e, url, target)
	if err != nil && kept && ctx.Err() == nil { // the nonce may be too old, or of the process before
		return g.Get(ctx, target)
	}
	return plain, err
}

func (g *Guest) keepNonce(resp *http.Response) (err error) {
	g.nonce, err = parseChallenge(resp.Header.Get("WWW-Authenticate"))
	return err
}

// prove makes one request with the present nonce, which it uses up.
func (g *Guest) prove(ctx context.Context, e *exchanger, url, target string) ([]byte, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key for the request: %w", err)
	}
	r := request{path: target, node: g.Node, point: private.PublicKey().Bytes(), nonce: g.nonce}
	g.nonce = nil
	resp, err := e.get(ctx, url, r.prove(g.Secret))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if g.keepNonce(resp) != nil {
		g.nonce = nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, g.Max+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("its answer breaks off: %w", err)
	case int64(len(text)) > g.Max:
		return nil, fmt.Errorf("its answer is larger than %d octets", g.Max)
	}
	var answer struct {
		Sealed string `json:"sealed"`
	}
	if json.Unmarshal(text, &answer) != nil || answer.Sealed == "" {
		return nil, errors.New("its answer has nothing sealed for this node: run the same major version on all nodes")
	}
	return r.openText(g.Secret, private, answer.Sealed)
}
