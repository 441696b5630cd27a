package trust

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
)

// TokenSet is a fingerprint of the tokens of agent_tokens with their services. It changes when one of them does, and
// reveals none.
type TokenSet [sha256.Size]byte

// current are the tokens of agent_tokens, without those of previous_agent_tokens.
type current struct {
	set    TokenSet
	values map[string]bool
}

// currentOf picks them out of tokens in the form of Options.Tokens.
func currentOf(tokens map[string][]string) current {
	tokens = usableTokens(tokens)
	c := current{values: make(map[string]bool, len(tokens))}
	var material []byte
	for _, service := range slices.Sorted(maps.Keys(tokens)) {
		for _, text := range []string{service, tokens[service][0]} {
			material = append(binary.BigEndian.AppendUint32(material, uint32(len(text))), text...)
		}
		c.values[tokens[service][0]] = true
	}
	key, err := hkdf.Key(sha256.New, material, nil, "gslb/1 token set", len(c.set))
	if err != nil {
		panic("trust: deriving a key: " + err.Error()) // the size is one that SHA-256 can give
	}
	c.set = TokenSet(key)
	return c
}

// TokenSetOf returns the fingerprint of the current tokens among tokens, which has the form of Options.Tokens, and the
// number of different ones.
func TokenSetOf(tokens map[string][]string) (set TokenSet, different int) {
	c := currentOf(tokens)
	return c.set, len(c.values)
}

// knowsAll reports whether the holder of a pin is expected to know every current token. Of each service that it has
// proved it knows the token of the proof and, unless it is revoked, the current one, which it has or will be given. The
// caller holds mu for reading.
func (t *Trust) knowsAll(key identity.KeyID, pin store.Pin) bool {
	if 2*len(pin.Services) < len(t.current.values) {
		return false
	}
	known := make(map[string]bool)
	for _, proved := range pin.Services {
		for at, token := range t.tokens[proved.Name] {
			if at == 0 && !pin.Revoked || identity.TokenMark(token, proved.Name, key) == proved.TokenMark {
				known[token] = true
			}
		}
	}
	for token := range t.current.values {
		if !known[token] {
			return false
		}
	}
	return len(t.current.values) > 0
}

// tellHolder calls Options.KnowsAll if the holder of a pin knows all tokens. The caller does not hold mu.
func (t *Trust) tellHolder(key identity.KeyID, pin store.Pin) {
	if t.onKnowsAll == nil {
		return
	}
	t.mu.RLock()
	knows, set := t.knowsAll(key, pin), t.current.set
	t.mu.RUnlock()
	if knows {
		t.onKnowsAll(set, pin.AgentID)
	}
}

// tellHolders is tellHolder for all pins.
func (t *Trust) tellHolders() {
	t.mu.RLock()
	agents := slices.Collect(maps.Values(t.byID))
	t.mu.RUnlock()
	for _, p := range agents {
		t.tellHolder(p.certificate.KeyID, p.stored())
	}
}
