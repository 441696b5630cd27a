package zone

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/leaf/shardmap"
)

// Contents describes the desired state of one zone. Names are in zone-file form. A record with an owner outside the
// zone is an error. The caller must not change Contents after passing it to New.
type Contents struct {
	Apex     string
	SOA      *dns.SOA
	Records  []dns.RR // static records, including the NS records of the apex
	Balanced []string // load-balanced names, ascending and unique
	Unshared []string // names of Balanced that New does not share, because a Writer will change their answers

	// Added contains more static records by owner, as dns.CanonicalName returns it. If Records is the same list as in the
	// previous view, the cost of New depends on the changes of Added and not on the number of records.
	Added *shardmap.Map[*NameRecords]

	// Types holds the record types of load-balanced names with types other than A and AAAA. If the types of a name are
	// not the same pointers as in the previous view, Unshared must contain the name.
	Types map[string][]*Type

	Signer Signer   // nil if the zone is not signed
	Denial Denial   // used by signed zones
	DS     []dns.RR // DS records of the zone's keys, for a signed parent zone in the same view
}

// NameRecords are records with the same owner. It is immutable.
type NameRecords struct{ Records []dns.RR }

// New returns the view that replaces previous. previous is nil for the first view. The new view shares a zone with
// previous if its Contents is the same pointer and its child zones have the same DS records. In other zones, the view
// shares the names with equal records that are not in Unshared. Load-balanced names that exist in previous keep their
// rotation and their answers until a Writer replaces the answers; new load-balanced names answer SERVFAIL until then.
// The caller calls ReleasePrevious after the view replaced previous. An error names the zone.
func New(contents []*Contents, previous *View) (*View, error) {
	v := &View{zones: make(map[string]*Zone, len(contents)), rotations: new(rotationIndexes)}
	if previous != nil {
		v.rotations = previous.rotations
		v.regions.Store(previous.regions.Load())
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
			return nil, fmt.Errorf("zone %s: defined twice", c.Apex)
		}
		apexes[i] = apex
		v.zones[string(apex)] = &Zone{apex: apex}
		v.depth = max(v.depth, apex.countLabels())
	}
	cuts := v.findCuts(contents, apexes)
	for i, c := range contents {
		apex := string(apexes[i])
		before := previous.zones[apex]
		if before != nil && before.contents == c && slices.EqualFunc(before.cuts, cuts[apex], cut.equal) {
			v.zones[apex] = before
			continue
		}
		d, err := newDraft(v.zones[apex], before, c, cuts[apex])
		if err == nil {
			err = d.applyContents()
		}
		if err != nil {
			return nil, fmt.Errorf("zone %s: %w", c.Apex, err)
		}
		d.finish(v)
	}
	// The following steps cannot fail.
	for apex, z := range previous.zones {
		if v.zones[apex] == nil {
			v.replaced = z.names.appendBalanced(v.replaced)
		}
	}
	for _, o := range v.added {
		balanced := o.answers.Load().balanced
		for i := range balanced {
			balanced[i].rotationIndex = v.rotations.allocate()
		}
	}
	v.added = nil
	return v, nil
}

// cut is a delegation to a child zone in the same view, as recorded in the parent zone.
type cut struct {
	apex canonical
	ds   []dns.RR
}

func (c cut) equal(other cut) bool { return c.apex == other.apex && equalRecords(c.ds, other.ds) }

// findCuts returns the child zones of each zone, by the apex of the parent zone.
func (v *View) findCuts(contents []*Contents, apexes []canonical) map[string][]cut {
	cuts := make(map[string][]cut)
	for i, apex := range apexes {
		if apex == rootName {
			continue
		}
		if above := v.zoneOf([]byte(apex.parent()), apex.countLabels()-1); above != nil {
			cuts[string(above.apex)] = append(cuts[string(above.apex)], cut{apex, contents[i].DS})
		}
	}
	for _, list := range cuts {
		slices.SortFunc(list, func(a, b cut) int { return cmp.Compare(a.apex, b.apex) })
	}
	return cuts
}

// ReleasePrevious releases the rotation indexes that only the previous view used. The owner of the Writers calls it
// once, after queries are answered from this view.
func (v *View) ReleasePrevious() {
	for _, o := range v.replaced {
		a := o.answers.Load()
		for i := range a.balanced {
			v.rotations.free(a.balanced[i].rotationIndex)
		}
		a.eachVariant(func(in *variant) { v.rotations.free(in.rotationIndex) })
	}
	v.replaced, v.newSignatures = nil, nil
}

// NewSignatures returns the signatures that the previous view does not have, without the signatures of answers from a
// Writer, so that the caller can prepare them. The list is empty after ReleasePrevious.
func (v *View) NewSignatures() []*Signature { return v.newSignatures }

// equalRecords compares two lists of records element by element.
func equalRecords(a, b []dns.RR) bool {
	return slices.EqualFunc(a, b, func(a, b dns.RR) bool { return a == b || a.String() == b.String() })
}
