package model

import (
	"fmt"
	"net/netip"

	"gslb.internal/shared/settings"
)

// Mapping places the clients of one network in a region, before the node asks a database.
type Mapping struct {
	// The network, without bits behind its prefix; required.
	CIDR netip.Prefix `key:"cidr" json:"cidr" write:"always"`
	// A region of this configuration; required.
	Region string `key:"region" json:"region" usage:"region of the clients" write:"always"`
	// A note for people.
	Comment string `key:"comment" json:"comment" usage:"text for people"`
	Meta
}

// Key returns the network in its canonical form.
func (m *Mapping) Key() string { return Network(m.CIDR).String() }

// Network returns the canonical form of a network: an IPv4-mapped one as IPv4, with no bit set beyond its length.
func Network(p netip.Prefix) netip.Prefix {
	const mapped = 96 // bits of ::ffff:0:0/96 (RFC 4291 section 2.5.5.2)
	if p.Addr().Is4In6() && p.Bits() >= mapped {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	return p.Masked()
}

// Problems returns the faults of a mapping that are independent of other objects. Keys are JSON names.
func (m *Mapping) Problems() (found settings.Problems) {
	if !m.CIDR.IsValid() || Network(m.CIDR) != m.CIDR {
		found = append(found, settings.Problem{Key: "cidr", Value: m.CIDR.String(),
			Message: "give a network in its canonical form, such as 192.0.2.0/24 or 2001:db8::/32"})
	}
	if remedy := textRemedy(m.Comment, MaxComment); remedy != "" {
		found = append(found, settings.Problem{Key: "comment", Value: fmt.Sprintf("%.64q", m.Comment), Message: remedy})
	}
	return found
}

// references returns the region of the mapping.
func (m *Mapping) references() []Reference { return []Reference{{"region", KindRegion, m.Region}} }

// readLegacy removes a field of the audit log of version 0.9.0.
func (m *Mapping) readLegacy(fields map[string]any) error {
	delete(fields, "source")
	return nil
}

// writeLegacy adds the fields that version 0.9.0 writes.
func (m *Mapping) writeLegacy(fields map[string]any) { fields["comment"] = m.Comment }
