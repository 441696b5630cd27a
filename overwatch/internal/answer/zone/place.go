package zone

import (
	"slices"
	"sync"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// placed holds the answers of a name with records of one type, where they depend on the client. It is immutable, and
// empty while there is nothing to answer, which is so for all clients or for none.
type placed struct {
	variants []variant
	spots    *geo.Spots // nil: regions are enough
	alike    bool       // the client's place makes no difference
	choice   []uint16   // index of the variant, by geo.RegionID or, with spots, by decision
	decision []uint16   // by geo.SpotID; names share it
}

// variant is the answer to some of the clients. Its shares are exact by themselves.
type variant struct {
	affinity *affinity // nil: answers take turns
	candidates
	group string // Decision.Group
}

// affinity keeps a client network to one of the addresses.
type affinity struct {
	policy.ClientBits
	*policy.Rendezvous
	due []policy.Due // the source of the Rendezvous
}

func affinityOf(d *policy.Decision) *affinity {
	if !d.Hashed {
		return nil
	}
	return &affinity{d.ClientBits, policy.NewRendezvous(d.Due), d.Due}
}

func (a *affinity) same(other *affinity) bool {
	if a == nil || other == nil {
		return a == other
	}
	return a.ClientBits == other.ClientBits && slices.Equal(a.due, other.due)
}

// pick chooses the answer to a client. It returns the candidates, the position in their schedule, the number of bits of
// the client's address that the choice depended on, and the reason. which is an index of steered.
func (a *answers) pick(
	v *View,
	which int,
	q *Question,
	turns *Turns,
) (c *candidates, position uint32, scope uint8, why Steered) {
	if a.placed == nil {
		c = &a.steered[which]
		position = turns.next(c)
		return c, position, 0, a.steeredBy(v, which, q.Client, c.schedule.Pick(position, 0))
	}
	in, at, scope := (*a.placed)[which].at(v, q)
	if c = &in.candidates; in.affinity == nil {
		position = turns.next(c)
	} else {
		network, bits := geo.Network(q.Client, in.affinity.IPv4, in.affinity.IPv6)
		position, scope = uint32(in.affinity.Pick(network)), max(scope, bits)
	}
	return c, position, scope, a.steeredAt(which, at, c.schedule.Pick(position, 0))
}

// clientPlace is the place of a client, as far as the name tells clients apart.
type clientPlace struct {
	region geo.RegionID
	spot   geo.SpotID // of names that tell clients apart by spots
	choice uint16     // index of the variant for it
}

// at returns the client's variant, its place, and the number of bits of its address that the variant depended on.
func (p *placed) at(v *View, q *Question) (in *variant, at clientPlace, scope uint8) {
	if p.alike {
		return &p.variants[0], clientPlace{region: v.region(q.Client)}, 0
	}
	if p.spots != nil {
		at.spot, scope = p.spots.Locate(q.Client)
		at.region = p.spots.List()[at.spot].Region
		at.choice = p.choice[p.decision[at.spot]]
		return &p.variants[at.choice], at, scope
	}
	if at.region, scope = v.locate(q.Client); int(at.region) < len(p.choice) {
		at.choice = p.choice[at.region]
	} else {
		at.choice = p.choice[geo.NoRegion]
	}
	return &p.variants[at.choice], at, scope
}

// find returns the variant of a group, nil if there is none.
func (p *placed) find(group string) *variant {
	for i := range p.variants {
		if p.variants[i].group == group {
			return &p.variants[i]
		}
	}
	return nil
}

// same reports whether both give every client the same answers in the same turns.
func (p *placed) same(other *placed) bool {
	return p.alike == other.alike && p.spots == other.spots && slices.Equal(p.choice, other.choice) &&
		slices.Equal(p.decision, other.decision) &&
		slices.EqualFunc(p.variants, other.variants, func(a, b variant) bool {
			return a.turn == b.turn && a.edition == b.edition && a.affinity.same(b.affinity)
		})
}

// Places returns the table of clients' places, nil where no answer depends on it.
func (v *View) Places() *geo.Table { return v.places.Load() }

// SetPlaces replaces the table of clients' places, from the next query on. The table must have the regions by which the
// names were decided (Writer.Place). Of one view, one goroutine at a time may call it.
func (v *View) SetPlaces(table *geo.Table) { v.places.Store(table) }

// Choices has the decisions of one address family for clients that are told apart.
type Choices struct {
	Decisions []policy.Decision
	By        []uint16 // index in Decisions by geo.SpotID. It is kept, and names may share it
}

// Place is Steer for a name whose answers depend on the client's region: decisions are by geo.RegionID, then by
// policy.Family.
func (w *Writer) Place(v *View, name string, decisions [][2]policy.Decision, answers int) (changed bool, err error) {
	for f := range w.choices {
		c := &w.choices[f]
		c.Decisions = c.Decisions[:0]
		for i := range decisions {
			c.Decisions = append(c.Decisions, decisions[i][f])
		}
	}
	return w.place(v, name, placed{}, w.choices, answers)
}

// PlaceAt is Steer for a name whose answers depend on the client's spot. The name keeps to these spots whatever table
// the view has.
func (w *Writer) PlaceAt(
	v *View,
	name string,
	spots *geo.Spots,
	choices [2]Choices,
	answers int,
) (changed bool, err error) {
	return w.place(v, name, placed{spots: spots}, choices, answers)
}

// place replaces the answers of a name that depend on the client. like says by what clients are told apart; choices are
// by policy.Family.
func (w *Writer) place(v *View, name string, like placed, choices [2]Choices, answers int) (changed bool, err error) {
	z, o, err := v.steered(name)
	if err != nil {
		return false, err
	}
	was := o.answers.Load()
	before := was.byPlace()
	if before == nil {
		before = make([]placed, len(was.steered))
	}
	steered, after := append(w.steered[:0], was.steered...), make([]placed, len(was.steered))
	w.steered = steered
	for i := range steered {
		kind := steered[i].kind
		by := choices[kind.Family]
		base := z.compile(kind, &by.Decisions[0], answers, w.schedules)
		if base.state == answering {
			after[i] = w.variants(v, z, o, kind, &before[i], like, by, answers)
			base = after[i].variants[0].candidates
		}
		if was.placed == nil || !base.same(&steered[i]) || !after[i].same(&before[i]) {
			changed = true
		}
		base.turn = steered[i].turn
		steered[i] = base
		v.turns.release(&before[i], &after[i])
	}
	basis := choices[policy.IPv4].Decisions[0].Basis
	if changed {
		w.give(z, o, steered, after, basis)
	} else {
		o.steer(was.steered, was.byPlace(), basis)
	}
	return changed, nil
}

// variants compiles the decisions for one type. A group that was there before keeps its place in the schedule.
func (w *Writer) variants(
	v *View,
	z *Zone,
	o *owner,
	kind *Type,
	before *placed,
	like placed,
	choices Choices,
	answers int,
) placed {
	out := like
	out.choice, out.decision = make([]uint16, len(choices.Decisions)), choices.By
	some := w.some[:0]
	for i := range choices.Decisions {
		decision := &choices.Decisions[i]
		at := slices.IndexFunc(some, func(known variant) bool { return known.group == decision.Group })
		if at < 0 {
			at = len(some)
			some = append(some, w.variant(v, z, o, kind, before.find(decision.Group), decision, answers))
		}
		out.choice[i] = uint16(at)
	}
	w.some, out.variants = some, slices.Clone(some)
	return out
}

func (w *Writer) variant(
	v *View,
	z *Zone,
	o *owner,
	kind *Type,
	before *variant,
	decision *policy.Decision,
	answers int,
) variant {
	next := variant{
		candidates: z.compile(kind, decision, answers, w.schedules),
		affinity:   affinityOf(decision),
		group:      decision.Group,
	}
	switch {
	case before == nil:
		next.turn = v.turns.take()
	case next.same(&before.candidates):
		kept := *before
		kept.affinity = next.affinity
		return kept
	default:
		next.turn = before.turn
	}
	next.edition = w.editions.Add(1)
	o.sign(z, &next.candidates, max(decision.TTL, decision.FullTTL))
	w.note(next.signatures())
	return next
}

// eachCandidates visits the answers of all types, those by place too.
func (a *answers) eachCandidates(visit func(*candidates)) {
	for i := range a.steered {
		visit(&a.steered[i])
	}
	a.eachVariant(func(in *variant) { visit(&in.candidates) })
}

// eachVariant visits the variants of all types.
func (a *answers) eachVariant(visit func(*variant)) {
	for _, p := range a.byPlace() {
		for i := range p.variants {
			visit(&p.variants[i])
		}
	}
}

// copyPlaced returns a copy of byPlace that may be changed.
func (a *answers) copyPlaced() []placed {
	out := slices.Clone(a.byPlace())
	for i := range out {
		out[i].variants = slices.Clone(out[i].variants)
	}
	return out
}

// byPlace returns the list that placed points to, nil where placed is nil.
func (a *answers) byPlace() []placed {
	if a.placed == nil {
		return nil
	}
	return *a.placed
}

// turnNumbers hands out indexes of Turns. A name of two views, of which one is not in force yet, may put a number back
// twice; it is spare once.
type turnNumbers struct {
	mu      sync.Mutex // a view may be built while Writers work
	spare   []uint32
	isSpare []bool // by number; all from its end on were never taken
}

func (n *turnNumbers) take() uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.spare) - 1; last >= 0 {
		number := n.spare[last]
		n.spare, n.isSpare[number] = n.spare[:last], false
		return number
	}
	n.isSpare = append(n.isSpare, false)
	return uint32(len(n.isSpare) - 1)
}

func (n *turnNumbers) put(number uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.isSpare[number] {
		n.spare, n.isSpare[number] = append(n.spare, number), true
	}
}

// release takes back the numbers of variants that are gone.
func (n *turnNumbers) release(before, after *placed) {
	if len(before.variants) == 0 {
		return
	}
	for i := range before.variants {
		if after.find(before.variants[i].group) == nil {
			n.put(before.variants[i].turn)
		}
	}
}
