package zone

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/miekg/dns"
)

// Contents is what one zone holds. Names are in zone-file form; records whose owner is outside the zone are an error.
type Contents struct {
	Apex    string
	SOA     *dns.SOA
	Records []dns.RR // all that is not steered, the NS records of the apex included
	Steered []string // owner names of steered A and AAAA records
}

// New builds a view. Names that are also in previous, which may be nil, keep their place in every schedule and their
// steered answers until a Writer gives them others; new steered names are SERVFAIL until then.
func New(contents []Contents, previous *View) (*View, error) {
	b := builder{view: &View{names: make(map[canonical]*Slot)}, records: make(map[canonical][]dns.RR)}
	zones := make([]*Zone, len(contents))
	// Parents first, so that each zone finds the one it is cut from.
	contents = slices.SortedStableFunc(slices.Values(contents), func(a, b Contents) int {
		return cmp.Compare(dns.CountLabel(a.Apex), dns.CountLabel(b.Apex))
	})
	for i, c := range contents {
		var err error
		if zones[i], err = b.cut(c.Apex, c.SOA); err != nil {
			return nil, fmt.Errorf("zone %s: %w", c.Apex, err)
		}
	}
	for i, c := range contents {
		if err := b.fill(zones[i], c); err != nil {
			return nil, fmt.Errorf("zone %s: %w", c.Apex, err)
		}
	}
	for name, slot := range b.view.names {
		if err := slot.compile(b.records[name]); err != nil {
			return nil, fmt.Errorf("zone %s: %w", slot.zone.apex, err)
		}
	}
	b.view.inherit(previous)
	return b.view, nil
}

// builder gathers the names of all zones before any is compiled.
type builder struct {
	view    *View
	records map[canonical][]dns.RR
}

// cut begins a zone.
func (b *builder) cut(text string, soa *dns.SOA) (*Zone, error) {
	apex, err := canonicalName(text)
	if err != nil {
		return nil, err
	}
	if slot := b.view.names[apex]; slot != nil && slot.zone.apex == apex {
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
		slot, err := b.owner(rr.Header().Name, z)
		if err != nil {
			return err
		}
		b.records[slot.name] = append(b.records[slot.name], rr)
	}
	for _, name := range c.Steered {
		slot, err := b.owner(name, z)
		if err != nil {
			return err
		}
		slot.steered = true
	}
	return nil
}

// owner makes sure that a name of the zone exists.
func (b *builder) owner(text string, z *Zone) (*Slot, error) {
	name, err := canonicalName(text)
	if err != nil {
		return nil, err
	}
	if !name.within(z.apex) {
		return nil, fmt.Errorf("%s is outside the zone", text)
	}
	slot := b.name(name)
	if slot.zone != z {
		return nil, fmt.Errorf("%s belongs to the zone %s", text, slot.zone.apex)
	}
	return slot, nil
}

// name makes sure that a name exists, with all that is between it and its zone's apex.
func (b *builder) name(name canonical) *Slot {
	if slot := b.view.names[name]; slot != nil {
		return slot
	}
	above := b.name(name.parent())
	slot := b.add(name, above.zone)
	if name.wildcard() {
		above.wild = slot
	}
	return slot
}

func (b *builder) add(name canonical, z *Zone) *Slot {
	slot := &Slot{name: name, zone: z}
	b.view.names[name] = slot
	b.view.depth = max(b.view.depth, name.labels())
	return slot
}

// encloser is the slot of the closest name above that exists, nil if there is none.
func (b *builder) encloser(name canonical) *Slot {
	for name = name.parent(); name != ""; name = name.parent() {
		if slot := b.view.names[name]; slot != nil {
			return slot
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

// compile packs the records of a name, type by type.
func (s *Slot) compile(records []dns.RR) error {
	byType := make(map[uint16][]dns.RR)
	for _, rr := range records {
		rtype := rr.Header().Rrtype
		byType[rtype] = append(byType[rtype], rr)
	}
	a := new(answers)
	for _, rtype := range slices.Sorted(maps.Keys(byType)) {
		set, err := newSet(s.zone.apex, "", byType[rtype])
		if err != nil {
			return err
		}
		a.sets = append(a.sets, set)
	}
	a.any = a.pickAny(s.steered)
	s.answers.Store(a)
	return nil
}

// inherit takes over from previous what does not depend on which names there are. Steered names that are new get
// places of names that are gone.
func (v *View) inherit(previous *View) {
	var fresh []*Slot
	taken := make(map[uint32]bool)
	for name, slot := range v.names {
		if !slot.steered {
			continue
		}
		old := previous.slot(name)
		if old == nil || !old.steered {
			fresh = append(fresh, slot)
			continue
		}
		slot.turn = old.turn
		taken[slot.turn] = true
		slot.steer(old.answers.Load().steered)
	}
	var next uint32
	for _, slot := range fresh {
		for taken[next] {
			next += 2
		}
		slot.turn = next
		next += 2
	}
}

// slot is nil where the name does not exist; v may be nil.
func (v *View) slot(name canonical) *Slot {
	if v == nil {
		return nil
	}
	return v.names[name]
}
