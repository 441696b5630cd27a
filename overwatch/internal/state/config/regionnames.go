package config

import "strings"

// RegionNames maps names of regions to their ids, case-insensitively. Its keys are the ids, and the ids in lower case.
type RegionNames map[string]string

// NewRegionNames returns the regions of a list.
func NewRegionNames(regions []Region) RegionNames {
	names := make(RegionNames, 2*len(regions))
	for i := range regions {
		names.Add(regions[i].Name)
	}
	return names
}

// Add adds a region. Versions up to 0.9 allowed ids that differ only in case. Each of two such ids maps to itself.
func (n RegionNames) Add(id string) {
	n[id] = id
	if lower := strings.ToLower(id); n[lower] == "" {
		n[lower] = id
	}
}

// Of returns the id of the region with a name in any case, or the name itself if there is no such region.
func (n RegionNames) Of(text string) string {
	if id, known := n[text]; known {
		return id
	}
	if id, known := n[strings.ToLower(text)]; known {
		return id
	}
	return text
}

// All replaces each element of a list by the result of Of. If an element changes, it changes a copy of the list.
func (n RegionNames) All(list []string) []string {
	for i, text := range list {
		if id := n.Of(text); id != text {
			out := append([]string(nil), list...)
			for ; i < len(out); i++ {
				out[i] = n.Of(out[i])
			}
			return out
		}
	}
	return list
}

// canonicalizeRegions replaces each reference to a region by the name of the region, so that readers can compare names
// of regions exactly. It does not change references to missing regions.
func (c *Config) canonicalizeRegions() {
	names := NewRegionNames(c.Regions)
	for i := range c.Domains {
		d := &c.Domains[i]
		d.Regions = names.All(d.Regions)
	}
	g := &c.Overwatch.Geolocation
	g.DefaultRegion = names.Of(g.DefaultRegion)
	for i := range g.CustomMappings {
		m := &g.CustomMappings[i]
		m.Region = names.Of(m.Region)
	}
	identity := &c.Overwatch.Identity
	identity.Region = names.Of(identity.Region)
}
