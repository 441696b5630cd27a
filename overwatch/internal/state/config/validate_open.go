package config

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/shared/settings"
)

// maxNamed is the maximum number of services that a warning lists.
const maxNamed = 10

// unboundedServices adds a warning for services without allowed_cidrs, which accept agent backends at nearly any
// address.
func (v *validator) unboundedServices() {
	o := &v.config.Overwatch
	var open []string
	for _, service := range slices.Sorted(maps.Keys(o.AgentTokens)) {
		if len(o.AgentPolicies[service].AllowedCIDRs) == 0 {
			open = append(open, service)
		}
	}
	if len(open) == 0 {
		return
	}
	list := strings.Join(open[:min(len(open), maxNamed)], ", ")
	if more := len(open) - maxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	v.warn("overwatch.agent_policies: no allowed_cidrs for %s: whoever has the token of such a service can have this "+
		"node connect to "+
		"almost any address; list the networks where its backends are", list)
}

// openAPI adds a warning for an API without tokens or TLS that other machines can reach.
func (v *validator) openAPI(a *API) {
	if !a.Enabled || a.onLoopback() || !slices.ContainsFunc(a.AllowedNetworks,
		func(p netip.Prefix) bool { return !p.Addr().Unmap().IsLoopback() }) {
		return
	}
	var lacks []string
	if !a.Tokens.Any() && a.TLS.ClientCA == "" {
		lacks = append(lacks, "api.tokens")
	}
	if !a.Tokens.Any() && a.TLS.Certificate == "" { // with tokens, the warning about tokens includes this case
		lacks = append(lacks, "api.tls")
	}
	if len(a.AllowedHosts) == 0 {
		lacks = append(lacks, "api.allowed_hosts")
	}
	if len(lacks) > 0 {
		v.warn("api.address: %s is open to more than this machine, without %s: give what is missing, or listen on a "+
			"loopback address",
			a.Address, strings.Join(lacks, ", "))
	}
}

// onLoopback reports whether only this machine can reach the API.
func (a *API) onLoopback() bool {
	at, remedy := settings.ParseListener(a.Address)
	return remedy == "" && at.Addr.IsLoopback()
}
