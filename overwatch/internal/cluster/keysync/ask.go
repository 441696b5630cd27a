package keysync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/peerauth"
)

// message is the decrypted answer of a peer.
type message struct {
	Node     string         `json:"node_id"`
	Instance string         `json:"instance"` // id of the process: a node ignores its own answers
	Holding  dnssec.Holding `json:"holding"`
	About    About          `json:"about,omitzero"`
}

// newHTTPClient returns the HTTP client of a round. It has no idle connections, because rounds are rare.
func (s *Sync) newHTTPClient(files peerauth.TLSFiles) (*http.Client, error) {
	if s.o.Transport != nil {
		return peerauth.NewHTTPClient(s.o.Transport), nil
	}
	transport, err := peerauth.NewTransport(files)
	if err != nil {
		return nil, err
	}
	transport.DisableKeepAlives = true
	return peerauth.NewHTTPClient(transport), nil
}

// newClient returns the client for one exchange with a peer.
func (s *Sync) newClient(peer string, secret []byte, client *http.Client) *peerauth.Client {
	return &peerauth.Client{Node: s.o.NodeID, Peer: peer, Secret: secret, HTTP: client,
		UserAgent: "gslb-overwatch/key-sync", MaxBody: maxAnswer, Sealed: parseAnswer}
}

// requestKeys requests the keys of a peer, for at most timeout. The error is a sentence for operators.
func requestKeys(ctx context.Context, client *peerauth.Client, timeout time.Duration) (*message, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	plain, err := client.Get(ctx, path)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("no complete answer within %s", time.Since(began).Round(time.Millisecond))
	case err != nil:
		return nil, err
	}
	return parseMessage(plain)
}

// parseAnswer returns the sealed keys in the body of an answer.
func parseAnswer(body []byte) (string, error) {
	var answer struct {
		Enabled bool   `json:"enabled"`
		Sealed  string `json:"sealed"`
	}
	switch err := json.Unmarshal(body, &answer); {
	case err != nil:
		return "", errors.New("its answer cannot be read as JSON")
	case !answer.Enabled:
		return "", errors.New("it does not sign (overwatch.dnssec.enabled is false there)")
	case answer.Sealed == "":
		return "", errors.New("its answer has no keys for this node")
	}
	return answer.Sealed, nil
}

// parseMessage parses a decrypted answer. Its error contains no data of the answer, because the answer contains private
// keys.
func parseMessage(plain []byte) (*message, error) {
	var m message
	if err := json.Unmarshal(plain, &m); err != nil {
		return nil, errors.New("the keys in its answer cannot be read: run the same major version on all nodes")
	}
	return &m, nil
}
