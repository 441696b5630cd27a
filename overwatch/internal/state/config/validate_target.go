package config

import (
	"strings"

	"gslb.internal/shared/settings"
)

// maxResolvers is the maximum number of dns.resolver.servers. Each unreachable resolver delays a query by its timeout.
const maxResolvers = 8

// target validates the host name of a server, and converts it to canonical form.
func (v *validator) target(at serverPlace, s *Server) {
	key := at.String() + ".target"
	name, remedy := settings.ParseHost(s.Target)
	switch {
	case s.Target == "":
		v.Add(at.String()+".allowed_cidrs", "", "is for the addresses of a target: give a target, or remove it")
	case s.Address.IsValid():
		v.Add(key, s.Target, "stands beside an address: keep one of the two")
	case remedy != "":
		v.Add(key, s.Target, remedy)
	case Steers(v.domains, name):
		v.Add(key, s.Target, "is a name that this node answers itself, so it would lead to itself: give the name of "+
			"the servers behind it")
	default:
		s.Target = name
	}
}

// Steers reports whether names contain a canonical name, or a wildcard that matches it.
func Steers[V any](names map[string]V, name string) bool {
	if _, is := names[name]; is {
		return true
	}
	for _, rest, below := strings.Cut(name, "."); below; _, rest, below = strings.Cut(rest, ".") {
		if _, is := names["*."+rest]; is {
			return true
		}
	}
	return false
}

func (v *validator) resolver() {
	const key = "dns.resolver"
	r := &v.config.DNS.Resolver
	for _, server := range r.Servers {
		v.dnsServer(key+".servers", server)
	}
	if len(r.Servers) > maxResolvers {
		v.Addf(key+".servers", "", "give at most %d resolvers", maxResolvers)
	}
	if r.MinTTL > r.MaxTTL {
		v.Addf(key+".min_ttl", r.MinTTL.String(), "must not be greater than max_ttl, which is %s", r.MaxTTL)
	}
}
