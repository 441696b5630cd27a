package decisions

import (
	"strings"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// folder adds counts up. With many names that is many random reads, so what counting one cell needs is looked up once, and its flows
// once in each bucket.
type folder struct {
	into   *Recorder
	now    time.Time
	bucket *bucket // nil before anything was counted
	// counted is what has something to add to the totals: a few for all names together.
	counted []*likeness
}

// empty takes the counts of a table, if there is one.
func (f *folder) empty(t *table) {
	if t == nil || t.used.Load() == 0 {
		return
	}
	if t.known == nil {
		t.known = make([]*decision, len(t.cells))
	}
	for i := range t.cells {
		c := &t.cells[i]
		basis := c.basis.Load()
		if basis == nil {
			continue
		}
		for lead := range c.counts {
			if c.counts[lead].Load() == 0 {
				continue
			}
			n := c.counts[lead].Swap(0)
			if n == 0 {
				continue
			}
			key := of(c.key.Load(), lead)
			d := t.known[i]
			if d == nil {
				answer := unpack(key, basis)
				d = f.into.known.of(&answer)
				t.known[i] = d
			}
			f.take(d, basis, leadOf(key), uint64(n))
		}
	}
}

// take counts answers that the address with the number lead came first in.
func (f *folder) take(d *decision, basis *policy.Basis, lead int, count uint64) {
	if f.bucket == nil {
		f.bucket = f.into.flows.open(f.now)
	}
	if lead = min(lead, len(d.regions)); lead < len(d.regions) {
		place := f.place(d, basis, lead)
		n := &f.bucket.tallies[place]
		n.count += count
		n.latest = f.now.Unix()
	}
	if d.led[lead] += count; !d.counted {
		d.counted = true
		f.counted = append(f.counted, d.likeness)
	}
}

// place is where the bucket counts a decision's flow to one of its addresses.
func (f *folder) place(d *decision, basis *policy.Basis, lead int) uint32 {
	if d.bucket != f.bucket.number {
		d.bucket = f.bucket.number
		if clear(d.places); d.places == nil {
			d.places = make([]uint32, len(d.regions))
		}
	}
	if d.places[lead] == 0 {
		d.places[lead] = 1 + f.into.flows.place(Flow{strings.TrimSuffix(basis.Name, "."), d.source, d.regions[lead]})
	}
	return d.places[lead] - 1
}

// total adds to the totals what was taken.
func (f *folder) total() {
	for _, l := range f.counted {
		for lead, count := range l.led {
			if count > 0 {
				f.into.totals.add(l, lead, count)
			}
		}
		clear(l.led)
		l.counted = false
	}
}
