package keysync

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"gslb.internal/shared/api"
)

// path is the API's path of the keys, below a node's base URL.
const path = "/api/v1/dnssec/keys"

const version = "v1"

// Sizes of the parts of a proof, in bytes.
const (
	pointSize = 32  // an X25519 public key
	proofSize = 32  // an HMAC-SHA-256
	maxNodeID = 255 // more than a configuration can have
	maxHeader = 1024
)

// encoding is the form of bytes in header fields.
var encoding = base64.RawURLEncoding.Strict()

// request is one proven request for keys.
type request struct {
	path  string // with its query; empty: that of the keys
	node  string // the id of the asker
	point []byte // its X25519 public key for this request
	nonce []byte // that the answerer made
}

// prove returns the value of Authorization of a request.
func (r *request) prove(secret []byte) string {
	fields := []string{version}
	for _, f := range [][]byte{[]byte(r.node), r.point, r.nonce, r.mac(secret)} {
		fields = append(fields, encoding.EncodeToString(f))
	}
	return api.KeySyncScheme + " " + strings.Join(fields, ".")
}

func (r *request) mac(secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(r.transcript("request"))
	return mac.Sum(nil)
}

// transcript returns the bytes that the proof and the encryption cover.
func (r *request) transcript(purpose string) []byte {
	var to []byte
	for _, f := range [][]byte{[]byte("gslb key sync " + version), []byte(purpose), []byte(http.MethodGet),
		[]byte(cmp.Or(r.path, path)), []byte(r.node), r.point, r.nonce} {
		to = field(to, f)
	}
	return to
}

var errForm = errors.New("the header field Authorization is not of the form " + api.KeySyncScheme + " " + version +
	".<node>.<key>.<nonce>.<proof>")

// parseProof reads the value of Authorization. Its result is not proven yet.
func parseProof(header string) (r request, proof []byte, err error) {
	rest, ok := strings.CutPrefix(header, api.KeySyncScheme+" ")
	if !ok || len(header) > maxHeader {
		return r, nil, errForm
	}
	texts := strings.Split(rest, ".")
	if len(texts) != 5 {
		return r, nil, errForm
	}
	if texts[0] != version {
		return r, nil, fmt.Errorf("the version is %.16q, this node speaks %s: run the same major version on all nodes",
			texts[0], version)
	}
	var fields [4][]byte
	for i, text := range texts[1:] {
		if fields[i], err = encoding.DecodeString(text); err != nil {
			return r, nil, errForm
		}
	}
	r = request{node: string(fields[0]), point: fields[1], nonce: fields[2]}
	if len(r.node) == 0 || len(r.node) > maxNodeID || len(r.point) != pointSize || len(r.nonce) != nonceSize ||
		len(fields[3]) != proofSize {
		return r, nil, errForm
	}
	return r, fields[3], nil
}

// challenge returns the value of WWW-Authenticate with a nonce.
func challenge(nonce []byte) string {
	return api.KeySyncScheme + ` nonce="` + encoding.EncodeToString(nonce) + `"`
}

// parseChallenge reads the nonce in a value of WWW-Authenticate.
func parseChallenge(header string) ([]byte, error) {
	text, ok := strings.CutPrefix(header, api.KeySyncScheme+` nonce="`)
	text, closed := strings.CutSuffix(text, `"`)
	if !ok || !closed || len(header) > maxHeader {
		return nil,
			errors.New(
				"it gives no nonce: it is no overwatch node, one of a release without key synchronisation, or one that does not " +
					"sign")
	}
	nonce, err := encoding.DecodeString(text)
	if err != nil || len(nonce) != nonceSize {
		return nil, errors.New("its nonce cannot be read: run the same major version on all nodes")
	}
	return nonce, nil
}
