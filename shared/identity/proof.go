package identity

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// Proof returns a proof of knowledge of a service's token that does not reveal the token: HMAC-SHA-256 under a key
// derived (HKDF, RFC 5869) from the token and the service name, over certificate hash, boot nonce, epoch and service.
// It is valid only for this certificate, node process, agent process and service. Tokens are case-sensitive, service
// names are not. Compare proofs with hmac.Equal only.
func Proof(token, service string, id KeyID, nonce Nonce, epoch uint64) [32]byte {
	service = strings.ToLower(strings.TrimSuffix(service, "."))
	mac := hmac.New(sha256.New, tokenKey(token, "gslb/1 token proof\x00"+service))
	mac.Write(id[:])
	mac.Write(nonce[:])
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], epoch)
	mac.Write(n[:])
	mac.Write([]byte(service))
	return [32]byte(mac.Sum(nil))
}

// TokenMark returns a mark of the token that a certificate has proved for a service. Another token has another mark.
// The mark does not reveal the token. With the same token, marks still differ between certificates and between
// services.
func TokenMark(token, service string, id KeyID) [16]byte {
	service = strings.ToLower(strings.TrimSuffix(service, "."))
	mac := hmac.New(sha256.New, tokenKey(token, "gslb/1 token mark\x00"+service))
	mac.Write(id[:])
	return [16]byte(mac.Sum(nil)[:16])
}

func tokenKey(token, info string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(token), nil, info, sha256.Size)
	if err != nil {
		// only for more than 8160 octets, or a secret below the minimum length of FIPS-only mode
		panic("identity: deriving a key: " + err.Error())
	}
	return key
}
