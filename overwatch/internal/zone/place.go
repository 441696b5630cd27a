package zone

import (
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/geo"
	"gslb.internal/overwatch/internal/policy"
)

// placed is what a name answers with addresses of one family, by where the client is; immutable. It is empty while
// the family has nothing to answer, which is so for all clients or for none.
type placed struct {
	first    [firstRegions]uint16 // choice of the regions that most configurations are content with, where the cache has it
	variants []variant
	choice   []uint16 // by geo.RegionID: which variant
}

const (
	firstRegions = 8
	variantRoom  = 32 // octets of a variant's records right behind it; two A records
)

// variant is what the clients of some regions are answered. Its shares are exact by themselves.
type variant struct {
	family
	turn   uint32 // where Turns has its position
	region string // whose addresses these are
	room   [variantRoom]byte
}

// at finds what a client is answered, the turn of that, where the client is, and how many bits of its address that depended on.
func (p *placed) at(v *View, client netip.Addr) (f *family, turn uint32, region geo.RegionID, scope uint8) {
	if table := v.places.Load(); table != nil {
		region, scope = table.Locate(client)
	}
	var choice uint16
	switch {
	case int(region) < len(p.first):
		choice = p.first[region]
	case int(region) < len(p.choice):
		choice = p.choice[region]
	default:
		choice = p.first[geo.NoRegion]
	}
	chosen := &p.variants[choice]
	return &chosen.family, chosen.turn, region, scope
}

// find is the variant with a region's addresses, nil if there is none.
func (p *placed) find(region string) *variant {
	for i := range p.variants {
		if p.variants[i].region == region {
			return &p.variants[i]
		}
	}
	return nil
}

// same says whether two give every client the same answers in the same turns.
func (p *placed) same(other *placed) bool {
	return slices.Equal(p.choice, other.choice) && slices.EqualFunc(p.variants, other.variants, func(a, b variant) bool {
		return a.turn == b.turn && a.edition == b.edition
	})
}

// Places is the table that says where clients are, nil where no answer depends on that.
func (v *View) Places() *geo.Table { return v.places.Load() }

// Place puts another table into force, from the next query on. It must tell the same regions apart as the names were
// decided for (Writer.Place). Of one view, one goroutine at a time may call it.
func (v *View) Place(table *geo.Table) { v.places.Store(table) }

// Place is Steer for a name whose answers depend on where the client is: decisions are by geo.RegionID.
func (w *Writer) Place(v *View, name string, decisions [][2]policy.Decision, answers int) (changed bool, err error) {
	slot, err := v.steeredSlot(name)
	if err != nil {
		return false, err
	}
	was := slot.answers.Load()
	before := was.placed
	if before == nil {
		before = new([2]placed)
	}
	families, after := was.steered, new([2]placed)
	for f := range families {
		base := familyOf(policy.Family(f), decisions[geo.NoRegion][f], answers, w.schedules)
		if base.state == answering {
			after[f] = w.variants(v, slot, policy.Family(f), &before[f], decisions, answers)
			base = after[f].variants[after[f].choice[geo.NoRegion]].family
		}
		if was.placed == nil || !base.same(&families[f]) || !after[f].same(&before[f]) {
			changed = true
		}
		families[f] = base
		v.turns.release(&before[f], &after[f])
	}
	basis := decisions[geo.NoRegion][policy.IPv4].Basis
	if changed {
		slot.steer(families, after, basis)
		w.fresh = append(w.fresh, slot.denials(families)...)
		slot.trim()
	} else {
		slot.steer(was.steered, was.placed, basis)
	}
	return changed, nil
}

// variants compiles the decisions of one family. What was there before keeps its turn.
func (w *Writer) variants(v *View, slot *Slot, f policy.Family, before *placed, decisions [][2]policy.Decision, answers int) placed {
	out := placed{choice: make([]uint16, len(decisions))}
	for region := range decisions {
		decision := &decisions[region][f]
		at := slices.IndexFunc(out.variants, func(known variant) bool { return known.region == decision.Region })
		if at < 0 {
			at = len(out.variants)
			out.variants = append(out.variants, w.variant(v, slot, f, before.find(decision.Region), *decision, answers))
		}
		out.choice[region] = uint16(at)
	}
	for region := range out.first {
		if region < len(out.choice) {
			out.first[region] = out.choice[region]
		} else {
			out.first[region] = out.choice[geo.NoRegion]
		}
	}
	out.settle()
	return out
}

// settle takes the records of the variants into their rooms, as far as they fit.
func (p *placed) settle() {
	for i := range p.variants {
		if in := &p.variants[i]; len(in.records) <= len(in.room) {
			in.records = append(in.room[:0], in.records...)
		}
	}
}

func (w *Writer) variant(v *View, slot *Slot, f policy.Family, before *variant, decision policy.Decision, answers int) variant {
	next := variant{family: familyOf(f, decision, answers, w.schedules), region: decision.Region}
	switch {
	case before == nil:
		next.turn = v.turns.take()
	case next.same(&before.family):
		return *before
	default:
		next.turn = before.turn
	}
	w.edition++
	next.edition = w.edition
	slot.sign(f, &next.family, max(decision.TTL, decision.FullTTL))
	w.fresh = append(w.fresh, next.sigs...)
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
		out[f].settle()
	}
	return &out
}

// turnNumbers hands out the places of variants in Turns.
type turnNumbers struct {
	spare []uint32
	end   uint32 // all from here on are free
}

// begin starts with the numbers that are taken.
func (n *turnNumbers) begin(taken map[uint32]bool) {
	for number := range taken {
		n.end = max(n.end, number+1)
	}
	for number := range n.end {
		if !taken[number] {
			n.spare = append(n.spare, number)
		}
	}
}

func (n *turnNumbers) take() uint32 {
	if last := len(n.spare) - 1; last >= 0 {
		number := n.spare[last]
		n.spare = n.spare[:last]
		return number
	}
	n.end++
	return n.end - 1
}

// release takes back the numbers of variants that are gone.
func (n *turnNumbers) release(before, after *placed) {
	for i := range before.variants {
		if after.find(before.variants[i].region) == nil {
			n.spare = append(n.spare, before.variants[i].turn)
		}
	}
}
