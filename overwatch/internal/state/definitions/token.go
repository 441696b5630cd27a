package definitions

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

const (
	// maxTokenName is the maximum length of the name of a token, in octets.
	maxTokenName = 64
	// tokenHashSize is the size of the hash of a bearer token: SHA-256.
	tokenHashSize = 32
)

// TSIGKeySize returns the size of the key of a TSIG algorithm in octets, the size of its hash (RFC 8945 section 6), or
// 0 for an unknown algorithm.
func TSIGKeySize(algorithm string) int {
	return map[string]int{model.HMACSHA256: 32, model.HMACSHA512: 64}[algorithm]
}

// CheckToken returns the first fault of a token that is independent of other definitions.
func CheckToken(t *model.Token) error {
	if remedy := settings.LabelRemedy(t.Name, maxTokenName); remedy != "" {
		return fmt.Errorf("name is %.70q: %s", t.Name, remedy)
	}
	if !slices.Contains(api.Roles(), api.Role(t.Role)) {
		return fmt.Errorf("role is %.64q: it must be read, operate or admin", t.Role)
	}
	return errors.Join(checkCredential(t), config.CheckScope(&t.Scope),
		checkOptionalText("comment", t.Comment, model.MaxComment),
		checkOptionalText("created_by", t.CreatedBy, api.MaxReason), CheckOwner(t.Owner))
}

// checkCredential returns the first fault of the type and the secret of a token.
func checkCredential(t *model.Token) error {
	checks, known := map[string]func(*model.Token) error{model.TokenBearer: checkBearer,
		model.TokenTSIG: checkTSIG}[t.Type]
	if !known {
		return fmt.Errorf("type is %.64q: it must be %s", t.Type, strings.Join(model.TokenTypes(), " or "))
	}
	return checks(t)
}

func checkBearer(t *model.Token) error {
	isHash := func(text string) bool {
		raw, err := hex.DecodeString(text)
		return err == nil && len(raw) == tokenHashSize
	}
	switch {
	case t.Algorithm != "":
		return fmt.Errorf("algorithm is %.64q: only a token of the type tsig has an algorithm", t.Algorithm)
	case t.Secret != "" || !isHash(t.Hash) || t.PreviousHash != "" && !isHash(t.PreviousHash):
		return errors.New("the stored form of the token has no valid hash: rotate or revoke the token")
	}
	return nil
}

func checkTSIG(t *model.Token) error {
	size := TSIGKeySize(t.Algorithm)
	if size == 0 {
		return fmt.Errorf("algorithm is %.64q: it must be %s", t.Algorithm, strings.Join(model.TSIGAlgorithms(), " or "))
	}
	if t.Role != string(api.RoleAdmin) {
		return fmt.Errorf("role is %.64q: a TSIG key changes records, so its role must be admin", t.Role)
	}
	if remedy := config.CanonicalNameRemedy(t.Name); remedy != "" {
		return fmt.Errorf("name is %.70q: the name of a TSIG key must be a domain name in lower case, such as acme.example",
			t.Name)
	}
	key, err := base64.StdEncoding.DecodeString(t.Secret)
	if err != nil || len(key) != size || t.Hash != "" || t.PreviousHash != "" {
		return fmt.Errorf("the stored form of the TSIG key has no secret of %d octets: rotate or revoke the token", size)
	}
	return nil
}
