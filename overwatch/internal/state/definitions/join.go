package definitions

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/model"
)

// Join returns the configuration of a file with the definitions of the API. A definition of the file has precedence
// over a definition of the API with the same name. References to regions receive the spelling of the region, so that
// readers can compare names of regions exactly. The Set and file stay unchanged, and the result shares their memory.
// names are the names of the domains of the file.
func (s *Set) Join(file *config.Config, names Names) *config.Config {
	joined := *file
	known, spelled := s.joinRegions(&joined, file), s.RegionNames(file)
	s.joinMappings(&joined, file, known, spelled)
	return s.joinTargets(joined.WithDomains(s.enabledDomains(known, spelled, names)), file, known, spelled)
}

// Names is the set of a file's domain names.
type Names map[string]bool

// NamesIn returns the names of the domains of a file, including disabled domains. It is slow for very many domains.
func NamesIn(file *config.Config) Names {
	names := make(Names, len(file.Domains))
	for _, list := range [][]config.Domain{file.Domains, file.Disabled()} {
		for i := range list {
			names[list[i].Name] = true
		}
	}
	return names
}

// joinRegions adds the enabled regions in the order of their priority, and returns the names of all.
func (s *Set) joinRegions(joined, file *config.Config) map[string]bool {
	known := make(map[string]bool, len(file.Regions)+len(s.Regions))
	for i := range file.Regions {
		known[file.Regions[i].Name] = file.Regions[i].Enabled
	}
	added := slices.SortedFunc(maps.Values(s.Regions), func(a, b *model.Region) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Name, b.Name))
	})
	joined.Regions = slices.Clip(file.Regions)
	for _, r := range added {
		if _, inFile := known[r.Name]; inFile || !r.Enabled {
			continue
		}
		known[r.Name] = true
		joined.Regions = append(joined.Regions, *r)
	}
	return known
}

// joinMappings adds the mappings with existing regions.
func (s *Set) joinMappings(joined, file *config.Config, known map[string]bool, spelled config.RegionNames) {
	written := make(map[netip.Prefix]bool, len(file.Overwatch.Geolocation.CustomMappings))
	for _, m := range file.Overwatch.Geolocation.CustomMappings {
		written[model.Network(m.CIDR)] = true
	}
	list := slices.Clip(file.Overwatch.Geolocation.CustomMappings)
	for network, m := range s.Mappings {
		if region := spelled.Of(m.Region); known[region] && !written[network] {
			joined := *m
			joined.CIDR, joined.Region = network, region
			list = append(list, joined)
		}
	}
	slices.SortFunc(list[len(written):], func(a, b config.CustomMapping) int { return compareNetworks(a.CIDR, b.CIDR) })
	joined.Overwatch.Geolocation.CustomMappings = list
}

// compareNetworks orders networks by family, address and length.
func compareNetworks(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

// enabledDomains returns the enabled domains that are not in the file, without regions that do not exist. They are not
// appended to the file's, which may be 100,000 and would be copied at each change.
func (s *Set) enabledDomains(known map[string]bool, spelled config.RegionNames, names Names) []config.Domain {
	list := make([]config.Domain, 0, len(s.Domains))
	for _, name := range slices.Sorted(maps.Keys(s.Domains)) { // the same order each time
		if d := s.Domains[name]; d.Enabled && !names[name] {
			list = append(list, joinedDomain(d, known, spelled))
		}
	}
	return list
}

// joinedDomain returns a domain of the API without regions that do not exist.
func joinedDomain(d *model.Domain, known map[string]bool, spelled config.RegionNames) config.Domain {
	c := *d
	c.Regions = existing(d.Regions, known, spelled)
	return c
}

// existing returns a list of regions in the spelling of the regions, each once, without regions that do not exist.
func existing(list []string, known map[string]bool, spelled config.RegionNames) []string {
	if list == nil {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, region := range spelled.All(list) {
		if known[region] && !slices.Contains(out, region) {
			out = append(out, region)
		}
	}
	return out
}
