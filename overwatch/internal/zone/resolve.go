package zone

import (
	"encoding/binary"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// maxAliases bounds how many CNAME records are followed for one question.
const maxAliases = 8

// Resolution is an answer as records. It is the long way round, written to be read: what Append answers too has the same octets.
type Resolution struct {
	Kind      Kind
	Answer    []dns.RR
	Authority []dns.RR

	apex canonical
}

// Resolve answers the question for a name in zone-file form, following aliases inside the zone (RFC 1034 section 4.3.2).
func (v *View) Resolve(name string, rtype uint16, turns *Turns) Resolution {
	key, err := canonicalName(name)
	if err != nil {
		return Resolution{Kind: Refused}
	}
	zone := v.enclosing(key)
	if zone == nil {
		return Resolution{Kind: Refused}
	}
	r := Resolution{apex: zone.apex}
	for range maxAliases {
		target := r.step(v, key, name, rtype, turns)
		if target == "" {
			return r
		}
		name = target
		if key, err = canonicalName(target); err != nil || v.enclosing(key) != zone {
			r.Kind = Positive
			return r
		}
	}
	return Resolution{Kind: Failed, apex: zone.apex}
}

// enclosing is the zone that a name belongs to, nil if it is outside all.
func (v *View) enclosing(name canonical) *Zone {
	for ; name != ""; name = name.parent() {
		if slot := v.slot(name); slot != nil {
			return slot.zone
		}
	}
	return nil
}

// step answers for one name of the chain. It returns the next name if this one is an alias.
func (r *Resolution) step(v *View, key canonical, name string, rtype uint16, turns *Turns) (target string) {
	zone := v.enclosing(key)
	slot := v.slot(key)
	for above := key.parent(); slot == nil; above = above.parent() {
		if encloser := v.slot(above); encloser != nil {
			if slot = v.wilds[encloser]; slot == nil {
				r.deny(NXDomain, zone)
				return ""
			}
		}
	}
	if rtype == dns.TypeDS && zone.parent != nil && key == zone.apex {
		r.apex = zone.parent.apex
		r.deny(NoData, zone.parent)
		return ""
	}
	a := slot.answers.Load()
	if rtype == dns.TypeANY {
		rtype = a.any
	}
	if slot.steered && (rtype == dns.TypeA || rtype == dns.TypeAAAA) {
		r.steered(slot, a, name, rtype, turns)
		return ""
	}
	if set := a.set(rtype); set != nil {
		r.positive(set.records, name)
		return ""
	}
	if alias := a.set(dns.TypeCNAME); alias != nil {
		r.positive(alias.records, name)
		return alias.records[0].(*dns.CNAME).Target
	}
	r.deny(NoData, zone)
	return ""
}

func (r *Resolution) steered(slot *Slot, a *answers, name string, rtype uint16, turns *Turns) {
	which := policy.IPv4
	if rtype == dns.TypeAAAA {
		which = policy.IPv6
	}
	f := a.steered[which]
	switch f.state {
	case failing:
		*r = Resolution{Kind: Failed, apex: r.apex}
		return
	case noData:
		r.deny(NoData, slot.zone)
		return
	}
	position := turns.next(slot.turn+uint32(which), &f)
	var records []dns.RR
	for k := range f.schedule.Size() {
		record := f.records[f.schedule.Pick(position, k)*recordLength(which):][:recordLength(which)]
		records = append(records, addressRecord(record))
	}
	r.positive(records, name)
}

// addressRecord reads a packed address record back.
func addressRecord(record []byte) dns.RR {
	header := dns.RR_Header{
		Rrtype: binary.BigEndian.Uint16(record[2:]), Class: dns.ClassINET, Ttl: binary.BigEndian.Uint32(record[6:]),
	}
	if address := slices.Clone(record[2+fixedPart:]); header.Rrtype == dns.TypeA {
		return &dns.A{Hdr: header, A: address}
	} else {
		return &dns.AAAA{Hdr: header, AAAA: address}
	}
}

// positive adds records under the name that was asked for.
func (r *Resolution) positive(records []dns.RR, name string) {
	r.Kind = Positive
	for _, rr := range records {
		rr = dns.Copy(rr)
		rr.Header().Name = name
		r.Answer = append(r.Answer, rr)
	}
}

func (r *Resolution) deny(kind Kind, zone *Zone) {
	r.Kind = kind
	r.Authority = slices.Clone(zone.negative.records)
}

// AppendTo packs the records behind msg, which holds a header and the question that was resolved.
func (r *Resolution) AppendTo(msg []byte) ([]byte, error) {
	question := msg[headerSize:][:nameLength(msg[headerSize:])]
	low := slices.Clone(question)
	lower(low)
	p := packer{apex: r.apex, wire: msg}
	for _, rr := range slices.Concat(r.Answer, r.Authority) {
		owner, err := canonicalName(rr.Header().Name)
		if err != nil {
			return nil, err
		}
		if owner == canonical(low) {
			owner = ""
		}
		if err := p.record(owner, rr); err != nil {
			return nil, err
		}
	}
	point(p.wire, p.pointers, len(question), len(r.apex))
	return p.wire, nil
}
