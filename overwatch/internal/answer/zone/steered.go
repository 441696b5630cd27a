package zone

import (
	"net/netip"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// Steered tells of a steered answer what it follows from. It is zero for all others.
type Steered struct {
	Basis  *policy.Basis // nil: not steered, or the basis was not kept
	Number uint32        // of the basis, so that it need not be read
	Region geo.RegionID  // where the client is
	Spot   geo.SpotID    // where in it, for a Basis that has Spots
	Choice uint16        // which of the name's answers for different clients it is; 0 where all are answered alike
	Lead   uint16        // of the decision's addresses, the one that came first; of an answer without any, NoLead
	Family policy.Family
}

// NoLead is the Lead of an answer without an address.
const NoLead = 1<<16 - 1

// Client is where the client is. There must be a Basis.
func (s *Steered) Client() policy.Spot { return s.Basis.Client(uint16(s.Region), uint16(s.Spot)) }

// steeredBy is what is told of an answer with an address that does not depend on where the client is.
func (a *answers) steeredBy(v *View, which policy.Family, client netip.Addr, lead int) Steered {
	if a.basis == nil {
		return Steered{}
	}
	return a.steeredAt(which, spot{region: v.region(client)}, lead)
}

// steeredAt is what is told of an answer with an address.
func (a *answers) steeredAt(which policy.Family, at spot, lead int) Steered {
	if a.basis == nil {
		return Steered{}
	}
	return Steered{a.basis, a.number, at.region, at.id, at.choice, uint16(lead), which}
}

// unanswered is what is told of an answer without an address.
func (a *answers) unanswered(v *View, which policy.Family, client netip.Addr) Steered {
	if a.basis == nil {
		return Steered{}
	}
	return a.steeredAt(which, spot{region: v.region(client)}, NoLead)
}

// locate finds where a client is, and how many bits of its address that depends on.
func (v *View) locate(client netip.Addr) (geo.RegionID, uint8) {
	if table := v.places.Load(); table != nil {
		return table.Locate(client)
	}
	return geo.NoRegion, 0
}

// region is where a client is.
func (v *View) region(client netip.Addr) geo.RegionID {
	if table := v.places.Load(); table != nil {
		return table.Region(client)
	}
	return geo.NoRegion
}
