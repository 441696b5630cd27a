package definitions

import (
	"cmp"
	"fmt"
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
// names are the names of the objects of the file.
func (s *Set) Join(file *config.Config, names Names) *config.Config {
	joined := *file
	j := &joining{file: file, names: names, spelled: s.RegionNames(file), result: &joined}
	for _, k := range kinds {
		k.join(s, j)
	}
	return j.result
}

// joining is a configuration to which kinds add their objects, one after another.
type joining struct {
	file    *config.Config
	names   Names              // of the objects of the file
	known   map[string]bool    // the regions that exist, and whether they are enabled; set by the kind of regions
	spelled config.RegionNames // of all regions
	result  *config.Config
}

// Names is the set of the names of the objects of a file, by kind.
type Names map[string]map[string]bool

// NamesIn returns the names of the objects of a file, including disabled objects. It is slow for very many domains.
func NamesIn(file *config.Config) Names {
	all := make(Names, len(kinds))
	for _, k := range kinds {
		list := k.fileNames(file)
		names := make(map[string]bool, len(list))
		for _, name := range list {
			names[name] = true
		}
		all[k.Name()] = names
	}
	return all
}

func domainsOf(file *config.Config) []string {
	names := make([]string, 0, len(file.Domains)+len(file.Disabled()))
	for _, list := range [][]config.Domain{file.Domains, file.Disabled()} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return names
}

func regionsOf(file *config.Config) (names []string) {
	for i := range file.Regions {
		names = append(names, file.Regions[i].Name)
	}
	return names
}

func mappingsOf(file *config.Config) (networks []string) {
	for i := range file.Overwatch.Geolocation.CustomMappings {
		networks = append(networks, file.Overwatch.Geolocation.CustomMappings[i].Key())
	}
	return networks
}

// regions adds the enabled regions in the order of their priority.
func (j *joining) regions(s *Set) {
	j.known = make(map[string]bool, len(j.file.Regions)+len(s.Regions))
	for i := range j.file.Regions {
		j.known[j.file.Regions[i].Name] = j.file.Regions[i].Enabled
	}
	added := slices.SortedFunc(maps.Values(s.Regions), func(a, b *model.Region) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Name, b.Name))
	})
	j.result.Regions = slices.Clip(j.file.Regions)
	for _, r := range added {
		if _, inFile := j.known[r.Name]; inFile || !r.Enabled {
			continue
		}
		j.known[r.Name] = true
		j.result.Regions = append(j.result.Regions, *r)
	}
}

// mappings adds the mappings with existing regions.
func (j *joining) mappings(s *Set) {
	ofFile := j.file.Overwatch.Geolocation.CustomMappings
	written := make(map[string]bool, len(ofFile))
	for i := range ofFile {
		written[ofFile[i].Key()] = true
	}
	list := slices.Clip(ofFile)
	for network, m := range s.Mappings {
		if region := j.spelled.Of(m.Region); j.known[region] && !written[network] {
			joined := *m
			joined.CIDR, joined.Region = model.Network(m.CIDR), region
			list = append(list, joined)
		}
	}
	slices.SortFunc(list[len(written):], func(a, b config.CustomMapping) int { return CompareNetworks(a.CIDR, b.CIDR) })
	j.result.Overwatch.Geolocation.CustomMappings = list
}

// CompareNetworks orders networks by family, address and length.
func CompareNetworks(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}

// domains adds the enabled domains that are not in the file, without regions that do not exist. It does not append them
// to the domains of the file, because it would copy up to 100,000 domains at each change.
func (j *joining) domains(s *Set) {
	list := make([]config.Domain, 0, len(s.Domains))
	for _, name := range slices.Sorted(maps.Keys(s.Domains)) { // the same order each time
		if d := s.Domains[name]; d.Enabled && !j.names[model.KindDomain][name] {
			list = append(list, joinedDomain(d, j.known, j.spelled))
		}
	}
	j.result = j.result.WithDomains(list)
}

// joinedDomain returns an API domain without missing regions.
func joinedDomain(d *model.Domain, known map[string]bool, spelled config.RegionNames) config.Domain {
	c := *d
	c.Regions = existing(d.Regions, known, spelled)
	return c
}

// existing returns a list of regions without duplicates and missing regions, in the spelling of the regions.
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

func unusedDomain(d *model.Domain, missing func(region string) bool) string {
	for _, region := range d.Regions {
		if d.Enabled && missing(region) {
			return fmt.Sprintf("it is served without its region %s, which is not there, or disabled", region)
		}
	}
	return ""
}

func unusedMapping(m *model.Mapping, missing func(region string) bool) string {
	if missing(m.Region) {
		return fmt.Sprintf("there is no region %s, or it is disabled", m.Region)
	}
	return ""
}
