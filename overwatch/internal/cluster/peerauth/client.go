package peerauth

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"gslb.internal/shared/api"
)

// maxErrorBody is the maximum number of bytes that a client reads from the body of a challenge or an error.
const maxErrorBody = 4 << 10

// Client sends authenticated requests to a peer. It is not safe for concurrent use.
type Client struct {
	Node      string // id of this node
	Peer      string // base URL of the peer
	Secret    []byte
	HTTP      *http.Client
	UserAgent string
	MaxBody   int64 // maximum size of the body of an answer, in bytes
	// Sealed returns the sealed part of the body of an answer. nil: the field "sealed" of a JSON object.
	Sealed func(body []byte) (string, error)

	nonce []byte // nonce of the last answer; nil: none
}

// Get sends a GET request for a path with its query and returns the decrypted answer. The error is a sentence for
// operators.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	hadNonce := c.nonce != nil
	if !hadNonce {
		if err := c.fetchNonce(ctx, path); err != nil {
			return nil, err
		}
	}
	plain, err := c.getSealed(ctx, path)
	if err != nil && hadNonce && ctx.Err() == nil { // the nonce may have expired, or the peer may have restarted
		return c.Get(ctx, path)
	}
	return plain, err
}

// fetchNonce sends a request without a proof and stores the nonce of the answer.
func (c *Client) fetchNonce(ctx context.Context, path string) error {
	resp, err := c.send(ctx, path, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxErrorBody)) // makes the connection reusable
	c.nonce, err = parseChallenge(resp.Header.Get("WWW-Authenticate"))
	return err
}

// getSealed sends a request with the stored nonce, which it deletes, and decrypts the answer. It stores the nonce of
// the answer.
func (c *Client) getSealed(ctx context.Context, path string) ([]byte, error) {
	r, private, err := newRequest(path, c.Node, c.nonce)
	if err != nil {
		return nil, err
	}
	c.nonce = nil
	resp, err := c.send(ctx, path, r.authorization(c.Secret))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if nonce, err := parseChallenge(resp.Header.Get("WWW-Authenticate")); err == nil {
		c.nonce = nonce
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.MaxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("its answer breaks off: %w", err)
	case int64(len(body)) > c.MaxBody:
		return nil, fmt.Errorf("its answer is larger than %d bytes", c.MaxBody)
	}
	parse := c.Sealed
	if parse == nil {
		parse = parseSealed
	}
	sealed, err := parse(body)
	if err != nil {
		return nil, err
	}
	return r.open(c.Secret, private, sealed)
}

func parseSealed(body []byte) (string, error) {
	var answer struct {
		Sealed string `json:"sealed"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Sealed == "" {
		return "", errors.New("its answer has nothing sealed for this node: run the same major version on all nodes")
	}
	return answer.Sealed, nil
}

// send sends a request and returns a JSON answer with status 200. The caller closes the body.
func (c *Client) send(ctx context.Context, path, authorization string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.Peer, "/")+path, nil)
	if err != nil {
		return nil, fmt.Errorf("its address: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.UserAgent)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, describeFailure(err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = describeStatus(resp, kind)
	case kind != "application/json":
		err = fmt.Errorf("its answer is %.64q and not JSON: this is not the API of an overwatch node", kind)
	default:
		return resp, nil
	}
	resp.Body.Close()
	return nil, err
}

// ErrNotListening reports that the peer's machine refuses connections.
var ErrNotListening = errors.New(
	"nothing listens there: start the node, with api.enabled: true and api.address where this node reaches it")

// describeFailure returns the cause of an error of net/http, with the remedy.
func describeFailure(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return ErrNotListening
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("its certificate is not accepted: %w; overwatch.dnssec.key_sync.ca names the authorities", err)
	}
	return fmt.Errorf("cannot be reached: %w", err)
}

// describeStatus returns an error for an answer with a status other than 200. It quotes at most 300 characters of the
// body, which is not authenticated.
func describeStatus(resp *http.Response, kind string) error {
	var body api.ErrorBody
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err == nil && kind == "application/json" && json.Unmarshal(text, &body) == nil && body.Error != "" {
		return fmt.Errorf("it answers %d: %.300q", resp.StatusCode, body.Error)
	}
	return fmt.Errorf("it answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
}
