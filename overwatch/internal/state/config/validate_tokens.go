package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gslb.internal/shared/settings"
)

// Limits of the API's tokens in characters. A brute-force attack could find a token shorter than minAPIToken.
const (
	minAPIToken     = 32
	maxAPIToken     = 512
	maxAPITokenName = 64
)

// apiTokens checks that each token is sufficiently long, well-formed and unique.
func (v *validator) apiTokens(a *API) {
	taken := map[settings.Secret]string{}
	for _, of := range []struct {
		role   string
		tokens map[string]settings.Secret
	}{{"read", a.Tokens.Read}, {"operate", a.Tokens.Operate}, {"admin", a.Tokens.Admin}} {
		for _, name := range slices.Sorted(maps.Keys(of.tokens)) {
			key, token := settings.Entry("api.tokens."+of.role, name), of.tokens[name]
			if name == "" || len(name) > maxAPITokenName || strings.ContainsFunc(name, func(r rune) bool {
				return r <= ' ' ||
					r >= 0x7f
			}) {
				v.Addf(key, "", "the name must be 1 to %d printable characters without spaces, such as dashboard", maxAPITokenName)
			}
			switch {
			case len(token) < minAPIToken || len(token) > maxAPIToken:
				v.Addf(key, "", "the token has %d characters: it must have %d to %d, for example from: head -c 32 "+
					"/dev/urandom | base64", len(token), minAPIToken, maxAPIToken)
			case strings.ContainsFunc(token.Reveal(), func(r rune) bool { return r <= ' ' || r >= 0x7f }):
				v.Add(key, "", "the token has a space or a character that a header cannot carry: give letters, digits and -._~+/=")
			case taken[token] != "":
				v.Addf(key, "", "this is also the token of %s: give each its own", taken[token])
			default:
				taken[token] = key
			}
		}
	}
	if a.Enabled && a.Tokens.Any() && a.TLS.Certificate == "" && !a.onLoopback() {
		v.warn("api.tokens: tokens cross the network in the clear without api.tls: give a certificate, or listen on a " +
			"loopback address")
	}
}

// maxPreviousTokens is the maximum number of previous tokens of a service. The node checks each proof against all of
// them.
const maxPreviousTokens = 4

// previousTokens validates the previous tokens, which the node accepts while agents change to new tokens.
func (v *validator) previousTokens() {
	const key = "overwatch.previous_agent_tokens"
	o := &v.config.Overwatch
	o.PreviousAgentTokens = canonicalKeys(v, key, o.PreviousAgentTokens)
	for _, service := range slices.Sorted(maps.Keys(o.PreviousAgentTokens)) {
		entry, list := settings.Entry(key, service), o.PreviousAgentTokens[service]
		present, served := o.AgentTokens[service]
		switch {
		case !served && v.HasProblem("overwatch.agent_tokens"): // agent_tokens is invalid
		case !served:
			v.Add(entry, "", "agent_tokens has no such service: give it its new token there, or remove this")
		case len(list) > maxPreviousTokens:
			v.Addf(entry, "", "has %d tokens: keep at most %d", len(list), maxPreviousTokens)
		}
		for i, token := range list {
			switch {
			case token == "":
				v.Add(fmt.Sprintf("%s[%d]", entry, i), "", "the token is empty: remove it")
			case served && token == present:
				v.Add(fmt.Sprintf("%s[%d]", entry, i), "", "is also the token in agent_tokens: put the new one there, or "+
					"remove this")
			case slices.Index(list, token) < i:
				v.Add(fmt.Sprintf("%s[%d]", entry, i), "", "is there twice: keep one")
			}
		}
	}
}
