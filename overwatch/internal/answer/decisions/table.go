package decisions

import (
	"sync/atomic"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

const (
	// smallBits and largeBits are the sizes of tables: 2^15 or 2^18 cells of 32 octets. A table is replaced by an empty one when it is
	// half full, and by a large one where that comes before it would be emptied.
	smallBits, largeBits = 15, 18
	// probes is how many cells are tried for an answer before it is not counted.
	probes = 8
	// leads is how many addresses that may come first share a cell: those of most names.
	leads = 4
)

// table counts answers by what they are: a hash table that one goroutine fills and another empties.
type table struct {
	used  atomic.Uint32
	shift uint8 // a hash's upper bits that are left by it are the cell
	cells []cell
	known []*decision // by cell, what counting it needs once it was counted; nil before the first fold; the Recorder's
}

// cell is up to four kinds of answers, which are the same but for who came first. Its key is set before its basis, and neither
// changes; without a basis it is free.
type cell struct {
	basis  atomic.Pointer[policy.Basis]
	key    atomic.Uint64
	counts [leads]atomic.Uint32
}

func newTable(bits int) *table {
	return &table{shift: uint8(64 - bits), cells: make([]cell, 1<<bits)}
}

// full says whether it is time for an empty table.
func (t *table) full() bool { return int(t.used.Load()) >= len(t.cells)/2 }

// at is the cell where those with the key begin to be looked for.
func (t *table) at(key uint64, number uint32) uint64 {
	const golden = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: Fibonacci hashing
	return (key&kind ^ uint64(number)<<24) * golden >> t.shift
}

// count says whether there was room.
func (t *table) count(key uint64, answer *zone.Steered) bool {
	key, lead := share(key)
	at, mask := t.at(key, answer.Number), uint64(len(t.cells)-1)
	for range probes {
		c := &t.cells[at&mask]
		switch c.basis.Load() {
		case nil:
			c.key.Store(key)
			c.counts[lead].Store(1)
			c.basis.Store(answer.Basis)
			t.used.Add(1)
			return true
		case answer.Basis:
			if (c.key.Load()^key)&kind == 0 {
				c.counts[lead].Add(1)
				return true
			}
		}
		at++
	}
	return false
}

// share is the key that a cell has, and which of its counts that of an answer is.
func share(key uint64) (shared uint64, lead int) {
	at := key >> leadAt & packedNoLead
	return key&^(packedNoLead<<leadAt) | at/leads<<leadAt, int(at % leads)
}

// of is the key of one of a cell's counts.
func of(shared uint64, lead int) uint64 {
	at := shared >> leadAt & packedNoLead
	return shared&^(packedNoLead<<leadAt) | (at*leads+uint64(lead))<<leadAt
}
