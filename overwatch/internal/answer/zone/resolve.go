package zone

import (
	"net/netip"
	"slices"

	"github.com/miekg/dns"
)

// MaxAliases bounds how many CNAME records are followed for one question. A chain that has more fails.
const MaxAliases = 8

// Resolution is the answer of the slow path, as records. Where Append answers too, AppendTo packs the same octets.
type Resolution struct {
	Kind      Kind
	Answer    []dns.RR
	Authority []dns.RR
	Scope     uint8   // as in Answer
	Steered   Steered // as in Answer

	client netip.Addr
	apex   canonical
	do     bool
	proved []*link
}

// Resolve answers the question for a name in zone-file form, following aliases inside the zone (RFC 1034 section
// 4.3.2). do asks for signatures and proofs; client is the client's address.
func (v *View) Resolve(name string, rtype uint16, do bool, client netip.Addr, turns *Turns) Resolution {
	key, err := canonicalName(name)
	if err != nil {
		return Resolution{Kind: Refused}
	}
	zone := v.zoneOf([]byte(key), key.labels())
	if zone == nil {
		return Resolution{Kind: Refused}
	}
	r := Resolution{apex: zone.apex, do: do, client: client}
	for range MaxAliases + 1 {
		target := r.step(v, zone, key, name, rtype, turns)
		if r.Kind == Failed { // whatever the aliases before were
			return Resolution{Kind: Failed, Steered: r.Steered, apex: r.apex}
		}
		if target == "" {
			return r
		}
		name = target
		if key, err = canonicalName(target); err != nil || v.zoneOf([]byte(key), key.labels()) != zone {
			return r
		}
	}
	return Resolution{Kind: Failed, apex: zone.apex}
}

// owned is a name that is asked for, as it came and in canonical form, with the owner that answers for it.
type owned struct {
	text     string
	name     canonical
	owner    *owner // of the name, or the wildcard in its place; nil for a name that does not exist
	encloser *owner // nil for a name that exists
}

// look finds the owner that answers for a name of a zone.
func (z *Zone) look(text string, name canonical) owned {
	o := owned{text: text, name: name}
	there, exact := z.enclose([]byte(name), name.labels())
	if exact {
		o.owner = there
	} else {
		o.owner, o.encloser = z.wildcard(there), there
	}
	return o
}

// step answers for one name of the chain. It returns the next name if this one is an alias.
func (r *Resolution) step(v *View, zone *Zone, key canonical, name string, rtype uint16, turns *Turns) (target string) {
	o := zone.look(name, key)
	if o.owner == nil {
		r.deny(NXDomain, zone)
		r.proveNameError(zone, o)
		return ""
	}
	if above := v.above(zone); rtype == dns.TypeDS && above != nil && key == zone.apex {
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
	if which := a.steeredAs(rtype); which >= 0 {
		r.steered(v, zone, o, a, which, turns)
		return ""
	}
	if rtype == dns.TypeNSEC && zone.signer != nil && !zone.chain.hashed {
		if l := zone.chain.find(o.owner.name); l != nil {
			if rr, err := l.full.record(name); err == nil {
				r.positive(zone, o, []dns.RR{rr}, l.full)
				return ""
			}
		}
	}
	if set := a.set(rtype); set != nil {
		r.positive(zone, o, set.records, set.sig)
		return ""
	}
	if alias := a.set(dns.TypeCNAME); alias != nil {
		r.positive(zone, o, alias.records, alias.sig)
		return alias.records[0].(*dns.CNAME).Target
	}
	if which := a.steeredAs(dns.TypeCNAME); which >= 0 {
		return r.steered(v, zone, o, a, which, turns)
	}
	r.deny(NoData, zone)
	r.proveNoData(zone, o, rtype)
	return ""
}

// steered answers with the records of a decision. It returns the name that an alias leads to.
func (r *Resolution) steered(v *View, zone *Zone, o owned, a *answers, which int, turns *Turns) (target string) {
	switch a.steered[which].state {
	case failing:
		*r = Resolution{Kind: Failed, Steered: a.unanswered(v, which, r.client), apex: r.apex}
		return ""
	case noData:
		r.Steered = a.unanswered(v, which, r.client)
		r.deny(NoData, zone)
		r.proveNoData(zone, o, a.steered[which].kind.Number)
		return ""
	}
	var c *candidates
	var position uint32
	var scope uint8
	c, position, scope, r.Steered = a.pick(v, which, &Question{Client: r.client}, turns)
	r.Scope = max(r.Scope, scope) // of all aliases on the way
	var records []dns.RR
	for k := range c.schedule.Size() {
		rr, err := c.record(c.schedule.Pick(position, k))
		if err != nil {
			*r = Resolution{Kind: Failed, apex: r.apex}
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
		Rrtype: c.kind.Number, Class: dns.ClassINET, Ttl: c.ttl, Rdlength: uint16(len(c.one(number))),
	}
	rr, _, err := dns.UnpackRRWithHeader(header, slices.Clone(c.one(number)), 0)
	return rr, err
}

// delegation answers for the DS records of a zone, which the zone above has (RFC 4035 section 3.1.4.1).
func (r *Resolution) delegation(above *Zone, text string, name canonical) {
	r.apex = above.apex
	o := owned{text: text, name: name, owner: above.find([]byte(name))}
	if ds := o.owner.answers.Load().set(dns.TypeDS); ds != nil {
		r.positive(above, o, ds.records, ds.sig)
		return
	}
	r.deny(NoData, above)
	r.proveNoData(above, o, dns.TypeDS)
}

// onlySignatures answers for the type RRSIG as for ANY (RFC 8482 section 7).
func (r *Resolution) onlySignatures(v *View, zone *Zone, key canonical, name string, turns *Turns) {
	r.do = true
	r.step(v, zone, key, name, dns.TypeANY, turns)
	r.Answer = slices.DeleteFunc(r.Answer, func(rr dns.RR) bool { return rr.Header().Rrtype != dns.TypeRRSIG })
}

// positive adds records under the name that was asked for.
func (r *Resolution) positive(zone *Zone, o owned, records []dns.RR, sig *Signature) {
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

// signatures returns the signatures as records. Without any, the whole answer is a failure.
func (r *Resolution) signatures(sig *Signature, owner string, ttl uint32) []dns.RR {
	records := sig.records(owner, ttl)
	if len(records) == 0 {
		r.Kind = Failed
	}
	return records
}

func (r *Resolution) deny(kind Kind, zone *Zone) {
	r.Kind = kind
	r.Authority = append(r.Authority, zone.negative.records...)
	if r.do && zone.signer != nil {
		r.Authority = append(r.Authority, r.signatures(zone.negative.sig, zone.apex.String(), zone.negative.ttl)...)
	}
}

// prove adds a record of denial and its signatures, once. One that leaves out a type takes the place of one with all
// types, which an alias before has needed: it covers the same names, and two would be one RRset.
func (r *Resolution) prove(zone *Zone, l *link, p *Signature) {
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

// denies reports whether a record is one of denial, or its signature.
func denies(rr dns.RR) bool {
	rtype := rr.Header().Rrtype
	if sig, is := rr.(*dns.RRSIG); is {
		rtype = sig.TypeCovered
	}
	return rtype == dns.TypeNSEC || rtype == dns.TypeNSEC3
}

// proveNameError adds the proofs of reply.nameError.
func (r *Resolution) proveNameError(zone *Zone, o owned) {
	if !r.do || zone.signer == nil {
		return
	}
	r.proveEncloser(zone, o)
	r.cover(zone, o)
	if star := zone.noWildcard(o.encloser); star != nil {
		r.prove(zone, star, star.full)
	}
}

// proveEncloser adds the proof of reply.proveEncloser.
func (r *Resolution) proveEncloser(zone *Zone, o owned) {
	if zone.chain.hashed {
		l := zone.chain.find(o.encloser.name)
		r.prove(zone, l, l.full)
	}
}

// proveNoData adds the proofs of reply.noData.
func (r *Resolution) proveNoData(zone *Zone, o owned, rtype uint16) {
	if !r.do || zone.signer == nil {
		return
	}
	l, p := zone.lacks(o.owner, rtype)
	r.prove(zone, l, p)
	if o.encloser == nil {
		return
	}
	r.proveEncloser(zone, o)
	r.cover(zone, o)
}

// cover proves that the name below the encloser does not exist.
func (r *Resolution) cover(zone *Zone, o owned) {
	name := []byte(o.name)
	if zone.chain.hashed {
		name = nextCloser(name, len(o.encloser.name))
	}
	l := zone.chain.coverName(name)
	r.prove(zone, l, l.full)
}

// AppendTo appends the packed records to msg, which holds a header and the question that was resolved.
func (r *Resolution) AppendTo(msg []byte) ([]byte, error) {
	question := msg[headerSize:][:nameLength(msg[headerSize:])]
	low := slices.Clone(question)
	lower(low)
	p := packer{apex: r.apex, wire: msg, whole: true}
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
