package decisions

import (
	"sync/atomic"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/zone"
)

const (
	// tableBits is the size of a table: 2^15 kinds of answers of 24 octets. It is replaced by an empty one when it is half full.
	tableBits = 15
	tableFull = 1 << (tableBits - 1)
	// probes is how many cells are tried for an answer before it is not counted.
	probes = 8
)

// table counts answers by what they are: a hash table that one goroutine fills and another empties.
type table struct {
	used  atomic.Uint32
	cells [1 << tableBits]cell
}

// cell is one kind of answer. Its key is set before its basis, and neither changes; without a basis it is free.
type cell struct {
	basis atomic.Pointer[policy.Basis]
	key   atomic.Uint64
	count atomic.Uint64
}

// count says whether there was room.
func (t *table) count(key uint64, answer *zone.Steered) bool {
	const golden = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: Fibonacci hashing
	at := (key&kind ^ uint64(answer.Number)<<24) * golden >> (64 - tableBits)
	for range probes {
		c := &t.cells[at]
		switch c.basis.Load() {
		case nil:
			c.key.Store(key)
			c.count.Store(1)
			c.basis.Store(answer.Basis)
			t.used.Add(1)
			return true
		case answer.Basis:
			if (c.key.Load()^key)&kind == 0 {
				c.count.Add(1)
				return true
			}
		}
		at = (at + 1) % (1 << tableBits)
	}
	return false
}

// empty takes the counts.
func (t *table) empty(take func(answer zone.Steered, count uint64)) {
	if t == nil || t.used.Load() == 0 {
		return
	}
	for i := range t.cells {
		c := &t.cells[i]
		basis := c.basis.Load()
		if basis == nil {
			continue
		}
		if n := c.count.Swap(0); n > 0 {
			take(unpack(c.key.Load(), basis), n)
		}
	}
}
