package zone

import (
	"net/netip"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// Steered says why a steered answer was given: basis, client's place, and the address that came first. It is zero for
// all other answers.
type Steered struct {
	Basis  *policy.Basis // nil: not steered, or the basis was not kept
	Region geo.RegionID  // of the client
	Spot   geo.SpotID    // of the client, for a Basis that has Spots
	Choice uint16        // number of the name's answer for such clients; 0 where all are answered alike
	Lead   uint16        // index in Decision.Due of the address that came first; NoLead without one
	Family policy.Family // that the decision was for
}

// NoLead is the Lead of an answer without an address.
const NoLead = 1<<16 - 1

// Client returns the spot of the client. There must be a Basis.
func (s *Steered) Client() policy.Spot { return s.Basis.Client(uint16(s.Region), uint16(s.Spot)) }

// steeredBy returns the reason for an answer that does not depend on the client's place. which is an index of steered.
func (a *answers) steeredBy(v *View, which int, client netip.Addr, lead int) Steered {
	if a.basis == nil {
		return Steered{}
	}
	return a.steeredAt(which, clientPlace{region: v.region(client)}, lead)
}

// steeredAt returns the reason for an answer to a client at a place.
func (a *answers) steeredAt(which int, at clientPlace, lead int) Steered {
	if a.basis == nil {
		return Steered{}
	}
	return Steered{a.basis, at.region, at.spot, at.choice, uint16(lead), a.steered[which].kind.Family}
}

// unanswered returns the reason for an answer without a record.
func (a *answers) unanswered(v *View, which int, client netip.Addr) Steered {
	return a.steeredBy(v, which, client, NoLead)
}

// locate returns the region of a client, and the number of bits of its address that this depends on.
func (v *View) locate(client netip.Addr) (geo.RegionID, uint8) {
	if table := v.places.Load(); table != nil {
		return table.Locate(client)
	}
	return geo.NoRegion, 0
}

// region returns the region of a client.
func (v *View) region(client netip.Addr) geo.RegionID {
	if table := v.places.Load(); table != nil {
		return table.Region(client)
	}
	return geo.NoRegion
}
