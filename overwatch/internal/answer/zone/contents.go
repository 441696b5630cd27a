package zone

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Contents is what one zone holds. Names are in zone-file form; records whose owner is outside the zone are an error.
type Contents struct {
	Apex    string
	SOA     *dns.SOA
	Records []dns.RR // all that is not steered, the NS records of the apex included
	Steered []string // owner names of steered A and AAAA records

	Signer Signer   // nil: the zone is not signed. The same one keeps the signatures that the previous view has
	Denial Denial   // of a signed zone
	DS     []dns.RR // what a signed zone above it in the same view says of its keys
}

// New builds a view. Names that are also in previous, which may be nil, keep their place in every schedule and their
// steered answers until a Writer gives them others; new steered names are SERVFAIL until then.
func New(contents []Contents, previous *View) (*View, error) {
	b := builder{byName: make(map[canonical]*name), previous: previous}
	zones := make([]*Zone, len(contents))
	// Parents first, so that each zone finds the one it is cut from.
	contents = slices.SortedStableFunc(slices.Values(contents), func(a, b Contents) int {
		return cmp.Compare(dns.CountLabel(a.Apex), dns.CountLabel(b.Apex))
	})
	for i, c := range contents {
		var err error
		if zones[i], err = b.cut(c); err != nil {
			return nil, fmt.Errorf("zone %s: %w", c.Apex, err)
		}
	}
	for i, c := range contents {
		if err := b.fill(zones[i], c); err != nil {
			return nil, fmt.Errorf("zone %s: %w", c.Apex, err)
		}
	}
	v, err := b.view()
	if err != nil {
		return nil, err
	}
	v.inherit(previous)
	return v, nil
}

// view compiles what was gathered.
func (b *builder) view() (*View, error) {
	v := &View{slots: make([]Slot, len(b.names)), names: make([]canonical, len(b.names)), depth: b.depth}
	for i, n := range b.names {
		v.names[i] = n.name
		if err := v.slots[i].become(n); err != nil {
			return nil, err
		}
	}
	v.index = newIndex(v.slots, v.names)
	v.zones, v.below = b.zones, make([]uint32, len(b.names))
	for i, n := range b.names {
		above, there := v.number(n.name.parent())
		if !there {
			continue
		}
		v.below[above]++
		if n.name.wildcard() && v.slots[above].zone == n.zone {
			v.stars = append(v.stars, [2]uint32{above, uint32(i)})
		}
	}
	v.wild()
	b.deny()
	return v, nil
}

// become makes a slot that of a name.
func (s *Slot) become(n *name) error {
	s.zone, s.steered, s.proofs = n.zone, n.steered, n.proofs
	if s.length = longName; len(n.name) <= shortName {
		s.length = uint8(copy(s.short[:], n.name))
	}
	a, err := compile(n)
	if err != nil {
		return fmt.Errorf("zone %s: %w", n.zone.apex, err)
	}
	s.answers.Store(a)
	return nil
}

// wild notes the wildcards by the slots of the names above them.
func (v *View) wild() {
	v.wilds = make(map[*Slot]*Slot, len(v.stars))
	for _, star := range v.stars {
		v.wilds[&v.slots[star[0]]] = &v.slots[star[1]]
	}
}

// What names without records have: an empty non-terminal, and a steered name until it is given answers.
var (
	nothing   = new(answers)
	unsteered = &answers{any: new(answers).pickAny(true)}
)

// compile packs the records of a name, type by type.
func compile(n *name) (*answers, error) {
	switch {
	case len(n.records) > 0:
	case n.steered:
		return unsteered, nil
	default:
		return nothing, nil
	}
	byType := make(map[uint16][]dns.RR)
	for _, rr := range n.records {
		rtype := rr.Header().Rrtype
		byType[rtype] = append(byType[rtype], rr)
	}
	a := new(answers)
	for _, rtype := range slices.Sorted(maps.Keys(byType)) {
		set, err := newSet(n.zone.apex, "", byType[rtype])
		if err != nil {
			return nil, err
		}
		if n.zone.signer != nil {
			if err := set.sign(n.proofs, n.zone.signer); err != nil {
				return nil, err
			}
		}
		a.sets = append(a.sets, set)
	}
	a.any = a.pickAny(n.steered)
	return a, nil
}

// inherit takes over from previous what does not depend on which names there are. Steered names that are new get
// turns of names that are gone.
func (v *View) inherit(previous *View) {
	if previous != nil {
		v.places.Store(previous.places.Load())
	}
	var fresh []*Slot
	taken := make([]bool, 2*len(v.slots)+2) // more than are handed out below
	if previous != nil {
		taken = append(taken, make([]bool, previous.turns.end)...)
	}
	for i := range v.slots {
		slot := &v.slots[i]
		old := previous.slot(v.names[i])
		if slot.proofs != nil {
			if slot.steered && old != nil && old.steered {
				slot.denials(old.answers.Load().steered)
			}
			slot.proofs.known.settle(slot.zone.signer)
		}
		if !slot.steered {
			continue
		}
		if old == nil || !old.steered {
			fresh = append(fresh, slot)
			continue
		}
		slot.turn = old.turn
		taken[slot.turn], taken[slot.turn+1] = true, true
		was := old.answers.Load()
		next := answers{steered: was.steered, placed: was.copyPlaced()}
		for f := range next.steered {
			slot.signAgain(policy.Family(f), &next.steered[f])
		}
		next.eachVariant(func(f policy.Family, in *variant) {
			slot.signAgain(f, &in.family)
			taken[in.turn] = true
		})
		slot.steer(next.steered, next.placed, was.basis)
	}
	var next uint32
	for _, slot := range fresh {
		for taken[next] || taken[next+1] {
			next += 2
		}
		slot.turn = next
		taken[next], taken[next+1] = true, true
		next += 2
	}
	v.turns.begin(taken)
}
