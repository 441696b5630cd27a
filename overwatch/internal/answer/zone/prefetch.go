package zone

import (
	"hash/maphash"
)

// MaxPrefetch is the largest number of questions per Prefetch. Prefetch ignores further questions.
const MaxPrefetch = 32

// minPrefetchCells is the index size in cells for which Prefetch is worthwhile. Smaller indexes stay in the CPU caches.
const minPrefetchCells = 1 << 11

// Prefetch reads the memory that Append needs for several questions, so that the memory is in the CPU cache. With many
// names, answering mostly waits for memory: the index cell, the owner, its answers, and a signature. Each refers to
// the next. Prefetch performs each step for all questions in a short loop, so that the processor overlaps the
// reads. It has no effect on answers. rotations must be the same as for the following calls of Append.
func (v *View) Prefetch(questions []*Question, rotations *Rotations) {
	if len(questions) < 2 {
		return
	}
	questions = questions[:min(len(questions), MaxPrefetch)]
	var asked [MaxPrefetch]pendingLookup
	sum, pays := uint32(0), false
	for i, q := range questions {
		z := v.zoneOf(q.Name, q.Labels)
		if z == nil {
			continue
		}
		asked[i] = pendingLookup{zone: z, hash: maphash.Bytes(seed, q.Name)}
		pays = pays || len(z.names.cells) >= minPrefetchCells
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
			l.owner = l.zone.names.findByHash(l.hash)
		}
	}
	for i := range asked[:len(questions)] {
		if o := asked[i].owner; o != nil {
			sum ^= uint32(o.length)
		}
	}
	for i := range asked[:len(questions)] {
		if o := asked[i].owner; o != nil && o.balanced {
			if a := o.answers.Load(); len(a.balanced) > 0 { // most questions ask for the first type
				sum ^= rotations.rotationAt(a.balanced[0].rotationIndex).position
			}
		}
	}
	rotations.fetched ^= sum ^ prefetchSignatures(questions, &asked, rotations)
}

// pendingLookup is the state of a question in Prefetch.
type pendingLookup struct {
	zone  *Zone // nil if the name is outside all zones
	hash  uint64
	owner *owner // nil if the name does not exist
}

// prefetchSignatures reads the signatures of the next answers. It returns a checksum of the read memory.
func prefetchSignatures(questions []*Question, asked *[MaxPrefetch]pendingLookup, rotations *Rotations) (sum uint32) {
	var room [MaxPrefetch]*Signature
	signatures := room[:0]
	for i, q := range questions {
		o := asked[i].owner
		if o == nil || !q.DO || !o.balanced || asked[i].zone.signer == nil {
			continue
		}
		a := o.answers.Load()
		which := a.indexOfType(q.Type)
		if which < 0 {
			continue
		}
		c := &a.balanced[which]
		if c.state != answering {
			continue
		}
		position, known := rotations.peekPosition(c)
		if !known {
			continue
		}
		if signature := c.signature(c.schedule.Answer(position)); signature != nil {
			signatures = append(signatures, signature)
		}
	}
	for _, signature := range signatures {
		if signature.records.Load() != nil {
			sum++
		}
	}
	for _, signature := range signatures {
		if m := signature.records.Load(); m != nil {
			sum ^= m.epoch ^ uint32(m.inline[len(m.inline)-1])
		}
	}
	return sum
}

// findByHash returns the owner with this hash; nil if missing. Another owner whose hash has the same tag may be
// returned.
func (x *index) findByHash(hash uint64) *owner {
	mask := uint32(len(x.cells) - 1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		if c := x.cells[at]; c.owner == nil || c.tag == uint32(hash>>32) {
			return c.owner
		}
	}
}
