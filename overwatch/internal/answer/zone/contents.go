package zone

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/miekg/dns"
)

// Contents describes one zone. Names are in zone-file form; records whose owner is outside the zone are an error. It
// must not be changed once it was given to New.
type Contents struct {
	Apex    string
	SOA     *dns.SOA
	Records []dns.RR // all that is not steered, the NS records of the apex included
	Steered []string // names that are steered, in ascending order, each once
	Renewed []string // those of Steered to which a Writer gives other answers: they are not shared with the view before

	// Types are the types of those names of Steered that have others than A and AAAA. A name whose types are not the same
	// pointers as in the view before must be Renewed.
	Types map[string][]*Type

	Signer Signer   // nil: the zone is not signed
	Denial Denial   // of a signed zone
	DS     []dns.RR // of its keys, for a signed zone above it in the same view
}

// New builds the view that follows previous, which may be nil. It shares a zone with previous if the zone's Contents
// are the same pointer and the zones right below are the same with the same DS records. In another zone it shares the
// names that have the same records and are not Renewed. Steered names that are also in previous keep their place in
// every schedule, and their answers until a Writer gives them others; new steered names are SERVFAIL until then.
// InForce must be called when the view has taken the place of previous.
func New(contents []*Contents, previous *View) (*View, error) {
	v := &View{zones: make(map[string]*Zone, len(contents)), turns: new(turnNumbers)}
	if previous != nil {
		v.turns = previous.turns
		v.places.Store(previous.places.Load())
	} else {
		previous = new(View)
	}
	apexes := make([]canonical, len(contents))
	for i, c := range contents {
		apex, err := canonicalName(c.Apex)
		if err != nil {
			return nil, fmt.Errorf("zone %s: %w", c.Apex, err)
		}
		if _, twice := v.zones[string(apex)]; twice {
			return nil, fmt.Errorf("zone %s: it is defined twice", c.Apex)
		}
		apexes[i] = apex
		v.zones[string(apex)] = &Zone{apex: apex}
		v.depth = max(v.depth, apex.labels())
	}
	cuts := v.cuts(contents, apexes)
	for i, c := range contents {
		apex := string(apexes[i])
		before := previous.zones[apex]
		if before != nil && before.contents == c && slices.EqualFunc(before.cuts, cuts[apex], cut.same) {
			v.zones[apex] = before
			continue
		}
		d, err := newDraft(v.zones[apex], before, c, cuts[apex])
		if err == nil {
			err = d.fill()
		}
		if err != nil {
			return nil, fmt.Errorf("zone %s: %w", c.Apex, err)
		}
		d.finish(v)
	}
	// From here on nothing can fail.
	for apex, z := range previous.zones {
		if v.zones[apex] == nil {
			v.replaced = z.names.steered(v.replaced)
		}
	}
	for _, o := range v.added {
		steered := o.answers.Load().steered
		for i := range steered {
			steered[i].turn = v.turns.take()
		}
	}
	v.added = nil
	return v, nil
}

// cut is a zone below another, as that one has it.
type cut struct {
	apex canonical
	ds   []dns.RR
}

func (c cut) same(other cut) bool { return c.apex == other.apex && sameRecords(c.ds, other.ds) }

// cuts returns the zones that lie in others, by the apex of the zone right above.
func (v *View) cuts(contents []*Contents, apexes []canonical) map[string][]cut {
	cuts := make(map[string][]cut)
	for i, apex := range apexes {
		if apex == rootName {
			continue
		}
		if above := v.zoneOf([]byte(apex.parent()), apex.labels()-1); above != nil {
			cuts[string(above.apex)] = append(cuts[string(above.apex)], cut{apex, contents[i].DS})
		}
	}
	for _, list := range cuts {
		slices.SortFunc(list, func(a, b cut) int { return cmp.Compare(a.apex, b.apex) })
	}
	return cuts
}

// InForce releases the turns that only names of the view before this one used. The owner of the Writers calls it, once,
// when queries are answered from this view.
func (v *View) InForce() {
	for _, o := range v.replaced {
		a := o.answers.Load()
		for i := range a.steered {
			v.turns.put(a.steered[i].turn)
		}
		a.eachVariant(func(in *variant) { v.turns.put(in.turn) })
	}
	v.replaced, v.fresh = nil, nil
}

// Fresh returns the signatures that the view before does not have, apart from those of answers that a Writer gives, so
// that they can be prepared. There are none after InForce.
func (v *View) Fresh() []*Signature { return v.fresh }

// sameRecords compares records one by one.
func sameRecords(a, b []dns.RR) bool {
	return slices.EqualFunc(a, b, func(a, b dns.RR) bool { return a == b || a.String() == b.String() })
}
