package definitions

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/store"
)

// Join returns a file's configuration with what the API has defined and the file has not. Where both have something of one name
// the file wins. Neither is changed, and what comes of it shares their memory.
func (s *Set) Join(file *config.Config) *config.Config {
	joined := *file
	known := s.joinRegions(&joined, file)
	s.joinMappings(&joined, file, known)
	s.joinDomains(&joined, file, known)
	return &joined
}

// joinRegions adds the enabled regions in the order of their priority, and returns the names of all.
func (s *Set) joinRegions(joined, file *config.Config) map[string]bool {
	known := make(map[string]bool, len(file.Regions)+len(s.Regions))
	for i := range file.Regions {
		known[file.Regions[i].Name] = true
	}
	added := slices.SortedFunc(maps.Values(s.Regions), func(a, b *store.Region) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Name, b.Name))
	})
	joined.Regions = slices.Clip(file.Regions)
	for _, r := range added {
		if !r.Enabled || known[r.Name] {
			continue
		}
		known[r.Name] = true
		region := config.Region{Name: r.Name, Countries: r.Countries, Latitude: r.Latitude, Longitude: r.Longitude}
		if r.Continent != "" {
			region.Continents = []string{r.Continent}
		}
		joined.Regions = append(joined.Regions, region)
	}
	return known
}

// joinMappings adds the mappings whose region is there.
func (s *Set) joinMappings(joined, file *config.Config, known map[string]bool) {
	written := make(map[netip.Prefix]bool, len(file.Overwatch.Geolocation.CustomMappings))
	for _, m := range file.Overwatch.Geolocation.CustomMappings {
		written[Network(m.CIDR)] = true
	}
	list := slices.Clip(file.Overwatch.Geolocation.CustomMappings)
	for network, m := range s.Mappings {
		if known[m.Region] && !written[network] {
			list = append(list, config.CustomMapping{CIDR: network, Region: m.Region, Comment: m.Comment})
		}
	}
	slices.SortFunc(list[len(written):], func(a, b config.CustomMapping) int { return compareNetworks(a.CIDR, b.CIDR) })
	joined.Overwatch.Geolocation.CustomMappings = list
}

// compareNetworks orders networks by family, address and length.
func compareNetworks(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

// joinDomains adds the enabled domains in the order of their names, without regions that are not there.
func (s *Set) joinDomains(joined, file *config.Config, known map[string]bool) {
	named := make(map[string]bool, len(file.Domains))
	if len(s.Domains) > 0 {
		for i := range file.Domains {
			named[file.Domains[i].Name] = true
		}
	}
	joined.Domains = slices.Clip(file.Domains)
	for _, name := range slices.Sorted(maps.Keys(s.Domains)) {
		d := s.Domains[name]
		if !d.Enabled || named[name] {
			continue
		}
		c := Domain(d)
		c.Regions = slices.DeleteFunc(slices.Clone(d.Regions), func(region string) bool { return !known[region] })
		joined.Domains = append(joined.Domains, c)
	}
}

// Domain is a domain of the API as the configuration would have it.
func Domain(d *store.Domain) config.Domain {
	var c config.Domain
	c.SetDefaults()
	c.Name, c.TTL, c.RoutingAlgorithm, c.FallbackAlgorithm, c.Regions = d.Name, d.TTL, d.RoutingPolicy, d.FallbackAlgorithm, d.Regions
	c.MinHealthy = d.MinHealthy
	return c
}
