package zone

import (
	"net/netip"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// Selection describes how the first address of a load-balanced answer was selected: the decision input, the client
// location and the address. It is zero for other answers.
type Selection struct {
	Input    *policy.DecisionInput // nil for a static answer, or if the input was not stored
	Region   geo.RegionID          // region of the client
	Location geo.LocationID        // location of the client, if the input has locations
	Variant  uint16                // number of the answer for this location; 0 if all clients get the same
	Lead     uint16                // index in Decision.Due of the first address; NoLead without an address
	Family   policy.Family         // address family of the decision
}

// NoLead is the Lead of an answer without an address.
const NoLead = 1<<16 - 1

// ClientLocation returns the location of the client. Input must not be nil.
func (s *Selection) ClientLocation() policy.ClientLocation {
	return s.Input.LocationOf(uint16(s.Region), uint16(s.Location))
}

// commonSelection returns the Selection of an answer that is the same for all clients. index is the index of the
// load-balanced answers in a.balanced.
func (a *answers) commonSelection(v *View, index int, client netip.Addr, lead int) Selection {
	if a.input == nil {
		return Selection{}
	}
	return a.selectionAt(index, clientLocation{region: v.regionOf(client)}, lead)
}

// selectionAt returns the Selection of an answer for a client location.
func (a *answers) selectionAt(index int, at clientLocation, lead int) Selection {
	if a.input == nil {
		return Selection{}
	}
	return Selection{a.input, at.region, at.location, at.variant, uint16(lead), a.balanced[index].kind.Family}
}

// emptySelection returns the Selection of an answer without records.
func (a *answers) emptySelection(v *View, index int, client netip.Addr) Selection {
	return a.commonSelection(v, index, client, NoLead)
}

// locateRegion returns the region of a client, and the number of address bits that determined the region.
func (v *View) locateRegion(client netip.Addr) (geo.RegionID, uint8) {
	if table := v.regions.Load(); table != nil {
		return table.Locate(client)
	}
	return geo.NoRegion, 0
}

// regionOf returns the region of a client.
func (v *View) regionOf(client netip.Addr) geo.RegionID {
	if table := v.regions.Load(); table != nil {
		return table.Region(client)
	}
	return geo.NoRegion
}
