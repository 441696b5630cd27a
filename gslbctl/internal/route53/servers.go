package route53

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/imports"
)

// maxWeight is the maximum weight of a server on a node.
const maxWeight = 1000

// placed is a server in its region.
type placed struct {
	*imports.Server
	region string
	set    *recordSet // first set of the server
	half   int        // sum of weights in the other address family, if an alias has a set for each family
}

// isBackend reports whether two servers have the same address or target.
func isBackend(s, other *imports.Server) bool {
	return s.Address == other.Address && s.Target == other.Target
}

// checked reports whether a server has a health check.
func checked(s *imports.Server) bool { return s.Check.Enabled == nil }

// serversOf returns the servers of a record set, and reports the differences between the set and its servers. target is
// the host name of an alias or a CNAME record; if target is empty, each address is a server.
func (b *builder) serversOf(s *recordSet, addresses []string, target string) (out []*imports.Server, err error) {
	differences := []string{}
	if target != "" {
		addresses = []string{target}
	}
	for _, text := range addresses {
		server := &imports.Server{Service: b.domain.Name, Target: target}
		var at netip.Addr
		if target == "" {
			if at, err = netip.ParseAddr(text); err != nil {
				return nil, fmt.Errorf("%q is no address", text)
			}
			server.Address = at.String()
		}
		difference := ""
		server.Check, server.Port, difference = b.check(s.HealthCheckId, at)
		if s.Weight != nil {
			server.Weight = max(*s.Weight, 1) // if one weight is 0, all weights of the region are 0
		}
		if difference != "" && !slices.Contains(differences, difference) {
			differences = append(differences, difference)
		}
		out = append(out, server)
	}
	switch {
	case target != "" && s.Type == "CNAME":
		differences = append(differences, "answered only once this node finds an address of "+target)
	case target != "":
		differences = append(differences, "answered with the IPv4 and IPv6 addresses of "+target+", without its health")
	}
	for _, difference := range differences {
		b.result.Differs(s.String(), "%s", difference)
	}
	return out, nil
}

// add adds a server of a set. If the region has the same server, add sums the weights. The sets of an alias in both
// address families form one server.
func (b *builder) add(s *recordSet, server *imports.Server, region string) {
	twin := b.twin(s, server, region)
	alike := twin != nil && twin.set.HealthCheckId == s.HealthCheckId
	switch {
	case twin != nil && server.Target != "" && twin.set.Type != s.Type:
		if twin.half += server.Weight; !alike {
			b.result.Differs(s.String(), "it is checked as its other family is, %s", twin.set)
		}
		return
	case alike && s.Weight == nil:
		b.result.Differs(s.String(), "%s is there already, in another set", server.Address+server.Target)
		return
	case alike && twin.Weight+server.Weight <= maxWeight:
		twin.Weight += server.Weight
		return
	}
	if checked(server) && slices.ContainsFunc(b.servers, func(o *placed) bool {
		return isBackend(o.Server, server) && checked(o.Server) && o.Port == server.Port
	}) {
		b.result.Differs(s.String(), "%s is not checked for this set, and answered also when it is down: a node has "+
			"one "+
			"check of its port %d", server.Address+server.Target, server.Port)
		server.Check, server.Port = imports.NoCheck(), unchecked
	}
	b.servers = append(b.servers, &placed{Server: server, region: region, set: s})
	if b.counts == nil {
		b.counts = map[string]int{}
	}
	b.counts[region+s.Type]++
}

// twin returns the server in a region that has the same address or target, preferably with the same health check, or
// nil.
func (b *builder) twin(s *recordSet, server *imports.Server, region string) (twin *placed) {
	for _, o := range b.servers {
		if o.region == region && isBackend(o.Server, server) && (twin == nil ||
			o.set.HealthCheckId == s.HealthCheckId) {
			twin = o
		}
	}
	return twin
}

// addDomain completes the settings of the domain that depend on all of its servers (answer, max_answers, order of
// regions), and adds the domain and its servers to the result.
func (b *builder) addDomain() {
	b.ownPorts()
	for _, s := range b.servers {
		region := b.result.Config.Region(s.region)
		region.Servers = append(region.Servers, s.Server)
		b.addresses = b.addresses || s.Target == ""
		if s.Target != "" {
			b.domain.MaxAnswers = 8
		}
		if s.half > 0 && s.half != s.Weight {
			b.result.Differs(b.domain.Name, "%s has the weight %d in both address families, not %d in one", s.Target,
				s.Weight,
				s.half)
		}
	}
	for _, count := range b.counts {
		b.domain.MaxAnswers = max(b.domain.MaxAnswers, min(count, 8))
	}
	switch {
	case !b.addresses:
		b.domain.Answer, b.domain.MaxAnswers = "cname", 0
	case slices.ContainsFunc(b.servers, func(p *placed) bool { return p.set.Weight != nil }):
		b.domain.MaxAnswers = 1
	}
	if i := slices.Index(b.domain.Regions, anyPlace); i >= 0 { // first: it answers clients of a failed region
		b.domain.Regions = append([]string{anyPlace}, slices.Delete(b.domain.Regions, i, i+1)...)
	}
	slices.SortStableFunc(b.domain.Regions, func(x, y string) int { // "primary" before "secondary"
		if b.domain.Algorithm != "failover" {
			return 0
		}
		return strings.Compare(x, y)
	})
	b.result.AddDomain(b.domain)
	b.result.Taken += b.records
}

// ownPorts increments the port of each server without a check until no other server is the same backend. A server with
// a target is the same backend as each server with its port, since targets can have the same address, as with a CDN.
func (b *builder) ownPorts() {
	var done, rest []*placed
	for _, s := range b.servers {
		if checked(s.Server) {
			done = append(done, s)
		} else {
			rest = append(rest, s)
		}
	}
	for _, s := range rest {
		for slices.ContainsFunc(done, func(o *placed) bool {
			return o.Port == s.Port && (s.Target+o.Target != "" || o.Address == s.Address)
		}) {
			s.Port++
		}
		done = append(done, s)
	}
}
