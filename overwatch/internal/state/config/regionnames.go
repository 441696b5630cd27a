package config

import "strings"

// RegionNames finds the ids of regions, which are compared without case. It has each id, and each id in lower case.
type RegionNames map[string]string

// NewRegionNames returns the regions of a list.
func NewRegionNames(regions []Region) RegionNames {
	names := make(RegionNames, 2*len(regions))
	for i := range regions {
		names.Add(regions[i].Name)
	}
	return names
}

// Add adds a region. Of two ids that differ only in case, which versions up to 0.9 allowed, each finds itself.
func (n RegionNames) Add(id string) {
	n[id] = id
	if lower := strings.ToLower(id); n[lower] == "" {
		n[lower] = id
	}
}

// Of returns the id of a region that a text names in any case, or the text if it names no region.
func (n RegionNames) Of(text string) string {
	if id, known := n[text]; known {
		return id
	}
	if id, known := n[strings.ToLower(text)]; known {
		return id
	}
	return text
}

// All replaces each text of a list by Of. It changes the list only if a text differs, and then in a copy.
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

// canonicalizeRegions replaces each reference to a region by the name of the region, so that all readers may compare
// names of regions exactly. References to regions that do not exist stay.
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
