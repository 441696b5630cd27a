package zone

import (
	"hash/maphash"
)

// MaxFetch bounds the questions of one Fetch, which ignores further ones.
const MaxFetch = 32

// fetchFrom is the size of an index, in cells, from which on Fetch pays. A smaller one stays in the nearer caches.
const fetchFrom = 1 << 11

// Fetch reads the memory that the answers to several questions lie in, so that Append finds it in the cache. With many
// names an answer mostly waits for memory: for the cell of the index, then the owner, its answers, and a signature,
// each of which leads to the next. Fetch takes each of these steps for all questions at once, in loops so short that
// the processor has many reads under way. It changes no answer. Its turns must be those of the Append that follows.
func (v *View) Fetch(questions []*Question, turns *Turns) {
	if len(questions) < 2 {
		return
	}
	questions = questions[:min(len(questions), MaxFetch)]
	var asked [MaxFetch]lookup
	sum, pays := uint32(0), false
	for i, q := range questions {
		z := v.zoneOf(q.Name, q.Labels)
		if z == nil {
			continue
		}
		asked[i] = lookup{zone: z, hash: maphash.Bytes(seed, q.Name)}
		pays = pays || len(z.names.cells) >= fetchFrom
	}
	if !pays {
		return
	}
	for i := range asked[:len(questions)] {
		if l := &asked[i]; l.zone != nil {
			sum ^= l.zone.names.cells[l.hash&uint64(len(l.zone.names.cells)-1)].tag
		}
	}
	for i := range asked[:len(questions)] {
		if l := &asked[i]; l.zone != nil {
			l.owner = l.zone.names.candidate(l.hash)
		}
	}
	for i := range asked[:len(questions)] {
		if o := asked[i].owner; o != nil {
			sum ^= uint32(o.length)
		}
	}
	for i := range asked[:len(questions)] {
		if o := asked[i].owner; o != nil && o.steered {
			if a := o.answers.Load(); len(a.steered) > 0 { // most questions are for the first type
				sum ^= turns.peek(a.steered[0].turn).position
			}
		}
	}
	turns.fetched ^= sum ^ fetchSignatures(questions, &asked, turns)
}

// lookup is the state of one question in Fetch.
type lookup struct {
	zone  *Zone // nil outside every zone
	hash  uint64
	owner *owner // nil where there is no such name
}

// fetchSignatures reads the signatures of the answers whose turn it is.
func fetchSignatures(questions []*Question, asked *[MaxFetch]lookup, turns *Turns) (sum uint32) {
	var room [MaxFetch]*Signature
	signatures := room[:0]
	for i, q := range questions {
		o := asked[i].owner
		if o == nil || !q.DO || !o.steered || asked[i].zone.signer == nil {
			continue
		}
		a := o.answers.Load()
		which := a.steeredAs(q.Type)
		if which < 0 {
			continue
		}
		c := &a.steered[which]
		if c.state != answering {
			continue
		}
		position, known := turns.coming(c)
		if !known {
			continue
		}
		if signature := c.signature(c.schedule.Answer(position)); signature != nil {
			signatures = append(signatures, signature)
		}
	}
	for _, signature := range signatures {
		if signature.made.Load() != nil {
			sum++
		}
	}
	for _, signature := range signatures {
		if m := signature.made.Load(); m != nil {
			sum ^= m.epoch ^ uint32(m.near[len(m.near)-1])
		}
	}
	return sum
}

// candidate returns the owner of the name with this hash, or of one with nearly the same; nil if there is none.
func (x *index) candidate(hash uint64) *owner {
	mask := uint32(len(x.cells) - 1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		if c := x.cells[at]; c.owner == nil || c.tag == uint32(hash>>32) {
			return c.owner
		}
	}
}
