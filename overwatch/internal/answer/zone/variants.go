package zone

import (
	"slices"
	"sync"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// variantSet holds the client-dependent answers of a record type. It is immutable. It is empty while the
// name has no answer for any client. While the name has an answer for some clients, the variants of the other clients
// are failing or have no data.
type variantSet struct {
	variants   []variant
	locations  *geo.Locations // nil if regions are sufficient
	sameForAll bool           // the answer is the same for all client locations
	variantOf  []uint16       // index in variants, by geo.RegionID; with locations, by decision
	decisionOf []uint16       // index in variantOf, by geo.LocationID; names share the slice
}

// variant is the answer for a group of clients. The shares of a variant are exact within the variant.
type variant struct {
	affinity *affinity // nil if answers rotate
	candidates
	group string // groupOf the decision
}

// affinity assigns each client network to one of the addresses.
type affinity struct {
	policy.ClientBits
	*policy.Rendezvous
	members []policy.Member // members of the Rendezvous
}

// newAffinity returns the affinity of a decision; nil if the decision uses rotation.
func newAffinity(d *policy.Decision) *affinity {
	if !d.Hashed {
		return nil
	}
	return &affinity{d.ClientBits, policy.NewRendezvous(d.Members), d.Members}
}

func (a *affinity) equal(other *affinity) bool {
	if a == nil || other == nil {
		return a == other
	}
	return a.ClientBits == other.ClientBits && slices.Equal(a.members, other.members)
}

// pick selects the answer for a client. It returns the candidates, the position in their schedule, the number of
// address bits that the selection used, and the reason. The position has no meaning for candidates without an answer.
// index is an index in a.balanced.
func (a *answers) pick(
	v *View,
	index int,
	q *Question,
	rotations *Rotations,
) (c *candidates, position uint32, scope uint8, why Selection) {
	if a.variants == nil {
		c = &a.balanced[index]
		position = rotations.advance(c)
		return c, position, 0, a.commonSelection(v, index, q.Client, c.schedule.Pick(position, 0))
	}
	in, at, scope := (*a.variants)[index].variantFor(v, q)
	if c = &in.candidates; c.state != answering {
		return c, 0, scope, a.selectionAt(index, at, NoLead)
	}
	if in.affinity == nil {
		position = rotations.advance(c)
	} else {
		network, bits := geo.Network(q.Client, in.affinity.IPv4, in.affinity.IPv6)
		position, scope = uint32(in.affinity.Pick(network)), max(scope, bits)
	}
	return c, position, scope, a.selectionAt(index, at, c.schedule.Pick(position, 0))
}

// clientLocation is the location of a client, with the precision that the name needs.
type clientLocation struct {
	region   geo.RegionID
	location geo.LocationID // for names with answers by location
	variant  uint16         // index of the variant for this location
}

// variantFor returns the variant for the client, the client's location, and the number of address bits that selected
// it.
func (p *variantSet) variantFor(v *View, q *Question) (in *variant, variantFor clientLocation, scope uint8) {
	if p.sameForAll {
		return &p.variants[0], clientLocation{region: v.regionOf(q.Client)}, 0
	}
	if p.locations != nil {
		variantFor.location, scope = p.locations.Locate(q.Client)
		variantFor.region = p.locations.List()[variantFor.location].Region
		variantFor.variant = p.variantOf[p.decisionOf[variantFor.location]]
		return &p.variants[variantFor.variant], variantFor, scope
	}
	if variantFor.region, scope = v.locateRegion(q.Client); int(variantFor.region) < len(p.variantOf) {
		variantFor.variant = p.variantOf[variantFor.region]
	} else {
		variantFor.variant = p.variantOf[geo.NoRegion]
	}
	return &p.variants[variantFor.variant], variantFor, scope
}

// findGroup returns the variant of a group; nil if the set does not contain the group.
func (p *variantSet) findGroup(group string) *variant {
	for i := range p.variants {
		if p.variants[i].group == group {
			return &p.variants[i]
		}
	}
	return nil
}

// equal reports whether both sets have the same answers and rotations for each client.
func (p *variantSet) equal(other *variantSet) bool {
	return p.sameForAll == other.sameForAll && p.locations == other.locations &&
		slices.Equal(p.variantOf, other.variantOf) &&
		slices.Equal(p.decisionOf, other.decisionOf) &&
		slices.EqualFunc(p.variants, other.variants, func(a, b variant) bool {
			return a.rotationIndex == b.rotationIndex && a.generation == b.generation && a.affinity.equal(b.affinity)
		})
}

// RegionTable returns the table of client regions; nil if no table is set.
func (v *View) RegionTable() *geo.Table { return v.regions.Load() }

// SetRegionTable replaces the table of client regions from the next query on. The table must have the regions of the
// decisions that SetRegionAnswers received. Calls for one view must not be concurrent.
func (v *View) SetRegionTable(table *geo.Table) { v.regions.Store(table) }

// LocationDecisions holds the decisions of one address family by client location.
type LocationDecisions struct {
	Decisions  []policy.Decision
	ByLocation []uint16 // index in Decisions by geo.LocationID; retained, and names may share it
}

// SetRegionAnswers is SetAnswers for a name with answers by client region. decisions is indexed by geo.RegionID, then
// by policy.Family.
func (w *Writer) SetRegionAnswers(
	v *View,
	name string,
	decisions [][2]policy.Decision,
	answers int,
) (changed bool, err error) {
	for f := range w.decisions {
		c := &w.decisions[f]
		c.Decisions = c.Decisions[:0]
		for i := range decisions {
			c.Decisions = append(c.Decisions, decisions[i][f])
		}
	}
	return w.setVariantAnswers(v, name, variantSet{}, w.decisions, answers)
}

// SetLocationAnswers is SetAnswers for a name with answers by client location. The name uses locations, regardless of
// the region table of the view.
func (w *Writer) SetLocationAnswers(
	v *View,
	name string,
	locations *geo.Locations,
	choices [2]LocationDecisions,
	answers int,
) (changed bool, err error) {
	return w.setVariantAnswers(v, name, variantSet{locations: locations}, choices, answers)
}

// setVariantAnswers replaces the answers of a name that depend on the client. template contains the fields that all
// types share; choices is indexed by policy.Family.
func (w *Writer) setVariantAnswers(
	v *View,
	name string,
	template variantSet,
	choices [2]LocationDecisions,
	answers int,
) (changed bool, err error) {
	z, o, err := v.findBalanced(name)
	if err != nil {
		return false, err
	}
	was := o.answers.Load()
	before := was.variantSets()
	if before == nil {
		before = make([]variantSet, len(was.balanced))
	}
	balanced, after := append(w.balanced[:0], was.balanced...), make([]variantSet, len(was.balanced))
	w.balanced = balanced
	for i := range balanced {
		kind := balanced[i].kind
		by := choices[kind.Family]
		first := slices.IndexFunc(by.Decisions, func(d policy.Decision) bool { return len(d.Members) > 0 })
		base := z.compileCandidates(kind, &by.Decisions[max(first, 0)], answers, w.schedules)
		if first >= 0 {
			after[i] = w.compileVariants(v, z, o, kind, &before[i], template, by, answers)
			base = after[i].variants[after[i].variantOf[first]].candidates
		}
		if was.variants == nil || !base.equal(&balanced[i]) || !after[i].equal(&before[i]) {
			changed = true
		}
		base.rotationIndex = balanced[i].rotationIndex
		balanced[i] = base
		v.rotations.freeRemoved(&before[i], &after[i])
	}
	input := choices[policy.IPv4].Decisions[0].Input
	if changed {
		w.storeChanged(z, o, balanced, after, input)
	} else {
		o.storeAnswers(was.balanced, was.variantSets(), input)
	}
	return changed, nil
}

// compileVariants compiles the decisions for one type. An existing group continues its rotation.
func (w *Writer) compileVariants(
	v *View,
	z *Zone,
	o *owner,
	kind *Type,
	before *variantSet,
	template variantSet,
	choices LocationDecisions,
	answers int,
) variantSet {
	out := template
	out.variantOf, out.decisionOf = make([]uint16, len(choices.Decisions)), choices.ByLocation
	some := w.variants[:0]
	for i := range choices.Decisions {
		decision := &choices.Decisions[i]
		group := groupOf(decision)
		at := slices.IndexFunc(some, func(known variant) bool { return known.group == group })
		if at < 0 {
			at = len(some)
			some = append(some, w.compileVariant(v, z, o, kind, before.findGroup(group), decision, answers))
		}
		out.variantOf[i] = uint16(at)
	}
	w.variants, out.variants = some, slices.Clone(some)
	return out
}

// groupOf returns the id of the variant of a decision: the selected group of backends, or the outcome of a decision
// without answer.
func groupOf(d *policy.Decision) string {
	if len(d.Members) == 0 {
		return "without answer: " + string(d.Outcome)
	}
	return d.Group
}

// compileVariant compiles one decision. before is the previous variant of its group, or nil.
func (w *Writer) compileVariant(
	v *View,
	z *Zone,
	o *owner,
	kind *Type,
	before *variant,
	decision *policy.Decision,
	answers int,
) variant {
	next := variant{
		candidates: z.compileCandidates(kind, decision, answers, w.schedules),
		affinity:   newAffinity(decision),
		group:      groupOf(decision),
	}
	switch {
	case before == nil:
		next.rotationIndex = v.rotations.allocate()
	case next.equal(&before.candidates):
		kept := *before
		kept.affinity = next.affinity
		return kept
	default:
		next.rotationIndex = before.rotationIndex
	}
	next.generation = w.generations.Add(1)
	o.signCandidates(z, &next.candidates, max(decision.TTL, decision.FullTTL))
	w.addNewSignatures(next.signatures())
	return next
}

// eachCandidates calls visit for the candidates of all types and variants.
func (a *answers) eachCandidates(visit func(*candidates)) {
	for i := range a.balanced {
		visit(&a.balanced[i])
	}
	a.eachVariant(func(in *variant) { visit(&in.candidates) })
}

// eachVariant calls visit for the variants of all types.
func (a *answers) eachVariant(visit func(*variant)) {
	for _, p := range a.variantSets() {
		for i := range p.variants {
			visit(&p.variants[i])
		}
	}
}

// cloneVariantSets returns a copy of variantSets that the caller may change.
func (a *answers) cloneVariantSets() []variantSet {
	out := slices.Clone(a.variantSets())
	for i := range out {
		out[i].variants = slices.Clone(out[i].variants)
	}
	return out
}

// variantSets returns the variant sets; nil if all clients receive the same answers.
func (a *answers) variantSets() []variantSet {
	if a.variants == nil {
		return nil
	}
	return *a.variants
}

// rotationIndexes allocates indexes of Rotations. It is safe for concurrent use. If a name exists in two views, free
// can be called twice for its index; the second call has no effect.
type rotationIndexes struct {
	mu      sync.Mutex // New and Writers run concurrently
	spare   []uint32
	isSpare []bool // by index
}

func (x *rotationIndexes) allocate() uint32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if last := len(x.spare) - 1; last >= 0 {
		number := x.spare[last]
		x.spare, x.isSpare[number] = x.spare[:last], false
		return number
	}
	x.isSpare = append(x.isSpare, false)
	return uint32(len(x.isSpare) - 1)
}

func (x *rotationIndexes) free(number uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.isSpare[number] {
		x.spare, x.isSpare[number] = append(x.spare, number), true
	}
}

// freeRemoved frees the indexes of variants that after does not contain.
func (x *rotationIndexes) freeRemoved(before, after *variantSet) {
	if len(before.variants) == 0 {
		return
	}
	for i := range before.variants {
		if after.findGroup(before.variants[i].group) == nil {
			x.free(before.variants[i].rotationIndex)
		}
	}
}
