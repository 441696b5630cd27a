// Package hostrule checks the Host header of HTTP requests against DNS rebinding. An attacker points the name of a page
// at this program's address, and the browser sends that name as Host. A Rule is immutable, so goroutines may share it.
package hostrule

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Rule is a list of accepted names for Host.
type Rule struct{ names []string }

// New returns a rule that accepts localhost, every address, and names. A name has no scheme; the rule ignores its port.
func New(names ...string) *Rule {
	r := &Rule{names: []string{"localhost"}}
	for _, name := range names {
		r.names = append(r.names, canonical(name))
	}
	return r
}

// Allows reports whether host, the Host of a request, is an address or one of the names. An empty host is neither.
func (r *Rule) Allows(host string) bool {
	name := canonical(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return slices.Contains(r.names, name)
}

// canonical returns the name or the address in a Host header: lower case, without port, brackets and trailing dot.
func canonical(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
