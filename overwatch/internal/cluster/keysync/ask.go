package keysync

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
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
	"time"

	"gslb.internal/shared/api"
)

// maxRefusal bounds the bytes that are read of an error's body.
const maxRefusal = 4 << 10

// newClient returns the HTTP client of one round. It keeps no connections, since rounds are rare, and follows no
// proxy and no redirect: the request is for the peer that the configuration names.
func (s *Sync) newClient(files TLSFiles) (*http.Client, error) {
	transport := s.o.Transport
	if transport == nil {
		config, err := files.Config()
		if err != nil {
			return nil, err
		}
		transport = &http.Transport{
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 16 << 10, ForceAttemptHTTP2: true,
			TLSClientConfig: config,
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}, nil
}

// exchanger asks peers in one round.
type exchanger struct {
	node    string        // this one's id
	timeout time.Duration // for a peer's answer
	secret  []byte
	client  *http.Client
}

// ask fetches the keys of a peer. Its error is a sentence for operators.
func (e *exchanger) ask(ctx context.Context, peer string) (*message, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	began := time.Now()
	m, err := e.exchange(ctx, strings.TrimRight(peer, "/")+path)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("no complete answer within %s", time.Since(began).Round(time.Millisecond))
	}
	return m, err
}

func (e *exchanger) exchange(ctx context.Context, target string) (*message, error) {
	first, err := e.get(ctx, target, "")
	if err != nil {
		return nil, err
	}
	first.Body.Close()
	nonce, err := parseChallenge(first.Header.Get("WWW-Authenticate"))
	if err != nil {
		return nil, err
	}
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key for the request: %w", err)
	}
	r := request{node: e.node, point: private.PublicKey().Bytes(), nonce: nonce}
	second, err := e.get(ctx, target, r.prove(e.secret))
	if err != nil {
		return nil, err
	}
	defer second.Body.Close()
	sealed, err := sealedIn(second.Body)
	if err != nil {
		return nil, err
	}
	return r.open(e.secret, private, sealed)
}

// get makes one request and returns a JSON answer of status 200. The caller closes its body.
func (e *exchanger) get(ctx context.Context, target, authorization string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, fmt.Errorf("its address: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "gslb-overwatch/key-sync")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = refusal(resp, kind)
	case kind != "application/json":
		err = fmt.Errorf("its answer is %.64q and not JSON: this is not the API of an overwatch node", kind)
	default:
		return resp, nil
	}
	resp.Body.Close()
	return nil, err
}

// errRefused is the error where nothing takes connections at a peer's address.
var errRefused = errors.New(
	"nothing listens there: start the node, with api.enabled: true and api.address where this node reaches it")

// unreachable removes what net/http puts before the cause of an error.
func unreachable(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return errRefused
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("its certificate is not accepted: %w; overwatch.dnssec.key_sync.ca names the authorities", err)
	}
	return fmt.Errorf("cannot be reached: %w", err)
}

// refusal returns an error for an answer with another status. It quotes a short part of the body, which nothing
// proves.
func refusal(resp *http.Response, kind string) error {
	var body api.ErrorBody
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err == nil && kind == "application/json" && json.Unmarshal(text, &body) == nil && body.Error != "" {
		return fmt.Errorf("it answers %d: %.300q", resp.StatusCode, body.Error)
	}
	return fmt.Errorf("it answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
}

// sealedIn returns the sealed text in the body of an answer, and ignores the rest, which nothing proves.
func sealedIn(body io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err != nil {
		return "", fmt.Errorf("its answer breaks off: %w", err)
	}
	if len(text) > maxAnswer {
		return "", fmt.Errorf("its answer is larger than %d bytes", maxAnswer)
	}
	return parseAnswer(text)
}

func parseAnswer(text []byte) (string, error) {
	var answer struct {
		Enabled bool   `json:"enabled"`
		Sealed  string `json:"sealed"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		return "", errors.New("its answer cannot be read as JSON")
	case !answer.Enabled:
		return "", errors.New("it does not sign (overwatch.dnssec.enabled is false there)")
	case answer.Sealed == "":
		return "", errors.New("its answer has no keys for this node")
	}
	return answer.Sealed, nil
}
