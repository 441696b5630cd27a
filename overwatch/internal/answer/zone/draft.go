package zone

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// draft is a zone while it is built, from the names of the zone before and the differences.
type draft struct {
	zone   *Zone
	before *Zone // empty where there was none
	whole  bool  // no name of the one before can be shared as it is

	own   map[canonical]*owner // names that are not as before, nil for one that is gone
	fresh []*Signature         // of steered names that keep their answers under another signer
}

// newDraft begins a zone. before is nil where there was none.
func newDraft(z, before *Zone, c *Contents, cuts []cut) (*draft, error) {
	d := &draft{zone: z, before: before, own: make(map[canonical]*owner)}
	if before == nil {
		d.before, d.whole = &Zone{contents: &Contents{}}, true
	}
	z.contents, z.cuts, z.signer, z.denial = c, cuts, c.Signer, c.Denial
	var err error
	if z.negative, err = negative(z.apex, c.SOA); err != nil {
		return nil, err
	}
	// The records of denial have the TTL of negative answers.
	if d.whole = d.whole || before.signer != z.signer || before.denial != z.denial ||
		before.negative.ttl != z.negative.ttl; d.whole {
		z.names = newIndex(len(c.Steered))
	} else {
		z.names, z.depth, z.wildcards = before.names.clone(), before.depth, before.wildcards
	}
	return d, nil
}

// negative returns the SOA as negative answers carry it, with the TTL of RFC 2308 section 3.
func negative(apex canonical, soa *dns.SOA) (set, error) {
	carried := *soa
	carried.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl)
	return newSet(apex, apex, []dns.RR{&carried})
}

// fill changes the names from those of the zone before to those of the contents.
func (d *draft) fill() error {
	was := d.before.contents
	if d.whole {
		was = &Contents{}
	}
	before, err := d.static(d.before, was)
	if err != nil {
		return err
	}
	after, err := d.static(d.zone, d.zone.contents)
	if err != nil {
		return err
	}
	come, gone := differences(was.Steered, d.zone.contents.Steered)
	for _, text := range gone {
		if err := d.unsteer(text); err != nil {
			return err
		}
	}
	for name := range before {
		if after[name].records == nil && !after[name].cut {
			if err := d.put(name, static{}); err != nil {
				return err
			}
		}
	}
	// Short names first, so that those below a cut find it.
	for _, name := range slices.SortedFunc(maps.Keys(after), func(a, b canonical) int { return len(a) - len(b) }) {
		if s := after[name]; !s.same(before[name]) {
			if err := d.put(name, s); err != nil {
				return err
			}
		}
	}
	for _, text := range come {
		if err := d.steer(text); err != nil {
			return err
		}
	}
	return d.renew()
}

// static holds the records at a name that are not steered.
type static struct {
	records []dns.RR
	cut     bool // the name is the apex of a zone below; the records are its DS records
}

func (s static) same(other static) bool {
	return s.cut == other.cut && sameRecords(s.records, other.records)
}

// static gathers the records of contents by their owners.
func (d *draft) static(z *Zone, c *Contents) (map[canonical]static, error) {
	all := make(map[canonical]static)
	if c.SOA == nil {
		return all, nil
	}
	records := append([]dns.RR{c.SOA}, c.Records...)
	if c.Signer != nil && c.Denial == NSEC3 {
		header := dns.RR_Header{Name: c.Apex, Rrtype: dns.TypeNSEC3PARAM, Class: dns.ClassINET}
		records = append(records, &dns.NSEC3PARAM{Hdr: header, Hash: dns.SHA1})
	}
	for _, rr := range records {
		name, err := d.inside(rr.Header().Name)
		if err != nil {
			return nil, err
		}
		s := all[name]
		s.records = append(s.records, rr)
		all[name] = s
	}
	for _, cut := range z.cuts {
		if all[cut.apex].records != nil {
			return nil, fmt.Errorf("%s belongs to the zone %s", cut.apex, cut.apex)
		}
		s := static{cut: true}
		if c.Signer != nil {
			s.records = cut.ds
		}
		all[cut.apex] = s
	}
	return all, nil
}

// inside returns the canonical form of a name in zone-file form, which must be in the zone.
func (d *draft) inside(text string) (canonical, error) {
	name, err := canonicalName(text)
	if err == nil && !name.within(d.zone.apex) {
		err = fmt.Errorf("%s is outside the zone", text)
	}
	return name, err
}

// differences returns the names that only one of two ascending lists has.
func differences(before, after []string) (come, gone []string) {
	for len(before) > 0 && len(after) > 0 {
		switch order := strings.Compare(before[0], after[0]); {
		case order == 0:
			before, after = before[1:], after[1:]
		case order < 0:
			before, gone = before[1:], append(gone, before[0])
		default:
			after, come = after[1:], append(come, after[0])
		}
	}
	return append(come, after...), append(gone, before...)
}

// edit returns the owner of a name for changes in this draft alone. It makes the name if it is not there.
func (d *draft) edit(name canonical) (*owner, error) {
	o, own := d.own[name]
	if o != nil {
		return o, nil
	}
	there := d.zone.find([]byte(name))
	if there == nil && name != d.zone.apex {
		if err := d.descend(name); err != nil {
			return nil, err
		}
	}
	o = d.blank(name)
	if there != nil && !own {
		o.answers.Store(there.answers.Load())
		o.cache, o.steered, o.cut = there.cache, there.steered, there.cut
	}
	d.own[name] = o
	if there != nil {
		d.zone.names.replace(o)
		return o, nil
	}
	d.zone.names.add(o)
	d.zone.depth = max(d.zone.depth, name.labels())
	if name.wildcard() {
		d.zone.wildcards++
	}
	return o, nil
}

// descend makes sure that the parent of a name exists, and so every name up to the apex.
func (d *draft) descend(name canonical) error {
	above := name.parent()
	o := d.zone.find([]byte(above))
	if o == nil {
		var err error
		if o, err = d.edit(above); err != nil {
			return err
		}
	}
	if o.cut {
		return fmt.Errorf("%s belongs to the zone %s", name, above)
	}
	d.zone.names.addBelow(above, 1)
	return nil
}

// blank returns a new owner without records.
func (d *draft) blank(name canonical) *owner {
	o := &owner{name: name}
	if o.length = longName; len(name) <= shortName {
		o.length = uint8(copy(o.short[:], name))
	}
	if d.zone.signer != nil {
		o.cache = new(signatureCache)
	}
	o.answers.Store(noAnswers)
	return o
}

// put replaces the static records of a name.
func (d *draft) put(name canonical, s static) error {
	o, err := d.edit(name)
	if err != nil {
		return err
	}
	if s.cut && (o.steered || d.zone.names.below(name) > 0) {
		return fmt.Errorf("%s and what is below it belongs to the zone %s", name, name)
	}
	o.cut = s.cut
	before := o.answers.Load()
	sets, err := d.sets(o, s.records, before.sets)
	if err != nil {
		return err
	}
	next := answersWith(before.steered, before.byPlace(), sets)
	next.basis, next.any = before.basis, next.pickAny()
	o.answers.Store(next)
	d.prune(o)
	return nil
}

// sets packs the records of a name, type by type. An RRset that was there before keeps its signature.
func (d *draft) sets(o *owner, records []dns.RR, before []set) (sets []set, err error) {
	byType := make(map[uint16][]dns.RR)
	for _, rr := range records {
		rtype := rr.Header().Rrtype
		byType[rtype] = append(byType[rtype], rr)
	}
	for _, rtype := range slices.Sorted(maps.Keys(byType)) {
		set, err := uniform(byType[rtype])
		if err != nil {
			return nil, err
		}
		s, err := newSet(d.zone.apex, "", set)
		if err != nil {
			return nil, err
		}
		if d.zone.signer != nil {
			content, err := canonicalContent(set)
			if err != nil {
				return nil, err
			}
			s.sig = &Signature{signer: d.zone.signer, owner: o.name, content: content}
			for i := range before {
				if was := before[i].sig; was != nil && was.signer == s.sig.signer && was.content == content {
					s.sig = was
				}
			}
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// steer makes a name steered that is not.
func (d *draft) steer(text string) error {
	name, err := d.inside(text)
	if err != nil {
		return err
	}
	o, err := d.edit(name)
	switch {
	case err != nil:
		return err
	case o.cut:
		return fmt.Errorf("%s belongs to the zone %s", text, name)
	case o.steered:
		return fmt.Errorf("%s is steered already", text)
	}
	o.steered = true
	types, sets := d.zone.contents.types(text), o.answers.Load().sets
	next := answersWith(undecided(types), nil, sets)
	if was := d.before.find([]byte(name)); d.whole && was != nil && was.answers.Load().has(types) {
		next = d.resign(o, was, sets)
	}
	next.any = next.pickAny()
	o.answers.Store(next)
	return nil
}

// resign returns the steered answers that a name had before, with the signatures of this zone.
func (d *draft) resign(o, was *owner, sets []set) *answers {
	if d.zone.signer != nil && d.zone.signer == d.before.signer {
		o.cache = was.cache
	}
	before := was.answers.Load()
	next := answersWith(before.steered, before.copyPlaced(), sets)
	next.basis = before.basis
	again := func(c *candidates) {
		o.signAgain(d.zone, c)
		d.fresh = append(d.fresh, c.signatures()...)
	}
	for i := range next.steered {
		again(&next.steered[i])
	}
	next.eachVariant(func(in *variant) { again(&in.candidates) })
	return next
}

// unsteer makes a steered name one that is not, and removes it if it has no other records.
func (d *draft) unsteer(text string) error {
	name, err := d.inside(text)
	if err != nil {
		return err
	}
	o, err := d.edit(name)
	if err != nil {
		return err
	}
	o.steered = false
	if o.cache != nil {
		o.cache = new(signatureCache)
	}
	next := &answers{sets: o.answers.Load().sets}
	next.any = next.pickAny()
	o.answers.Store(next)
	d.prune(o)
	return nil
}

// prune removes a name that has no records and no names below it, and then its ancestors of which that is true.
func (d *draft) prune(o *owner) {
	for !o.steered && !o.cut && len(o.answers.Load().sets) == 0 && o.name != d.zone.apex &&
		d.zone.names.below(o.name) == 0 {
		d.zone.names.remove(o.name)
		d.own[o.name] = nil
		if o.name.wildcard() {
			d.zone.wildcards--
		}
		above := o.name.parent()
		d.zone.names.addBelow(above, -1)
		o = d.zone.find([]byte(above))
	}
}

// renew gives the names of Contents.Renewed owners that only this draft has.
func (d *draft) renew() error {
	for _, text := range d.zone.contents.Renewed {
		name, err := d.inside(text)
		if err != nil {
			return err
		}
		o, err := d.edit(name)
		if err != nil {
			return err
		}
		types := d.zone.contents.types(text)
		if before := o.answers.Load(); !before.has(types) {
			next := answersWith(undecided(types), nil, before.sets)
			next.any = next.pickAny()
			o.answers.Store(next)
		}
	}
	return nil
}

// finish makes the zone's chain and notes in the view its new signatures and its added and replaced names.
func (d *draft) finish(v *View) {
	z := d.zone
	apex := z.find([]byte(z.apex))
	z.negative.sig = apex.answers.Load().set(dns.TypeSOA).sig
	for name, o := range d.own {
		was := d.before.find([]byte(name))
		had := was != nil && was.steered
		has := o != nil && o.steered
		if stays := had && has && sameTypes(was, o); !stays {
			if has {
				v.added = append(v.added, o)
			}
			if had {
				v.replaced = append(v.replaced, was)
			}
		}
		if o != nil && z.signer != nil {
			for _, set := range o.answers.Load().sets {
				v.fresh = append(v.fresh, set.sig)
			}
		}
	}
	if d.whole { // of the names before, only those that are here too were looked at
		for _, was := range d.before.names.steered(nil) {
			if _, seen := d.own[was.name]; !seen {
				v.replaced = append(v.replaced, was)
			}
		}
	}
	if z.signer != nil {
		v.fresh = append(d.makeChain(v.fresh), d.fresh...)
	}
}
