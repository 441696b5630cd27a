package publish

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// typesOf returns the types of a domain; nil for addresses only. A domain with names as answers has aliases. HTTPS
// records (RFC 9460) follow the decision for IPv4, or for IPv6 if the domain has no IPv4 address.
func typesOf(c *config.Domain) []*zone.Type {
	h := &c.HTTPS
	switch {
	case c.AnswersNames():
		return zone.AliasTypes
	case len(h.ALPN) == 0:
		return nil
	}
	types := slices.Clone(zone.AddressTypes)
	for _, t := range zone.AddressTypes {
		types = append(types, httpsType(h, t))
	}
	return types
}

// httpsType returns the type of HTTPS records with "1 . alpn=... port=... ipv4hint=ADDRESS ech=... ipv6hint=ADDRESS",
// without parameters that have no value. Parameters are sorted by key (RFC 9460 section 2.2).
func httpsType(h *config.HTTPS, addresses *zone.Type) *zone.Type {
	var ids, ech []byte
	for _, id := range h.ALPN {
		ids = append(append(ids, byte(len(id))), id...)
	}
	if list, err := h.ECHConfigs(); err == nil && len(list) > 0 {
		ech = append(param(nil, dns.SVCB_ECHCONFIG, len(list)), list...)
	}
	head := append(param([]byte{0, 1, 0}, dns.SVCB_ALPN, len(ids)), ids...) // priority 1, the name itself
	if h.Port != 0 {
		head = binary.BigEndian.AppendUint16(param(head, dns.SVCB_PORT, 2), uint16(h.Port))
	}
	return &zone.Type{
		Number: dns.TypeHTTPS, Family: addresses.Family,
		Data: func(to []byte, due policy.Member) []byte {
			to = append(to, head...)
			if due.Address.Is4() {
				to = addresses.Data(param(to, dns.SVCB_IPV4HINT, addresses.Length), due)
				due.Address = due.PairedIPv6
			}
			if to = append(to, ech...); due.Address.IsValid() {
				v6 := zone.AddressTypes[policy.IPv6]
				to = v6.Data(param(to, dns.SVCB_IPV6HINT, v6.Length), due)
			}
			return to
		},
	}
}

// pair adds the IPv6 addresses of HTTPS records to the decisions for IPv4. If answers depend on client positions, both
// families must distinguish the same clients.
func pair(choices [2]zone.LocationDecisions, decisions [][2]policy.Decision) {
	if !slices.Equal(choices[policy.IPv4].ByLocation, choices[policy.IPv6].ByLocation) {
		return
	}
	for i := range decisions {
		policy.PairFamilies(&decisions[i][policy.IPv4], &decisions[i][policy.IPv6])
	}
}

func param(to []byte, key dns.SVCBKey, length int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(to, uint16(key)), uint16(length))
}

// takeTypes sets the types of a zone's domains: the types of the previous zone, updated for the names of the edit.
func (z *zonePlan) takeTypes(was *zonePlan, e *edit) {
	var before map[string][]*zone.Type
	if was != nil {
		before = was.Types
	}
	if len(before)+len(e.types) == 0 {
		return
	}
	z.Types = make(map[string][]*zone.Type, len(before)+len(e.types))
	maps.Copy(z.Types, before)
	for _, names := range [][]string{e.gone, e.renewed} {
		for _, name := range names {
			delete(z.Types, name)
		}
	}
	maps.Copy(z.Types, e.types)
}
