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

// TokenSet is a fingerprint of the tokens of agent_tokens with their services. It does not reveal the tokens.
type TokenSet [sha256.Size]byte

// currentTokens are the tokens of agent_tokens, without previous_agent_tokens.
type currentTokens struct {
	set    TokenSet
	values map[string]bool
}

// currentTokensOf returns the current tokens of Options.Tokens.
func currentTokensOf(tokens map[string][]string) currentTokens {
	tokens = usableTokens(tokens)
	c := currentTokens{values: make(map[string]bool, len(tokens))}
	var material []byte
	for _, service := range slices.Sorted(maps.Keys(tokens)) {
		for _, text := range []string{service, tokens[service][0]} {
			material = append(binary.BigEndian.AppendUint32(material, uint32(len(text))), text...)
		}
		c.values[tokens[service][0]] = true
	}
	key, err := hkdf.Key(sha256.New, material, nil, "gslb/1 token set", len(c.set))
	if err != nil {
		panic("trust: deriving a key: " + err.Error()) // impossible for this size
	}
	c.set = TokenSet(key)
	return c
}

// TokenSetOf returns the fingerprint of the current tokens of Options.Tokens, and the number of distinct tokens.
func TokenSetOf(tokens map[string][]string) (set TokenSet, different int) {
	c := currentTokensOf(tokens)
	return c.set, len(c.values)
}

// knowsAll reports whether the agent of a pin knows all current tokens. It knows the token of each proof and, unless it
// is revoked, the current token of each proved service. The caller holds mu for reading.
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

// reportHolder calls Options.KnowsAll if the agent of a pin knows all tokens. The caller must not hold mu.
func (t *Trust) reportHolder(key identity.KeyID, pin store.Pin) {
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

// reportHolders calls reportHolder for all pins.
func (t *Trust) reportHolders() {
	t.mu.RLock()
	agents := slices.Collect(maps.Values(t.byID))
	t.mu.RUnlock()
	for _, p := range agents {
		t.reportHolder(p.certificate.KeyID, p.storedPin())
	}
}
