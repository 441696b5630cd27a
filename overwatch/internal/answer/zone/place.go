package zone

import (
	"slices"
	"sync"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// placed holds what a name answers with addresses of one family, by who asks. It is immutable. It is empty while the
// family has nothing to answer, which is so for all clients or for none.
type placed struct {
	variants []variant
	spots    *geo.Spots // nil: regions are enough
	alike    bool       // where the client is makes no difference
	choice   []uint16   // which variant: by geo.RegionID or, with spots, by decision
	decision []uint16   // by geo.SpotID; names share it
}

// variant is what some of the clients are answered. Its shares are exact by themselves.
type variant struct {
	affinity *affinity // nil: answers take turns
	turn     uint32    // where Turns has its position
	family
	group string // whose addresses these are
}

// affinity keeps a client network to one of the addresses.
type affinity struct {
	policy.ClientBits
	*policy.Rendezvous
	due []policy.Due // what it was made from
}

func affinityOf(d policy.Decision) *affinity {
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

// pick finds what the client is answered: a position in the schedule of a family, and what that depended on.
func (o *owner) pick(
	a *answers,
	v *View,
	which policy.Family,
	q *Question,
	turns *Turns,
) (f *family, position uint32, told told) {
	if a.placed == nil {
		f = &a.steered[which]
		position = turns.next(o.turn+uint32(which), f)
		told.steered = a.steeredBy(v, which, q.Client, f.schedule.Pick(position, 0))
		return f, position, told
	}
	in, at, scope := a.placed[which].at(v, q)
	if f = &in.family; in.affinity == nil {
		position = turns.next(in.turn, f)
	} else {
		network, bits := geo.Network(q.Client, in.affinity.IPv4, in.affinity.IPv6)
		position, scope = uint32(in.affinity.Pick(network)), max(scope, bits)
	}
	told.scope, told.steered = scope, a.steeredAt(which, at, f.schedule.Pick(position, 0))
	return f, position, told
}

// told is what else is said of an answer.
type told struct {
	scope   uint8 // how many bits of the client's address it depended on
	steered Steered
}

// spot is where a client is.
type spot struct {
	region geo.RegionID
	id     geo.SpotID // of names that tell clients apart by spots
	choice uint16     // the variant's index
}

// at finds the variant of the client, where that is, and how many bits of its address the variant depended on.
func (p *placed) at(v *View, q *Question) (in *variant, at spot, scope uint8) {
	if p.alike {
		return &p.variants[0], spot{region: v.region(q.Client)}, 0
	}
	if p.spots != nil {
		at.id, scope = p.spots.Locate(q.Client)
		at.region = p.spots.List()[at.id].Region
		at.choice = p.choice[p.decision[at.id]]
		return &p.variants[at.choice], at, scope
	}
	if at.region, scope = v.locate(q.Client); int(at.region) < len(p.choice) {
		at.choice = p.choice[at.region]
	} else {
		at.choice = p.choice[geo.NoRegion]
	}
	return &p.variants[at.choice], at, scope
}

// find is the variant of a group, nil if there is none.
func (p *placed) find(group string) *variant {
	for i := range p.variants {
		if p.variants[i].group == group {
			return &p.variants[i]
		}
	}
	return nil
}

// same says whether two give every client the same answers in the same turns.
func (p *placed) same(other *placed) bool {
	return p.alike == other.alike && p.spots == other.spots && slices.Equal(p.choice, other.choice) &&
		slices.Equal(p.decision, other.decision) &&
		slices.EqualFunc(p.variants, other.variants, func(a, b variant) bool {
			return a.turn == b.turn && a.edition == b.edition && a.affinity.same(b.affinity)
		})
}

// Places is the table that says where clients are, nil where no answer depends on that.
func (v *View) Places() *geo.Table { return v.places.Load() }

// Place puts another table into force, from the next query on. It must tell the same regions apart as the names were
// decided for (Writer.Place). Of one view, one goroutine at a time may call it.
func (v *View) Place(table *geo.Table) { v.places.Store(table) }

// Choices is what clients are answered with addresses of one family.
type Choices struct {
	Decisions []policy.Decision
	By        []uint16 // index in Decisions by geo.SpotID. It is kept, and names may share it
}

// Place is Steer for a name whose answers depend on the client's region: decisions are by geo.RegionID.
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

// place makes a name answer by the client, looked at as like does.
func (w *Writer) place(v *View, name string, like placed, choices [2]Choices, answers int) (changed bool, err error) {
	z, o, err := v.steered(name)
	if err != nil {
		return false, err
	}
	was := o.answers.Load()
	before := was.placed
	if before == nil {
		before = new([2]placed)
	}
	families, after := was.steered, new([2]placed)
	for f := range families {
		base := familyOf(policy.Family(f), choices[f].Decisions[0], answers, w.schedules)
		if base.state == answering {
			after[f] = w.variants(v, z, o, policy.Family(f), &before[f], like, choices[f], answers)
			base = after[f].variants[0].family
		}
		if was.placed == nil || !base.same(&families[f]) || !after[f].same(&before[f]) {
			changed = true
		}
		families[f] = base
		v.turns.release(&before[f], &after[f])
	}
	basis := choices[policy.IPv4].Decisions[0].Basis
	if changed {
		o.steer(families, after, basis)
		w.note(z.denials(o, families))
		o.trim()
	} else {
		o.steer(was.steered, was.placed, basis)
	}
	return changed, nil
}

// variants compiles the decisions of one family. What was there before keeps its turn.
func (w *Writer) variants(
	v *View,
	z *Zone,
	o *owner,
	f policy.Family,
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
			some = append(some, w.variant(v, z, o, f, before.find(decision.Group), *decision, answers))
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
	f policy.Family,
	before *variant,
	decision policy.Decision,
	answers int,
) variant {
	next := variant{
		family:   familyOf(f, decision, answers, w.schedules),
		affinity: affinityOf(decision),
		group:    decision.Group,
	}
	switch {
	case before == nil:
		next.turn = v.turns.take()
	case next.same(&before.family):
		kept := *before
		kept.affinity = next.affinity
		return kept
	default:
		next.turn = before.turn
	}
	next.edition = w.editions.Add(1)
	o.sign(z, f, &next.family, max(decision.TTL, decision.FullTTL))
	w.note(next.signatures())
	return next
}

// eachVariant visits the variants of both families.
func (a *answers) eachVariant(visit func(policy.Family, *variant)) {
	if a.placed == nil {
		return
	}
	for f := range a.placed {
		for i := range a.placed[f].variants {
			visit(policy.Family(f), &a.placed[f].variants[i])
		}
	}
}

// copyPlaced is what is placed, to be changed.
func (a *answers) copyPlaced() *[2]placed {
	if a.placed == nil {
		return nil
	}
	out := *a.placed
	for f := range out {
		out[f].variants = slices.Clone(out[f].variants)
	}
	return &out
}

// turnNumbers hands out the places of names and variants in Turns.
type turnNumbers struct {
	mu    sync.Mutex // a view may be built while Writers work
	spare []uint32
	pairs []uint32 // the first of two that are spare
	end   uint32   // all from here on are free
}

func (n *turnNumbers) take() uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.spare) - 1; last >= 0 {
		number := n.spare[last]
		n.spare = n.spare[:last]
		return number
	}
	n.end++
	return n.end - 1
}

// takePair hands out two numbers, the second of which is the first plus one.
func (n *turnNumbers) takePair() uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.pairs) - 1; last >= 0 {
		number := n.pairs[last]
		n.pairs = n.pairs[:last]
		return number
	}
	n.end += 2
	return n.end - 2
}

func (n *turnNumbers) put(number uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.spare = append(n.spare, number)
}

func (n *turnNumbers) putPair(first uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pairs = append(n.pairs, first)
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
