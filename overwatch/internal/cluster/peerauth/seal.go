package peerauth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// seal encrypts the answer to a request. It returns the base64 of the server's X25519 public key and the ciphertext.
func (r *request) seal(secret, plain []byte) (string, error) {
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("generating the key of the answer: %w", err)
	}
	theirs, err := ecdh.X25519().NewPublicKey(r.point)
	if err != nil {
		return "", errForm
	}
	shared, err := own.ECDH(theirs)
	if err != nil {
		return "", errForm // with this public key, everyone could compute the shared key
	}
	answer := own.PublicKey().Bytes()
	aead := r.aead(shared, secret, answer)
	return base64.StdEncoding.EncodeToString(aead.Seal(answer, gcmNonce[:], plain, nil)), nil
}

// gcmNonce is constant because each key encrypts a single message.
var gcmNonce [12]byte

// aead returns the cipher of an answer. The key depends on the request, the shared key, the secret and the server's
// public key.
func (r *request) aead(shared, secret, answer []byte) cipher.AEAD {
	material := AppendField(AppendField(nil, shared), secret)
	key, err := hkdf.Key(sha256.New, material, r.nonce, string(AppendField(r.transcript("answer"), answer)), 32)
	if err != nil {
		panic(err) // HKDF with SHA-256 supports keys of 32 bytes
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // AES supports keys of 32 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // GCM supports the block size of AES
	}
	return aead
}

var errSealed = errors.New("its answer is not sealed for this request: it is another's, or changed on the way")

// open decrypts the answer to a request with the private key of newRequest.
func (r *request) open(secret []byte, private *ecdh.PrivateKey, sealed string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(raw) < pointSize {
		return nil, errSealed
	}
	answer, box := raw[:pointSize:pointSize], raw[pointSize:]
	theirs, err := ecdh.X25519().NewPublicKey(answer)
	if err != nil {
		return nil, errSealed
	}
	shared, err := private.ECDH(theirs)
	if err != nil {
		return nil, errSealed
	}
	plain, err := r.aead(shared, secret, answer).Open(nil, gcmNonce[:], box, nil)
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}
