package document

import (
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/state/definitions"
)

const (
	// maxSettings is the maximum number of sections of a document. Fewer sections exist.
	maxSettings = 100
	// objectsPerLook is the number of objects between two checks of the client connection.
	objectsPerLook = 256
)

// maxObjects returns the maximum number of objects in a document, which equals the maximum of the API.
func maxObjects() int {
	total := 0
	for _, most := range listBounds() {
		total += most
	}
	return total
}

// listBounds returns the maximum length of each list of a document.
func listBounds() map[string]int {
	return map[string]int{"regions": definitions.MaxRegions, "domains": definitions.MaxDomains,
		"servers": inventory.MaxServers + definitions.MaxTargets, "mappings": definitions.MaxMappings,
		"agents": definitions.MaxNodes, "settings": maxSettings}
}

// checkLengths rejects a list with more objects than the limit of the API.
func (l *objectLists) checkLengths() error {
	most := listBounds()
	for _, list := range []struct {
		name string
		have int
	}{{"regions", len(l.Regions)}, {"domains", len(l.Domains)}, {"servers", len(l.Servers)},
		{"mappings", len(l.Mappings)}, {"agents", len(l.Agents)}, {"settings", len(l.Settings)}} {
		if list.have > most[list.name] {
			return fault.New(fault.TooLarge, "%s has %d objects: at most %d are allowed", list.name,
				list.have, most[list.name])
		}
	}
	return nil
}
