package zone

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/leaf/shardmap"
)

// draft builds a zone from the previous zone and the differences.
type draft struct {
	zone     *Zone
	previous *Zone // empty for the first version of the zone
	rebuild  bool  // build all names from scratch, without sharing

	owners        map[canonical]*owner // changed names; nil for a removed name
	newSignatures []*Signature         // signatures of unchanged answers with another signer
}

// newDraft returns the draft of zone z. before is the previous zone, or nil.
func newDraft(z, before *Zone, c *Contents, cuts []cut) (*draft, error) {
	d := &draft{zone: z, previous: before, owners: make(map[canonical]*owner)}
	if before == nil {
		d.previous, d.rebuild = &Zone{contents: &Contents{}}, true
	}
	z.contents, z.cuts, z.signer, z.denial = c, cuts, c.Signer, c.Denial
	var err error
	if z.negative, err = negativeSOA(z.apex, c.SOA); err != nil {
		return nil, err
	}
	// Denial records have the TTL of negative answers.
	if d.rebuild = d.rebuild || before.signer != z.signer || before.denial != z.denial ||
		before.negative.ttl != z.negative.ttl; d.rebuild {
		z.names = newIndex(len(c.Balanced))
	} else {
		z.names, z.depth, z.wildcards = before.names.clone(), before.depth, before.wildcards
	}
	return d, nil
}

// negativeSOA returns the SOA record of negative answers, with the TTL of RFC 2308 section 3.
func negativeSOA(apex canonical, soa *dns.SOA) (set, error) {
	carried := *soa
	carried.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl)
	return newSet(apex, apex, []dns.RR{&carried})
}

// applyContents changes the names of the previous zone to the names of the new contents.
func (d *draft) applyContents() error {
	was := d.previous.contents
	if d.rebuild {
		was = &Contents{}
	}
	changed, err := d.changedStatic(was)
	if err != nil {
		return err
	}
	come, gone := diffNames(was.Balanced, d.zone.contents.Balanced)
	for _, text := range gone {
		if err := d.removeBalanced(text); err != nil {
			return err
		}
	}
	for name, s := range changed {
		if s.isEmpty() {
			if err := d.setStatic(name, s); err != nil {
				return err
			}
		}
	}
	// Shorter names are first, so that a delegation exists before the names below it are added.
	for _, name := range slices.SortedFunc(maps.Keys(changed), func(a, b canonical) int { return len(a) - len(b) }) {
		if s := changed[name]; !s.isEmpty() {
			if err := d.setStatic(name, s); err != nil {
				return err
			}
		}
	}
	for _, text := range come {
		if err := d.addBalanced(text); err != nil {
			return err
		}
	}
	return d.unshareNames()
}

// changedStatic returns the new static records of each name whose static records differ from was, the previous
// contents. It sets the fixed records of the zone. If both contents have the same list of records, the cost depends on
// the changes of Contents.Added.
func (d *draft) changedStatic(was *Contents) (map[canonical]staticRecords, error) {
	c, before := d.zone.contents, d.previous.fixed
	shared := before != nil && was.SOA != nil && c.SOA != nil && was.Signer == c.Signer && was.Denial == c.Denial &&
		len(was.Records) == len(c.Records) && (len(c.Records) == 0 || &was.Records[0] == &c.Records[0]) &&
		slices.EqualFunc(d.previous.cuts, d.zone.cuts, cut.equal)
	names := make(map[canonical]bool)
	if d.zone.fixed = before; shared {
		names[d.zone.apex] = true // the SOA record
	} else {
		var err error
		if d.zone.fixed, err = d.collectFixed(d.zone, c); err != nil {
			return nil, err
		}
		if was.SOA == nil {
			before = nil
		}
		for _, all := range []map[canonical]staticRecords{before, d.zone.fixed} {
			for name := range all {
				names[name] = true
			}
		}
		names[d.zone.apex] = true
	}
	for text := range shardmap.Changes(was.Added, c.Added) {
		name, err := d.parseName(text)
		if err != nil {
			return nil, err
		}
		names[name] = true
	}
	changed := make(map[canonical]staticRecords)
	for name := range names {
		if s := c.staticOf(d.zone.apex, d.zone.fixed, name); !s.equal(was.staticOf(d.zone.apex, before, name)) {
			changed[name] = s
		}
	}
	return changed, nil
}

// staticOf returns the static records of a name. fixed contains the records except the SOA and Added.
func (c *Contents) staticOf(apex canonical, fixed map[canonical]staticRecords, name canonical) staticRecords {
	s := fixed[name]
	if name == apex && c.SOA != nil {
		s.records = append([]dns.RR{c.SOA}, s.records...)
	}
	if c.Added.Len() > 0 {
		if more := c.Added.Get(name.String()); more != nil {
			s.records = append(slices.Clip(s.records), more.Records...)
		}
	}
	return s
}

// staticRecords holds the static (not load-balanced) records of a name.
type staticRecords struct {
	records []dns.RR
	cut     bool // the name is a delegation to a child zone; the records are DS records
}

func (s staticRecords) isEmpty() bool { return len(s.records) == 0 && !s.cut }

func (s staticRecords) equal(other staticRecords) bool {
	return s.cut == other.cut && equalRecords(s.records, other.records)
}

// collectFixed returns the static records of contents by owner, except the SOA record and Added.
func (d *draft) collectFixed(z *Zone, c *Contents) (map[canonical]staticRecords, error) {
	all := make(map[canonical]staticRecords)
	if c.SOA == nil {
		return all, nil
	}
	records := c.Records
	if c.Signer != nil && c.Denial == NSEC3 {
		header := dns.RR_Header{Name: c.Apex, Rrtype: dns.TypeNSEC3PARAM, Class: dns.ClassINET}
		records = append(slices.Clip(records), &dns.NSEC3PARAM{Hdr: header, Hash: dns.SHA1})
	}
	for _, rr := range records {
		name, err := d.parseName(rr.Header().Name)
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
		s := staticRecords{cut: true}
		if c.Signer != nil {
			s.records = cut.ds
		}
		all[cut.apex] = s
	}
	return all, nil
}

// parseName returns the canonical form of a name in zone-file form. A name outside the zone is an error.
func (d *draft) parseName(text string) (canonical, error) {
	name, err := canonicalName(text)
	if err == nil && !name.isWithin(d.zone.apex) {
		err = fmt.Errorf("%s is outside the zone", text)
	}
	return name, err
}

// diffNames returns the names that only one of two ascending lists contains.
func diffNames(before, after []string) (come, gone []string) {
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

// editOwner returns an owner that the draft may change: a copy of the existing owner, or a new one.
func (d *draft) editOwner(name canonical) (*owner, error) {
	o, own := d.owners[name]
	if o != nil {
		return o, nil
	}
	there := d.zone.findOwner([]byte(name))
	if there == nil && name != d.zone.apex {
		if err := d.addAncestors(name); err != nil {
			return nil, err
		}
	}
	o = d.newOwner(name)
	if there != nil && !own {
		o.answers.Store(there.answers.Load())
		o.cache, o.balanced, o.cut = there.cache, there.balanced, there.cut
	}
	d.owners[name] = o
	if there != nil {
		d.zone.names.replace(o)
		return o, nil
	}
	d.zone.names.add(o)
	d.zone.depth = max(d.zone.depth, name.countLabels())
	if name.isWildcard() {
		d.zone.wildcards++
	}
	return o, nil
}

// addAncestors adds the missing ancestors of a name up to the apex. A name below a delegation is an error.
func (d *draft) addAncestors(name canonical) error {
	above := name.parent()
	o := d.zone.findOwner([]byte(above))
	if o == nil {
		var err error
		if o, err = d.editOwner(above); err != nil {
			return err
		}
	}
	if o.cut {
		return fmt.Errorf("%s belongs to the zone %s", name, above)
	}
	d.zone.names.addBelow(above, 1)
	return nil
}

// newOwner returns an owner without records.
func (d *draft) newOwner(name canonical) *owner {
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

// setStatic replaces the static records of a name. A name without any records is removed.
func (d *draft) setStatic(name canonical, s staticRecords) error {
	o, err := d.editOwner(name)
	if err != nil {
		return err
	}
	if s.cut && (o.balanced || d.zone.names.below(name) > 0) {
		return fmt.Errorf("%s and the names below it belong to the zone %s", name, name)
	}
	o.cut = s.cut
	before := o.answers.Load()
	sets, err := d.packSets(o, s.records, before.sets)
	if err != nil {
		return err
	}
	next := newAnswers(before.balanced, before.variantSets(), sets)
	next.input, next.any = before.input, next.pickAny()
	o.answers.Store(next)
	d.removeEmpty(o)
	return nil
}

// packSets packs the records of a name as one set for each type. An unchanged RRset retains its signature.
func (d *draft) packSets(o *owner, records []dns.RR, before []set) (packSets []set, err error) {
	byType := make(map[uint16][]dns.RR)
	for _, rr := range records {
		rtype := rr.Header().Rrtype
		byType[rtype] = append(byType[rtype], rr)
	}
	for _, rtype := range slices.Sorted(maps.Keys(byType)) {
		set, err := packableSet(byType[rtype])
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
		packSets = append(packSets, s)
	}
	return packSets, nil
}

// addBalanced makes a static or new name load-balanced.
func (d *draft) addBalanced(text string) error {
	name, err := d.parseName(text)
	if err != nil {
		return err
	}
	o, err := d.editOwner(name)
	switch {
	case err != nil:
		return err
	case o.cut:
		return fmt.Errorf("%s belongs to the zone %s", text, name)
	case o.balanced:
		return fmt.Errorf("%s is load-balanced already", text)
	}
	o.balanced = true
	types, sets := d.zone.contents.typesOf(text), o.answers.Load().sets
	next := newAnswers(newCandidates(types), nil, sets)
	if was := d.previous.findOwner([]byte(name)); d.rebuild && was != nil && was.answers.Load().hasTypes(types) {
		next = d.resignAnswers(o, was, sets)
	}
	next.any = next.pickAny()
	o.answers.Store(next)
	return nil
}

// resignAnswers returns the load-balanced answers of the previous owner, was, with the signatures of this zone.
func (d *draft) resignAnswers(o, was *owner, sets []set) *answers {
	if d.zone.signer != nil && d.zone.signer == d.previous.signer {
		o.cache = was.cache
	}
	before := was.answers.Load()
	next := newAnswers(before.balanced, before.cloneVariantSets(), sets)
	next.input = before.input
	again := func(c *candidates) {
		o.resignCandidates(d.zone, c)
		d.newSignatures = append(d.newSignatures, c.signatures()...)
	}
	for i := range next.balanced {
		again(&next.balanced[i])
	}
	next.eachVariant(func(in *variant) { again(&in.candidates) })
	return next
}

// removeBalanced makes a load-balanced name static, and removes it if it has no static records.
func (d *draft) removeBalanced(text string) error {
	name, err := d.parseName(text)
	if err != nil {
		return err
	}
	o, err := d.editOwner(name)
	if err != nil {
		return err
	}
	o.balanced = false
	if o.cache != nil {
		o.cache = new(signatureCache)
	}
	next := &answers{sets: o.answers.Load().sets}
	next.any = next.pickAny()
	o.answers.Store(next)
	d.removeEmpty(o)
	return nil
}

// removeEmpty removes a name without records and without names below, and then each of its ancestors that is empty.
func (d *draft) removeEmpty(o *owner) {
	for !o.balanced && !o.cut && len(o.answers.Load().sets) == 0 && o.name != d.zone.apex &&
		d.zone.names.below(o.name) == 0 {
		d.zone.names.remove(o.name)
		d.owners[o.name] = nil
		if o.name.isWildcard() {
			d.zone.wildcards--
		}
		above := o.name.parent()
		d.zone.names.addBelow(above, -1)
		o = d.zone.findOwner([]byte(above))
	}
}

// unshareNames replaces the owners of Contents.Unshared by owners that only this draft uses.
func (d *draft) unshareNames() error {
	for _, text := range d.zone.contents.Unshared {
		name, err := d.parseName(text)
		if err != nil {
			return err
		}
		o, err := d.editOwner(name)
		if err != nil {
			return err
		}
		types := d.zone.contents.typesOf(text)
		if before := o.answers.Load(); !before.hasTypes(types) {
			next := newAnswers(newCandidates(types), nil, before.sets)
			next.any = next.pickAny()
			o.answers.Store(next)
		}
	}
	return nil
}

// finish builds the zone's chain and adds new signatures, added names and replaced names to the view.
func (d *draft) finish(v *View) {
	z := d.zone
	apex := z.findOwner([]byte(z.apex))
	z.negative.sig = apex.answers.Load().set(dns.TypeSOA).sig
	for name, o := range d.owners {
		was := d.previous.findOwner([]byte(name))
		had := was != nil && was.balanced
		has := o != nil && o.balanced
		if stays := had && has && equalTypes(was, o); !stays {
			if has {
				v.added = append(v.added, o)
			}
			if had {
				v.replaced = append(v.replaced, was)
			}
		}
		if o != nil && z.signer != nil {
			for _, set := range o.answers.Load().sets {
				v.newSignatures = append(v.newSignatures, set.sig)
			}
		}
	}
	if d.rebuild { // the loop over d.owners misses names that only the previous zone has
		for _, was := range d.previous.names.appendBalanced(nil) {
			if _, seen := d.owners[was.name]; !seen {
				v.replaced = append(v.replaced, was)
			}
		}
	}
	if z.signer != nil {
		v.newSignatures = append(d.buildChain(v.newSignatures), d.newSignatures...)
	}
}
