package definitions

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

const (
	// maxTokenName is the maximum length of the name of a token, in octets.
	maxTokenName = 64
	// maxScopeEntries is the maximum number of entries of a list in a scope.
	maxScopeEntries = 100
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
	return errors.Join(checkCredential(t), checkScope(&t.Scope), checkOptionalText("comment", t.Comment, model.MaxComment),
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
	if remedy := nameRemedy(t.Name); remedy != "" {
		return fmt.Errorf("name is %.70q: the name of a TSIG key must be a domain name in lower case, such as acme.example",
			t.Name)
	}
	key, err := base64.StdEncoding.DecodeString(t.Secret)
	if err != nil || len(key) != size || t.Hash != "" || t.PreviousHash != "" {
		return fmt.Errorf("the stored form of the TSIG key has no secret of %d octets: rotate or revoke the token", size)
	}
	return nil
}

// checkScope returns the first fault of a scope. It accepts kinds of later versions.
func checkScope(s *model.TokenScope) error {
	lists := []struct {
		field   string
		entries []string
		remedy  func(string) string
	}{
		{"zones", s.Zones, nameRemedy}, {"names", s.Names, patternRemedy}, {"kinds", s.Kinds, labelRemedy(maxTokenName)},
		{"regions", s.Regions, labelRemedy(wire.MaxRegion)}, {"owners", s.Owners, labelRemedy(api.MaxOwner)},
		{"actions", s.Actions, func(action string) string {
			if slices.Contains(model.TokenActions(), action) {
				return ""
			}
			return "it must be one of " + strings.Join(model.TokenActions(), ", ")
		}},
	}
	for _, l := range lists {
		if len(l.entries) > maxScopeEntries {
			return fmt.Errorf("scope.%s has %d entries: at most %d are allowed", l.field, len(l.entries), maxScopeEntries)
		}
		for _, entry := range l.entries {
			if remedy := l.remedy(entry); remedy != "" {
				return fmt.Errorf("scope.%s has %.260q: %s", l.field, entry, remedy)
			}
		}
	}
	return nil
}

func labelRemedy(limit int) func(string) string {
	return func(text string) string { return settings.LabelRemedy(text, limit) }
}

// nameRemedy returns how to correct the name of a zone, or "".
func nameRemedy(name string) string {
	canonical, remedy := settings.ParseName(name)
	if remedy == "" && canonical != name {
		return fmt.Sprintf("it must be %q", canonical)
	}
	return remedy
}

// patternRemedy returns how to correct a name or a wildcard of all names below a name, or "".
func patternRemedy(pattern string) string {
	below, _ := strings.CutPrefix(pattern, "*.")
	return nameRemedy(below)
}
