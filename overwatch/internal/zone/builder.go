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
}

// name is a name that will exist.
type name struct {
	name    canonical
	zone    *Zone
	wild    *name // the wildcard directly below, or nil
	steered bool
	records []dns.RR
}

// cut begins a zone.
func (b *builder) cut(text string, soa *dns.SOA) (*Zone, error) {
	apex, err := canonicalName(text)
	if err != nil {
		return nil, err
	}
	if n := b.byName[apex]; n != nil && n.zone.apex == apex {
		return nil, errors.New("it is defined twice")
	}
	z := &Zone{apex: apex}
	if z.negative, err = negative(apex, soa); err != nil {
		return nil, err
	}
	if encloser := b.encloser(apex); encloser != nil {
		z.parent = encloser.zone
		// Seen from the parent, the names between the two apexes are empty non-terminals.
		b.name(apex.parent())
	}
	b.add(apex, z)
	return z, nil
}

// fill notes the records and the steered names of a zone.
func (b *builder) fill(z *Zone, c Contents) error {
	for _, rr := range append([]dns.RR{c.SOA}, c.Records...) {
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
