package keysync

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/answer/dnssec"
)

// maxAnswer bounds the body of an answer, in bytes. A key takes some 500.
const maxAnswer = 1 << 20

// tagSize is the overhead of AES-GCM, in bytes.
const tagSize = 16

// message is the plain text of an answer.
type message struct {
	Node     string         `json:"node_id"`
	Instance string         `json:"instance"` // of the process, so that a node knows itself
	Holding  dnssec.Holding `json:"holding"`
	About    About          `json:"about,omitzero"`
}

// seal encrypts a message for one request. It returns an X25519 public key and the ciphertext, encoded.
func (r *request) seal(secret []byte, m *message) (string, error) {
	plain, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encoding the keys: %w", err)
	}
	if size := base64.StdEncoding.EncodedLen(pointSize + len(plain) + tagSize); size > maxAnswer-maxHeader {
		return "", fmt.Errorf("the %d keys of this node take %d bytes, an answer has at most %d", len(m.Holding.Keys), size,
			maxAnswer)
	}
	return r.sealText(secret, plain)
}

// sealText encrypts a text for one request, like seal.
func (r *request) sealText(secret, plain []byte) (string, error) {
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("making a key for the answer: %w", err)
	}
	theirs, err := ecdh.X25519().NewPublicKey(r.point)
	if err != nil {
		return "", errForm
	}
	shared, err := own.ECDH(theirs)
	if err != nil {
		return "", errForm // a point that would leave the shared key to anybody
	}
	answer := own.PublicKey().Bytes()
	aead := r.aead(shared, secret, answer)
	return base64.StdEncoding.EncodeToString(aead.Seal(answer, gcmNonce[:], plain, nil)), nil
}

// gcmNonce is constant because a key encrypts only one message.
var gcmNonce [12]byte

// aead returns the cipher of one answer. Its key depends on the whole request and on both secrets.
func (r *request) aead(shared, secret, answer []byte) cipher.AEAD {
	material := field(field(nil, shared), secret)
	key, err := hkdf.Key(sha256.New, material, r.nonce, string(field(r.transcript("answer"), answer)), 32)
	if err != nil {
		panic(err) // the size is one that SHA-256 can give
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return aead
}

var errSeal = errors.New("its answer is not sealed for this request: it is another's, or changed on the way")

// open decrypts the answer to a request, with the request's private key.
func (r *request) open(secret []byte, private *ecdh.PrivateKey, sealed string) (*message, error) {
	plain, err := r.openText(secret, private, sealed)
	if err != nil {
		return nil, err
	}
	return parseMessage(plain)
}

// openText decrypts what sealText has encrypted.
func (r *request) openText(secret []byte, private *ecdh.PrivateKey, sealed string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(raw) < pointSize {
		return nil, errSeal
	}
	answer, box := raw[:pointSize:pointSize], raw[pointSize:]
	theirs, err := ecdh.X25519().NewPublicKey(answer)
	if err != nil {
		return nil, errSeal
	}
	shared, err := private.ECDH(theirs)
	if err != nil {
		return nil, errSeal
	}
	plain, err := r.aead(shared, secret, answer).Open(nil, gcmNonce[:], box, nil)
	if err != nil {
		return nil, errSeal
	}
	return plain, nil
}

// parseMessage reads a plain text. Its error quotes nothing, because there are private keys in it.
func parseMessage(plain []byte) (*message, error) {
	var m message
	if err := json.Unmarshal(plain, &m); err != nil {
		return nil, errors.New("the keys in its answer cannot be read: run the same major version on all nodes")
	}
	return &m, nil
}
