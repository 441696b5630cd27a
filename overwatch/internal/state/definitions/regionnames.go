package definitions

import (
	"strings"

	"gslb.internal/overwatch/internal/state/config"
)

// RegionNames finds the ids of regions, which are compared without case. It has each id, and each id in lower case.
type RegionNames map[string]string

// RegionNames returns the regions of a file and of the API.
func (s *Set) RegionNames(file *config.Config) RegionNames {
	names := make(RegionNames, 2*(len(file.Regions)+len(s.Regions)))
	for i := range file.Regions {
		names.Add(file.Regions[i].Name)
	}
	for id := range s.Regions {
		names.Add(id)
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
