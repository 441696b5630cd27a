package zone

import (
	"errors"
	"fmt"

	"github.com/miekg/dns"
)

// builder gathers the names of all zones before any is compiled.
type builder struct {
	byName map[canonical]*name
	names  []*name // in the order in which they came up
	depth  int     // labels of the longest

	previous *View   // may be nil
	zones    []*Zone // parents first
	cuts     []*name // the apexes of zones that have another one above
}

// name is a name that will exist.
type name struct {
	name    canonical
	zone    *Zone
	wild    *name // the wildcard directly below, or nil
	steered bool
	records []dns.RR
	proofs  *proofs // nil where neither the zone is signed nor the one above
}

// cut begins a zone.
func (b *builder) cut(c Contents) (*Zone, error) {
	apex, err := canonicalName(c.Apex)
	if err != nil {
		return nil, err
	}
	if n := b.byName[apex]; n != nil && n.zone.apex == apex {
		return nil, errors.New("it is defined twice")
	}
	z := &Zone{apex: apex, signer: c.Signer, denial: c.Denial}
	if z.negative, err = negative(apex, c.SOA); err != nil {
		return nil, err
	}
	if encloser := b.encloser(apex); encloser != nil {
		z.parent = encloser.zone
		// Seen from the parent, the names between the two apexes are empty non-terminals.
		b.name(apex.parent())
	}
	n := b.add(apex, z)
	b.zones = append(b.zones, z)
	if z.signer != nil {
		if z.negative.sig, err = signatureOf(n.proofs, z.signer, c.SOA); err != nil {
			return nil, err
		}
	}
	return z, b.below(n, c.DS)
}

// below notes what the zone above says of the zone whose apex the name is.
func (b *builder) below(n *name, ds []dns.RR) error {
	above := n.zone.parent
	if above == nil || above.signer == nil {
		return nil
	}
	b.cuts = append(b.cuts, n)
	p := b.proofs(n)
	p.cut = new(cut)
	if len(ds) == 0 {
		return nil
	}
	set, err := newSet(above.apex, "", ds)
	if err != nil {
		return err
	}
	p.cut.ds = &set
	return set.sign(p, above.signer)
}

// proofs makes sure that a name has them, with the signatures of the previous view.
func (b *builder) proofs(n *name) *proofs {
	if n.proofs == nil {
		n.proofs = &proofs{name: n.name, known: new(signatures)}
		if old := b.previous.slot(n.name); old != nil && old.proofs != nil {
			n.proofs.known.before = old.proofs.known
		}
	}
	return n.proofs
}

// deny builds the denial of the zones that are signed, once all names and their RRsets are there.
func (b *builder) deny() {
	names, cuts := make(map[*Zone][]*name), make(map[*Zone][]*name)
	for _, n := range b.names {
		names[n.zone] = append(names[n.zone], n)
	}
	for _, n := range b.cuts {
		cuts[n.zone.parent] = append(cuts[n.zone.parent], n)
	}
	for _, z := range b.zones {
		if z.signer != nil {
			z.link(names[z], cuts[z])
		}
	}
}

// fill notes the records and the steered names of a zone.
func (b *builder) fill(z *Zone, c Contents) error {
	records := append([]dns.RR{c.SOA}, c.Records...)
	if z.signer != nil && z.denial == NSEC3 {
		records = append(records, &dns.NSEC3PARAM{Hdr: dns.RR_Header{Name: c.Apex, Rrtype: dns.TypeNSEC3PARAM, Class: dns.ClassINET}, Hash: dns.SHA1})
	}
	for _, rr := range records {
		owner, err := b.owner(rr.Header().Name, z)
		if err != nil {
			return err
		}
		owner.records = append(owner.records, rr)
	}
	for _, text := range c.Steered {
		owner, err := b.owner(text, z)
		if err != nil {
			return err
		}
		owner.steered = true
	}
	return nil
}

// owner makes sure that a name of the zone exists.
func (b *builder) owner(text string, z *Zone) (*name, error) {
	wire, err := canonicalName(text)
	if err != nil {
		return nil, err
	}
	if !wire.within(z.apex) {
		return nil, fmt.Errorf("%s is outside the zone", text)
	}
	n := b.name(wire)
	if n.zone != z {
		return nil, fmt.Errorf("%s belongs to the zone %s", text, n.zone.apex)
	}
	return n, nil
}

// name makes sure that a name exists, with all that is between it and its zone's apex.
func (b *builder) name(wire canonical) *name {
	if n := b.byName[wire]; n != nil {
		return n
	}
	above := b.name(wire.parent())
	n := b.add(wire, above.zone)
	if wire.wildcard() {
		above.wild = n
	}
	return n
}

func (b *builder) add(wire canonical, z *Zone) *name {
	n := &name{name: wire, zone: z}
	if z.signer != nil {
		b.proofs(n)
	}
	if old := b.byName[wire]; old != nil {
		// An empty non-terminal of the parent zone turns out to be the apex of another.
		*old = *n
		return old
	}
	b.byName[wire] = n
	b.names = append(b.names, n)
	b.depth = max(b.depth, wire.labels())
	return n
}

// encloser is the closest name above that exists, nil if there is none.
func (b *builder) encloser(wire canonical) *name {
	for wire = wire.parent(); wire != ""; wire = wire.parent() {
		if n := b.byName[wire]; n != nil {
			return n
		}
	}
	return nil
}

// negative is the SOA as negative answers carry it, with the TTL of RFC 2308 section 3.
func negative(apex canonical, soa *dns.SOA) (set, error) {
	carried := *soa
	carried.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl)
	return newSet(apex, apex, []dns.RR{&carried})
}
