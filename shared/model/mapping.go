package model

import "net/netip"

// Mapping maps the clients of a network to a region. It has priority over the geolocation database.
type Mapping struct {
	// The network. Required; each once.
	CIDR netip.Prefix `key:"cidr" json:"cidr" write:"always"`
	// The region of the clients. Required.
	Region string `key:"region" json:"region" usage:"region of the clients" write:"always"`
	// A description. In the API at most 500 printable characters.
	Comment string `key:"comment" json:"comment" usage:"description"`
	Meta
}

// Key returns the canonical form of the network, "" without a network.
func (m *Mapping) Key() string {
	if !m.CIDR.IsValid() {
		return ""
	}
	return Network(m.CIDR).String()
}

// Network returns the canonical form of a network: an IPv4-mapped network as IPv4, without bits beyond its length.
func Network(p netip.Prefix) netip.Prefix {
	const mapped = 96 // bits of ::ffff:0:0/96 (RFC 4291 section 2.5.5.2)
	if p.Addr().Is4In6() && p.Bits() >= mapped {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	return p.Masked()
}

// readLegacy removes a field of the audit log of version 0.9.0.
func (m *Mapping) readLegacy(fields map[string]any) error {
	delete(fields, "source")
	return nil
}

// writeLegacy adds the field that version 0.9.0 always writes.
func (m *Mapping) writeLegacy(fields map[string]any) { fields["comment"] = m.Comment }
