package zone // inside: it is another implementation of Append, over the same zones

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/miekg/dns"
)

// oracle is an answer that consists of records. AppendTo packs the octets that Append must return.
type oracle struct {
	Kind      Kind
	Answer    []dns.RR
	Authority []dns.RR
	Scope     uint8     // as in Answer
	Steered   Selection // as in Answer

	client netip.Addr
	apex   canonical
	do     bool
	proved []*link
}

// oracle answers the question for a name in zone-file form, and follows aliases inside the zone (RFC 1034 section
// 4.3.2). do requests signatures and proofs. client is the client's address.
func (v *View) oracle(name string, rtype uint16, do bool, client netip.Addr, turns *Rotations) oracle {
	key, err := canonicalName(name)
	if err != nil {
		return oracle{Kind: Refused}
	}
	zone := v.zoneOf([]byte(key), key.countLabels())
	if zone == nil {
		return oracle{Kind: Refused}
	}
	r := oracle{apex: zone.apex, do: do, client: client}
	for range MaxAliases + 1 {
		target := r.step(v, zone, key, name, rtype, turns)
		if r.Kind == Failed { // regardless of the previous aliases
			return oracle{Kind: Failed, Scope: r.Scope, Steered: r.Steered, apex: r.apex}
		}
		if target == "" {
			return r
		}
		name = target
		if key, err = canonicalName(target); err != nil || v.zoneOf([]byte(key), key.countLabels()) != zone {
			return r
		}
		if rtype == dns.TypeDS && key == zone.apex && v.parentZone(zone) != nil { // the parent zone has the DS records
			return r
		}
	}
	return oracle{Kind: Failed, apex: zone.apex}
}

// owned is a queried name, in its original and its canonical form, with the owner of the answer.
type owned struct {
	text     string
	name     canonical
	owner    *owner // of the name, or the wildcard in its place; nil for a name that does not exist
	encloser *owner // nil for a name that exists
}

// look finds the owner that answers for a name of a zone.
func (z *Zone) look(text string, name canonical) owned {
	o := owned{text: text, name: name}
	there, exact := z.findEnclosing([]byte(name), name.countLabels())
	if exact {
		o.owner = there
	} else {
		o.owner, o.encloser = z.findWildcard(there), there
	}
	return o
}

// step answers for one name of the chain. If the name is an alias, step returns the next name.
func (r *oracle) step(v *View, zone *Zone, key canonical, name string, rtype uint16, turns *Rotations) (target string) {
	o := zone.look(name, key)
	if o.owner == nil {
		r.deny(NXDomain, zone)
		r.proveNameError(zone, o)
		return ""
	}
	if above := v.parentZone(zone); rtype == dns.TypeDS && above != nil && key == zone.apex {
		r.delegation(above, name, key)
		return ""
	}
	if rtype == dns.TypeRRSIG && zone.signer != nil {
		r.onlySignatures(v, zone, key, name, turns)
		return ""
	}
	a := o.owner.answers.Load()
	if rtype == dns.TypeANY {
		rtype = a.any
	}
	if which := a.indexOfType(rtype); which >= 0 {
		r.steered(v, zone, o, a, which, turns)
		return ""
	}
	if rtype == dns.TypeNSEC && zone.signer != nil && !zone.chain.hashed {
		if l := zone.chain.findLink(o.owner.name); l != nil {
			if rr, err := l.full.record(name); err == nil {
				r.positive(zone, o, []dns.RR{rr}, l.full)
				return ""
			}
		}
	}
	if set := a.set(rtype); set != nil {
		r.positive(zone, o, zone.declared(o.owner.name, rtype), set.sig)
		return ""
	}
	if alias := a.set(dns.TypeCNAME); alias != nil {
		records := zone.declared(o.owner.name, dns.TypeCNAME)
		r.positive(zone, o, records, alias.sig)
		return records[0].(*dns.CNAME).Target
	}
	if which := a.indexOfType(dns.TypeCNAME); which >= 0 {
		return r.steered(v, zone, o, a, which, turns)
	}
	r.deny(NoData, zone)
	r.proveNoData(zone, o, rtype)
	return ""
}

// steered returns the records of a decision as the answer. For an alias, it returns the target name.
func (r *oracle) steered(v *View, zone *Zone, o owned, a *answers, which int, turns *Rotations) (target string) {
	switch a.balanced[which].state {
	case failing:
		*r = oracle{Kind: Failed, Steered: a.emptySelection(v, which, r.client), apex: r.apex}
		return ""
	case noData:
		r.Steered = a.emptySelection(v, which, r.client)
		r.deny(NoData, zone)
		r.proveNoData(zone, o, a.balanced[which].kind.Number)
		return ""
	}
	var c *candidates
	var position uint32
	var scope uint8
	c, position, scope, r.Steered = a.pick(v, which, &Question{Client: r.client}, turns)
	r.Scope = max(r.Scope, scope) // maximum of all aliases of the chain
	switch c.state {
	case failing:
		*r = oracle{Kind: Failed, Scope: r.Scope, Steered: r.Steered, apex: r.apex}
		return ""
	case noData:
		r.deny(NoData, zone)
		r.proveNoData(zone, o, c.kind.Number)
		return ""
	}
	var records []dns.RR
	for k := range c.schedule.Size() {
		rr, err := c.record(c.schedule.Pick(position, k))
		if err != nil {
			*r = oracle{Kind: Failed, apex: r.apex}
			return ""
		}
		records = append(records, rr)
	}
	r.positive(zone, o, records, c.signature(c.schedule.Answer(position)))
	if alias, is := records[0].(*dns.CNAME); is {
		return alias.Target
	}
	return ""
}

// record returns one of the records, without an owner.
func (c *candidates) record(number int) (dns.RR, error) {
	header := dns.RR_Header{
		Rrtype: c.kind.Number, Class: dns.ClassINET, Ttl: c.ttl, Rdlength: uint16(len(c.recordData(number))),
	}
	rr, _, err := dns.UnpackRRWithHeader(header, slices.Clone(c.recordData(number)), 0)
	return rr, err
}

// delegation answers for the DS records of a zone, which the parent zone contains (RFC 4035 section 3.1.4.1).
func (r *oracle) delegation(above *Zone, text string, name canonical) {
	r.apex = above.apex
	o := owned{text: text, name: name, owner: above.findOwner([]byte(name))}
	if ds := o.owner.answers.Load().set(dns.TypeDS); ds != nil {
		r.positive(above, o, above.declared(name, dns.TypeDS), ds.sig)
		return
	}
	r.deny(NoData, above)
	r.proveNoData(above, o, dns.TypeDS)
}

// onlySignatures answers for the type RRSIG as for ANY (RFC 8482 section 7).
func (r *oracle) onlySignatures(v *View, zone *Zone, key canonical, name string, turns *Rotations) {
	r.do = true
	r.step(v, zone, key, name, dns.TypeANY, turns)
	r.Answer = slices.DeleteFunc(r.Answer, func(rr dns.RR) bool { return rr.Header().Rrtype != dns.TypeRRSIG })
}

// positive adds records under the queried name.
func (r *oracle) positive(zone *Zone, o owned, records []dns.RR, sig *Signature) {
	r.Kind = Positive
	for _, rr := range records {
		rr = dns.Copy(rr)
		rr.Header().Name = o.text
		r.Answer = append(r.Answer, rr)
	}
	if !r.do || zone.signer == nil {
		return
	}
	r.Answer = append(r.Answer, r.signatures(sig, o.text, records[0].Header().Ttl)...)
	if o.encloser != nil {
		r.cover(zone, o)
	}
}

// signatures returns the signatures as records. If they cannot be created, the whole answer is a failure.
func (r *oracle) signatures(sig *Signature, owner string, ttl uint32) []dns.RR {
	records := sig.resourceRecords(owner, ttl)
	if len(records) == 0 {
		r.Kind = Failed
	}
	return records
}

func (r *oracle) deny(kind Kind, zone *Zone) {
	r.Kind = kind
	r.Authority = append(r.Authority, zone.carried())
	if r.do && zone.signer != nil {
		r.Authority = append(r.Authority, r.signatures(zone.negative.sig, zone.apex.String(), zone.negative.ttl)...)
	}
}

// prove adds a denial record and its signatures, once. A record that omits a type replaces a record with all types of a
// previous alias in the answer: both cover the same names and would be one RRset.
func (r *oracle) prove(zone *Zone, l *link, p *Signature) {
	owner := (canonical(l.prefix) + zone.apex).String()
	switch there := slices.Contains(r.proved, l); {
	case there && p == l.full:
		return
	case there:
		r.Authority = slices.DeleteFunc(r.Authority, func(rr dns.RR) bool { return rr.Header().Name == owner && denies(rr) })
	default:
		r.proved = append(r.proved, l)
	}
	rr, err := p.record(owner)
	if err != nil {
		r.Kind = Failed
		return
	}
	r.Authority = append(append(r.Authority, rr), r.signatures(p, owner, zone.negative.ttl)...)
}

// denies reports whether a record is a denial record or its signature.
func denies(rr dns.RR) bool {
	rtype := rr.Header().Rrtype
	if sig, is := rr.(*dns.RRSIG); is {
		rtype = sig.TypeCovered
	}
	return rtype == dns.TypeNSEC || rtype == dns.TypeNSEC3
}

// proveNameError adds the proofs of reply.proveNoName.
func (r *oracle) proveNameError(zone *Zone, o owned) {
	if !r.do || zone.signer == nil {
		return
	}
	r.proveEncloser(zone, o)
	r.cover(zone, o)
	if star := zone.wildcardDenial(o.encloser); star != nil {
		r.prove(zone, star, star.full)
	}
}

// proveEncloser adds the proof of reply.proveEncloser.
func (r *oracle) proveEncloser(zone *Zone, o owned) {
	if zone.chain.hashed {
		l := zone.chain.findLink(o.encloser.name)
		r.prove(zone, l, l.full)
	}
}

// proveNoData adds the proofs of reply.proveNoType.
func (r *oracle) proveNoData(zone *Zone, o owned, rtype uint16) {
	if !r.do || zone.signer == nil {
		return
	}
	l, p := zone.typeDenial(o.owner, rtype)
	r.prove(zone, l, p)
	if o.encloser == nil {
		return
	}
	r.proveEncloser(zone, o)
	r.cover(zone, o)
}

// cover proves that the name below the encloser does not exist.
func (r *oracle) cover(zone *Zone, o owned) {
	name := []byte(o.name)
	if zone.chain.hashed {
		name = nextCloser(name, len(o.encloser.name))
	}
	l := zone.chain.linkCoveringName(name)
	r.prove(zone, l, l.full)
}

// declared returns the RRset of a name from the contents of the zone.
func (z *Zone) declared(name canonical, rtype uint16) (list []dns.RR) {
	fixed, err := (&draft{zone: z}).collectFixed(z, z.contents)
	if err != nil {
		panic(err)
	}
	for _, rr := range z.contents.staticOf(z.apex, fixed, name).records {
		if rr.Header().Rrtype == rtype {
			list = append(list, rr)
		}
	}
	if list, err = packableSet(list); err != nil {
		panic(err)
	}
	return list
}

// carried returns the SOA of the zone as in negative answers (RFC 2308 section 3).
func (z *Zone) carried() dns.RR {
	soa := dns.Copy(z.contents.SOA).(*dns.SOA)
	soa.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl)
	return soa
}

// AppendTo appends the packed records to msg, which contains a header and the question. The owner of a record is a
// compression pointer if it is the name of the question or the target of a previous alias. In the authority section, it
// is a pointer if it equals the owner of the previous record.
func (r *oracle) AppendTo(msg []byte) ([]byte, error) {
	question := msg[headerSize:][:nameLength(msg[headerSize:])]
	low := slices.Clone(question)
	lowerCase(low)
	known := map[canonical]int{canonical(low): headerSize}
	p := packer{apex: r.apex, wire: msg}
	last := canonical("")
	for i, rr := range slices.Concat(r.Answer, r.Authority) {
		owner, err := canonicalName(rr.Header().Name)
		if err != nil {
			return nil, err
		}
		if i == len(r.Answer) {
			known = map[canonical]int{canonical(low): headerSize}
		}
		if i >= len(r.Answer) && owner != last && last != canonical(low) {
			delete(known, last)
		}
		start := len(p.wire)
		if at, is := known[owner]; is && at <= maxPointer {
			p.wire = binary.BigEndian.AppendUint16(p.wire, uint16(pointerFlag|at))
		} else if p.appendName([]byte(owner)); owner != r.apex {
			known[owner] = start
		}
		last = owner
		data := len(p.wire) + fixedPart
		if err := p.appendContent(rr); err != nil {
			return nil, err
		}
		if alias, is := rr.(*dns.CNAME); is {
			if target, err := canonicalName(alias.Target); err == nil && target != canonical(low) && target != r.apex {
				known[target] = data
			}
		}
	}
	setApexPointers(p.wire, p.pointers, len(question), len(r.apex))
	return p.wire, nil
}

// resourceRecords returns the signatures as records, or nil if they cannot be created.
func (s *Signature) resourceRecords(owner string, ttl uint32) []dns.RR {
	m := s.currentRecords()
	if m == nil {
		return nil
	}
	var out []dns.RR
	for wire := m.wire(); len(wire) > 0; wire = wire[m.each:] {
		data := wire[fixedPart:m.each]
		header := dns.RR_Header{
			Name:     owner,
			Rrtype:   dns.TypeRRSIG,
			Class:    dns.ClassINET,
			Ttl:      ttl,
			Rdlength: uint16(len(data)),
		}
		rr, _, err := dns.UnpackRRWithHeader(header, data, 0)
		if err != nil {
			return nil
		}
		out = append(out, rr)
	}
	return out
}

// record returns the only record of an RRset.
func (s *Signature) record(owner string) (dns.RR, error) {
	data := []byte(s.content[fixedPart:])
	header := dns.RR_Header{
		Name:     owner,
		Rrtype:   s.rtype(),
		Class:    dns.ClassINET,
		Ttl:      s.ttl(),
		Rdlength: uint16(len(data)),
	}
	rr, _, err := dns.UnpackRRWithHeader(header, data, 0)
	return rr, err
}

func (s *Signature) rtype() uint16 { return uint16(s.content[0])<<8 | uint16(s.content[1]) }
