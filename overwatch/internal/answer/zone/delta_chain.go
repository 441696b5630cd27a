package zone

import (
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// touch notes that the place of a name in the chain of its zone may be another.
func (e *delta) touch(z *Zone, name canonical) {
	if z.signer == nil {
		return
	}
	if e.chains[z] == nil {
		e.chains[z] = make(map[string]canonical)
	}
	e.chains[z][z.chain.keyOf(name)] = name
}

// types are those that a name of a signed zone has, as the records of denial list them; none for what has no such record.
func (s *Slot) types(hashed bool) []uint16 {
	var all []uint16
	for _, set := range s.answers.Load().sets {
		all = append(all, set.rtype)
	}
	if s.steered {
		all = append(all, dns.TypeA, dns.TypeAAAA)
	}
	return withSigning(all, hashed)
}

// relink makes the chain of a zone anew: only the records of names that were touched, and of those right before them.
func (e *delta) relink(z *Zone, touched map[string]canonical) {
	old := z.chain
	room := len(old.keys) + len(touched)
	next := &chain{hashed: old.hashed, common: old.common, keys: make([]string, 0, room), links: make([]*link, 0, room), heads: make([]uint64, 0, room)}
	take := func(from, to int) {
		next.keys, next.links, next.heads = append(next.keys, old.keys[from:to]...), append(next.links, old.links[from:to]...), append(next.heads, old.heads[from:to]...)
	}
	types := make(map[int][]byte) // by the place of a link that must be made
	from, around := 0, false
	for _, key := range sortedKeys(touched) {
		at, found := slices.BinarySearch(old.keys, key)
		take(from, at)
		from = at
		if before := len(next.links) - 1; before < 0 {
			around = true // it is the last that says which is the first
		} else if _, made := types[before]; !made {
			types[before] = nil
		}
		if found {
			from++
			e.retire(old.links[at])
		}
		number, there := e.view.number(touched[key])
		if !there {
			continue
		}
		s := &e.view.slots[number]
		e.own(s).link = nil
		if list := s.types(old.hashed); old.hashed || len(list) > 0 {
			types[len(next.links)] = appendBitmap([]byte{}, list)
			next.keys, next.heads = append(next.keys, key), append(next.heads, headOf(key[old.common:]))
			next.links = append(next.links, &link{known: s.proofs.known, name: touched[key]})
		}
	}
	take(from, len(old.keys))
	next.start()
	if last := len(next.links) - 1; around && last >= 0 {
		if _, said := types[last]; !said {
			types[last] = nil
		}
	}
	for at, list := range types {
		e.say(z, next, at, list)
	}
	z.chain = next
	e.refind(z, touched)
}

// say makes the link at a place of the chain. A list of nil is that of the link that is there.
func (e *delta) say(z *Zone, c *chain, at int, list []byte) {
	l, follows := c.links[at], (at+1)%len(c.links)
	if list == nil {
		list = []byte(l.full.content[l.types:])
		e.retire(l)
		l = &link{known: l.known, name: l.name, cutting: l.cutting}
		c.links[at] = l
	}
	z.say(c, l, c.keys[at], list, c.links[follows].name, c.keys[follows])
	e.fresh = append(e.fresh, l.full)
	number, _ := e.view.number(l.name)
	s := &e.view.slots[number]
	p := e.own(s)
	if l.cutting {
		p.cut = &cut{ds: p.cut.ds, link: l}
		return
	}
	p.link = l
	if s.steered {
		if e.steered == nil {
			e.steered = make(map[uint32]bool)
		}
		e.steered[number] = true
	}
}

// retire marks a link that is in the chain no more, and forgets its signatures.
func (e *delta) retire(l *link) {
	if l.full == nil || l.replaced {
		return
	}
	l.replaced = true
	e.useless(l.known, l.full, l.without[policy.IPv4].Load(), l.without[policy.IPv6].Load())
}

// useless notes signatures that are not needed any more, unless they are among the fresh ones.
func (e *delta) useless(of *signatures, all ...*Signature) {
	for _, sig := range all {
		if sig != nil {
			e.old = append(e.old, oldSignature{sig, of})
		}
	}
}

// oldSignature is a signature and among which it is.
type oldSignature struct {
	*Signature
	of *signatures
}

// forget forgets the signatures that are not needed any more.
func (e *delta) forget() {
	needed := make(map[*Signature]bool, len(e.fresh))
	for _, sig := range e.fresh {
		needed[sig] = true
	}
	for _, sig := range e.old {
		if !needed[sig.Signature] {
			sig.of.forget(sig.Signature)
		}
	}
}

// own gives a slot proofs that no other view has.
func (e *delta) own(s *Slot) *proofs {
	p := *s.proofs
	s.proofs = &p
	return s.proofs
}

// refind looks up what proves that names have nothing, or no wildcard, where that is another record now.
func (e *delta) refind(z *Zone, touched map[string]canonical) {
	refind := func(number uint32) {
		s := &e.view.slots[number]
		p := e.own(s)
		p.gap, p.star = nil, nil
		p.find(z.chain, e.view.wilds[s] != nil)
	}
	for i := range e.view.slots {
		s := &e.view.slots[i]
		if s.zone != z || s.proofs == nil {
			continue
		}
		if p := s.proofs; p.gap != nil && p.gap.replaced || p.star != nil && p.star.replaced {
			refind(uint32(i))
		}
	}
	for _, name := range touched {
		if number, there := e.view.number(name); there {
			refind(number)
		}
	}
}

func sortedKeys(m map[string]canonical) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
