package zone

import (
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Delta is how the zones and steered names of a view differ from those of the one before.
type Delta struct {
	Gone   []string   // apexes of zones that go with all that they hold; no zone of the view is cut from them
	New    []Contents // zones that come; they lie in none of the view's, and none of the view's lies in them
	Edited []Edit     // zones that stay and steer other names, each once
}

// Edit is what becomes of a zone that stays.
type Edit struct {
	Apex    string
	SOA     *dns.SOA
	Steered []string // owner names that are not steered yet
	Plain   []string // owner names that cease to be steered
}

// With makes the view that follows when zones and steered names come and go: what New would make of all contents, without
// looking at what stays. What stays is copied in blocks, so that a name more costs a few milliseconds beside a hundred thousand.
// Names that are new are SERVFAIL until a Writer steers them. The signatures that answers need now and have not needed before are
// returned, so that they can be prepared.
//
// v answers as before and should have no Writer from then on. An error leaves it as it was.
func (v *View) With(d Delta) (*View, []*Signature, error) {
	e := delta{view: v.copy(), before: v, chains: make(map[*Zone]map[string]canonical)}
	for _, step := range []func(Delta) error{e.replaceZones, e.removeZones, e.addZones, e.editNames} {
		if err := step(d); err != nil {
			return nil, nil, err
		}
	}
	e.view.wild()
	for z, touched := range e.chains {
		e.relink(z, touched)
	}
	for number := range e.steered {
		s := &e.view.slots[number]
		e.fresh = append(e.fresh, s.denials(s.answers.Load().steered)...)
	}
	e.forget()
	return e.view, e.fresh, nil
}

// copy is a view with the same names and answers, and room for some more.
func (v *View) copy() *View {
	room := len(v.slots) + 64
	next := &View{
		slots: make([]Slot, len(v.slots), room), names: append(make([]canonical, 0, room), v.names...), below: append(make([]uint32, 0, room), v.below...),
		index: index{slices.Clone(v.index.cells)}, depth: v.depth, zones: slices.Clone(v.zones), stars: slices.Clone(v.stars), free: slices.Clone(v.free),
		turns: turnNumbers{spare: slices.Clone(v.turns.spare), pairs: slices.Clone(v.turns.pairs), end: v.turns.end},
	}
	copy(next.slots, v.slots) // queries only read them meanwhile
	next.places.Store(v.places.Load())
	return next
}

// delta is a view on its way.
type delta struct {
	view, before *View
	chains       map[*Zone]map[string]canonical // names of signed zones whose place in the chain may be another, by their keys in it
	steered      map[uint32]bool                // slots that are steered and may deny a type by another record
	fresh        []*Signature
	old          []oldSignature
}

// zone finds a zone by its apex.
func (v *View) zone(apex string) (*Zone, error) {
	name, err := canonicalName(apex)
	if err != nil {
		return nil, err
	}
	if at, there := v.number(name); there && v.slots[at].zone.apex == name {
		return v.slots[at].zone, nil
	}
	return nil, fmt.Errorf("there is no zone %s", apex)
}

// replaceZones gives the zones that are edited their new SOA. A Zone is never changed, so that it is another from here on.
func (e *delta) replaceZones(d Delta) error {
	if len(d.Edited) == 0 {
		return nil
	}
	replaced := make(map[*Zone]*Zone, len(d.Edited))
	for _, edit := range d.Edited {
		z, err := e.view.zone(edit.Apex)
		if err != nil {
			return err
		}
		next := *z
		replaced[z] = &next
		if err := e.serial(&next, edit.SOA); err != nil {
			return fmt.Errorf("zone %s: %w", edit.Apex, err)
		}
	}
	for i, z := range e.view.zones { // parents first
		if parent := replaced[z.parent]; parent != nil {
			if replaced[z] == nil {
				next := *z
				replaced[z] = &next
			}
			replaced[z].parent = parent
		}
		if next := replaced[z]; next != nil {
			e.view.zones[i] = next
		}
	}
	var last, other *Zone // names of one zone are often neighbours
	for i := range e.view.slots {
		s := &e.view.slots[i]
		if s.zone != last {
			last, other = s.zone, replaced[s.zone]
		}
		if other != nil {
			s.zone = other
		}
	}
	return nil
}

// serial gives a zone another SOA, at its apex and in negative answers.
func (e *delta) serial(z *Zone, soa *dns.SOA) (err error) {
	at, _ := e.view.number(z.apex)
	apex := &e.view.slots[at]
	record, err := newSet(z.apex, "", []dns.RR{soa})
	if err != nil {
		return err
	}
	before, ttl := z.negative.sig, z.negative.ttl
	if z.negative, err = negative(z.apex, soa); err != nil {
		return err
	}
	if z.negative.ttl != ttl {
		return fmt.Errorf("negative answers live %d seconds and not %d: that is another zone", z.negative.ttl, ttl)
	}
	answers := *apex.answers.Load()
	answers.sets = slices.Clone(answers.sets)
	place := slices.IndexFunc(answers.sets, func(s set) bool { return s.rtype == dns.TypeSOA })
	if z.signer != nil {
		e.useless(apex.proofs.known, before, answers.sets[place].sig)
		if err := record.sign(apex.proofs, z.signer); err != nil {
			return err
		}
		if z.negative.sig, err = signatureOf(apex.proofs, z.signer, soa); err != nil {
			return err
		}
		e.fresh = append(e.fresh, record.sig, z.negative.sig)
	}
	answers.sets[place] = record
	apex.answers.Store(&answers)
	return nil
}

// removeZones forgets zones with all their names.
func (e *delta) removeZones(d Delta) error {
	if len(d.Gone) == 0 {
		return nil
	}
	gone := make(map[*Zone]bool, len(d.Gone))
	for _, apex := range d.Gone {
		z, err := e.view.zone(apex)
		if err != nil {
			return err
		}
		if z.parent != nil || slices.ContainsFunc(e.view.zones, func(other *Zone) bool { return other.parent == z }) {
			return fmt.Errorf("zone %s: there are zones above or below it", apex)
		}
		gone[z] = true
	}
	e.view.zones = slices.DeleteFunc(e.view.zones, func(z *Zone) bool { return gone[z] })
	for i := range e.view.slots {
		if s := &e.view.slots[i]; s.zone != nil && gone[s.zone] {
			e.drop(uint32(i))
		}
	}
	return nil
}

// addZones adds zones with all their names.
func (e *delta) addZones(d Delta) error {
	if len(d.New) == 0 {
		return nil
	}
	b := builder{byName: make(map[canonical]*name), previous: e.before}
	zones := make([]*Zone, len(d.New))
	for i, c := range d.New {
		var err error
		if zones[i], err = b.cut(c); err != nil {
			return fmt.Errorf("zone %s: %w", c.Apex, err)
		}
	}
	for i, c := range d.New {
		if err := b.fill(zones[i], c); err != nil {
			return fmt.Errorf("zone %s: %w", c.Apex, err)
		}
	}
	b.deny()
	for _, n := range b.names {
		if _, there := e.view.number(n.name); there {
			return fmt.Errorf("zone %s: there is a zone with the name %s already", n.zone.apex, n.name)
		}
		number, err := e.add(n)
		if err != nil {
			return err
		}
		s := &e.view.slots[number]
		if s.steered {
			s.turn = e.view.turns.takePair()
		}
		if p := s.proofs; p != nil {
			p.known.settle(s.zone.signer)
			e.fresh = p.known.all(e.fresh)
		}
	}
	e.view.zones = append(e.view.zones, zones...)
	return nil
}

// add gives a name a slot. The name above must have one, if there is one.
func (e *delta) add(n *name) (number uint32, err error) {
	v := e.view
	if last := len(v.free) - 1; last >= 0 {
		number, v.free = v.free[last], v.free[:last]
	} else {
		number = uint32(len(v.slots))
		if len(v.slots) == cap(v.slots) {
			slots := make([]Slot, len(v.slots), 2*len(v.slots)+64)
			copy(slots, v.slots)
			v.slots = slots
		}
		v.slots = v.slots[:number+1]
		v.names, v.below = append(v.names, ""), append(v.below, 0)
	}
	if err := v.slots[number].become(n); err != nil {
		return 0, err
	}
	v.names[number] = n.name
	v.depth = max(v.depth, n.name.labels())
	if 2*len(v.slots) > len(v.index.cells) {
		v.index = newIndex(v.slots, v.names)
	} else {
		v.index.add(n.name, number)
	}
	if above, there := v.number(n.name.parent()); there {
		v.below[above]++
		if n.name.wildcard() && v.slots[above].zone == n.zone {
			v.stars = append(v.stars, [2]uint32{above, number})
		}
	}
	return number, nil
}

// drop frees the slot of a name.
func (e *delta) drop(number uint32) {
	v := e.view
	name := v.names[number]
	e.unturn(&v.slots[number])
	v.index.remove(number, v.names)
	if above, there := v.number(name.parent()); there {
		v.below[above]--
	}
	if name.wildcard() {
		v.stars = slices.DeleteFunc(v.stars, func(star [2]uint32) bool { return star[1] == number })
	}
	v.slots[number], v.names[number], v.below[number] = Slot{}, "", 0
	v.free = append(v.free, number)
}

// unturn gives back what a slot has in Turns, if it is steered.
func (e *delta) unturn(s *Slot) {
	if !s.steered {
		return
	}
	e.view.turns.pairs = append(e.view.turns.pairs, s.turn)
	s.answers.Load().eachVariant(func(_ policy.Family, in *variant) {
		e.view.turns.spare = append(e.view.turns.spare, in.turn)
	})
}

// editNames changes which names are steered in the zones that stay.
func (e *delta) editNames(d Delta) error {
	for _, edit := range d.Edited {
		z, err := e.view.zone(edit.Apex)
		if err != nil {
			return err
		}
		for _, text := range edit.Plain {
			if err := e.plain(z, text); err != nil {
				return fmt.Errorf("zone %s: %w", edit.Apex, err)
			}
		}
		for _, text := range edit.Steered {
			if err := e.steer(z, text); err != nil {
				return fmt.Errorf("zone %s: %w", edit.Apex, err)
			}
		}
	}
	return nil
}

// steer makes a name steered that is not.
func (e *delta) steer(z *Zone, text string) error {
	name, err := canonicalName(text)
	if err != nil {
		return err
	}
	if !name.within(z.apex) {
		return fmt.Errorf("%s is outside the zone", text)
	}
	number, err := e.ensure(z, name)
	if err != nil {
		return err
	}
	s := &e.view.slots[number]
	switch {
	case s.zone != z:
		return fmt.Errorf("%s belongs to the zone %s", text, s.zone.apex)
	case s.steered:
		return fmt.Errorf("%s is steered already", text)
	}
	s.steered, s.turn = true, e.view.turns.takePair()
	s.steer([2]family{}, nil, nil)
	e.touch(z, name)
	return nil
}

// ensure makes sure that a name exists, with all that is between it and its zone's apex.
func (e *delta) ensure(z *Zone, wire canonical) (number uint32, err error) {
	if number, there := e.view.number(wire); there {
		return number, nil
	}
	above, err := e.ensure(z, wire.parent())
	if err != nil {
		return 0, err
	}
	n := &name{name: wire, zone: e.view.slots[above].zone}
	if n.zone.signer != nil {
		b := builder{}
		b.proofs(n)
	}
	e.touch(z, wire) // and not the name above: what proves that it has no wildcard, where it gets one, is replaced by this
	return e.add(n)
}

// plain makes a name not steered that is. It goes if nothing else is at it, and then what was only between it and the apex.
func (e *delta) plain(z *Zone, text string) error {
	name, err := canonicalName(text)
	if err != nil {
		return err
	}
	number, there := e.view.number(name)
	if !there || e.view.slots[number].zone != z || !e.view.slots[number].steered {
		return fmt.Errorf("%s is not steered", text)
	}
	s := &e.view.slots[number]
	e.unturn(s)
	s.steered = false
	if s.proofs != nil {
		for _, sig := range s.proofs.known.all(nil) {
			if rtype := sig.rtype(); rtype == dns.TypeA || rtype == dns.TypeAAAA {
				e.useless(s.proofs.known, sig)
			}
		}
	}
	s.steer([2]family{}, nil, nil)
	for name != z.apex {
		e.touch(z, name)
		s := &e.view.slots[number]
		if s.zone != z || s.steered || len(s.answers.Load().sets) > 0 || e.view.below[number] > 0 {
			break
		}
		e.drop(number)
		name = name.parent()
		number, _ = e.view.number(name)
	}
	e.touch(z, name)
	return nil
}
