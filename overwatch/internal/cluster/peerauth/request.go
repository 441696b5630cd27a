package peerauth

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"gslb.internal/shared/api"
)

// version is the version of the protocol. It is part of proofs and keys.
const version = "v1"

// Sizes of the parts of a proof, in bytes.
const (
	pointSize = 32  // an X25519 public key
	proofSize = 32  // an HMAC-SHA-256
	maxNodeID = 255 // longer than any configured id
	maxHeader = 1024
)

// encoding is the encoding of binary values in header fields.
var encoding = base64.RawURLEncoding.Strict()

// request has the authenticated values of a request.
type request struct {
	path  string // with the query
	node  string // id of the client
	point []byte // X25519 public key of the client for this request
	nonce []byte // issued by the server
}

// newRequest returns a request and the private key that decrypts its answer.
func newRequest(path, node string, nonce []byte) (*request, *ecdh.PrivateKey, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating the key of the request: %w", err)
	}
	return &request{path: path, node: node, point: private.PublicKey().Bytes(), nonce: nonce}, private, nil
}

// authorization returns the header field Authorization of a request.
func (r *request) authorization(secret []byte) string {
	fields := []string{version}
	for _, f := range [][]byte{[]byte(r.node), r.point, r.nonce, r.proof(secret)} {
		fields = append(fields, encoding.EncodeToString(f))
	}
	return api.KeySyncScheme + " " + strings.Join(fields, ".")
}

func (r *request) proof(secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(r.transcript("request"))
	return mac.Sum(nil)
}

// transcript returns the bytes that the proof and the encryption authenticate.
func (r *request) transcript(purpose string) []byte {
	var to []byte
	for _, f := range [][]byte{[]byte("gslb key sync " + version), []byte(purpose), []byte(http.MethodGet),
		[]byte(r.path), []byte(r.node), r.point, r.nonce} {
		to = AppendField(to, f)
	}
	return to
}

var errForm = errors.New("the header field Authorization is not of the form " + api.KeySyncScheme + " " + version +
	".<node>.<key>.<nonce>.<proof>")

// parseAuthorization parses the header field Authorization of a request of a path. It does not verify the proof.
func parseAuthorization(path, header string) (r *request, proof []byte, err error) {
	rest, ok := strings.CutPrefix(header, api.KeySyncScheme+" ")
	if !ok || len(header) > maxHeader {
		return nil, nil, errForm
	}
	texts := strings.Split(rest, ".")
	if len(texts) != 5 {
		return nil, nil, errForm
	}
	if texts[0] != version {
		return nil, nil, fmt.Errorf("the version is %.16q, this node speaks %s: run the same major version on all nodes",
			texts[0], version)
	}
	var fields [4][]byte
	for i, text := range texts[1:] {
		if fields[i], err = encoding.DecodeString(text); err != nil {
			return nil, nil, errForm
		}
	}
	r = &request{path: path, node: string(fields[0]), point: fields[1], nonce: fields[2]}
	if len(r.node) == 0 || len(r.node) > maxNodeID || len(r.point) != pointSize || len(r.nonce) != nonceSize ||
		len(fields[3]) != proofSize {
		return nil, nil, errForm
	}
	return r, fields[3], nil
}

// formatChallenge returns the header field WWW-Authenticate with a nonce.
func formatChallenge(nonce []byte) string {
	return api.KeySyncScheme + ` nonce="` + encoding.EncodeToString(nonce) + `"`
}

// parseChallenge returns the nonce of the header field WWW-Authenticate.
func parseChallenge(header string) ([]byte, error) {
	text, ok := strings.CutPrefix(header, api.KeySyncScheme+` nonce="`)
	text, closed := strings.CutSuffix(text, `"`)
	if !ok || !closed || len(header) > maxHeader {
		return nil, errors.New("it gives no nonce: it is no overwatch node, one of a release without key synchronisation, " +
			"or one that does not sign")
	}
	nonce, err := encoding.DecodeString(text)
	if err != nil || len(nonce) != nonceSize {
		return nil, errors.New("its nonce cannot be read: run the same major version on all nodes")
	}
	return nonce, nil
}
