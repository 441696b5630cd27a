package zone

import (
	"net/netip"

	"gslb.internal/overwatch/internal/geo"
	"gslb.internal/overwatch/internal/policy"
)

// Steered tells of a steered answer what it follows from. It is zero for all others.
type Steered struct {
	Basis  *policy.Basis // nil: not steered, or the basis was not kept
	Number uint32        // of the basis, so that it need not be read
	Region geo.RegionID  // where the client is
	Lead   uint16        // of the decision's addresses, the one that came first; of an answer without any, NoLead
	Family policy.Family
}

// NoLead is the Lead of an answer without an address.
const NoLead = 1<<16 - 1

// steeredBy is what is told of an answer with an address. The region is known where the answer depends on it.
func (a *answers) steeredBy(v *View, which policy.Family, client netip.Addr, region geo.RegionID, lead int) Steered {
	if a.basis == nil {
		return Steered{}
	}
	if a.placed == nil {
		region = v.region(client)
	}
	return Steered{a.basis, a.number, region, uint16(lead), which}
}

// unanswered is what is told of an answer without an address.
func (a *answers) unanswered(v *View, which policy.Family, client netip.Addr) Steered {
	if a.basis == nil {
		return Steered{}
	}
	return Steered{a.basis, a.number, v.region(client), NoLead, which}
}

// region is where a client is.
func (v *View) region(client netip.Addr) geo.RegionID {
	if table := v.places.Load(); table != nil {
		return table.Region(client)
	}
	return geo.NoRegion
}
