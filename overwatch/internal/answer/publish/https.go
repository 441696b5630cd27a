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

// typesOf returns the types of a domain, nil for addresses alone: one whose answers are names has aliases. With HTTPS
// records (RFC 9460) their hint is the address of a backend, an IPv6 one where the domain has no IPv4 one.
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

// httpsType is "1 . alpn=... port=... ipv4hint=ADDRESS ech=...", or ipv6hint for IPv6 addresses. Parameters are in
// ascending order of their keys (RFC 9460 section 2.2).
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
	var tail []byte
	if addresses.Family == policy.IPv4 {
		head, tail = param(head, dns.SVCB_IPV4HINT, addresses.Length), ech
	} else {
		head = param(append(head, ech...), dns.SVCB_IPV6HINT, addresses.Length)
	}
	return &zone.Type{
		Number: dns.TypeHTTPS, Family: addresses.Family, Length: len(head) + addresses.Length + len(tail),
		Data: func(to []byte, due policy.Due) []byte {
			return append(addresses.Data(append(to, head...), due), tail...)
		},
	}
}

func param(to []byte, key dns.SVCBKey, length int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(to, uint16(key)), uint16(length))
}

// takeTypes gives a zone the types of its domains: those of the zone before, but for the names of the edit.
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
