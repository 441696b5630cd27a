package harness

import (
	"net/netip"
	"time"
)

// LastWith returns the time of the last answer with the address since from, or zero. quiet is the number of later
// answers without the address. A small number does not prove a removal: the next answer in the rotation may contain the
// address.
func (w *Watch) LastWith(n *Node, name string, addr netip.Addr, from time.Time) (last time.Time, quiet int) {
	for _, a := range w.Since(n, name, from) {
		switch {
		case a.Has(addr):
			last, quiet = a.At, 0
		case a.Err == nil:
			quiet++
		}
	}
	return last, quiet
}

// FirstWith returns the time of the first answer with the address since from, or zero.
func (w *Watch) FirstWith(n *Node, name string, addr netip.Addr, from time.Time) time.Time {
	for _, a := range w.Since(n, name, from) {
		if a.Has(addr) {
			return a.At
		}
	}
	return time.Time{}
}

// Tally counts a node's answers to a client for a name.
type Tally struct {
	Asked  int
	Failed int                // no answer, an error code or no address
	Slow   time.Duration      // the slowest good answer
	Got    map[netip.Addr]int // number of answers with the address
}

// Share returns the fraction of good answers with the address, from 0 to 1.
func (t Tally) Share(addr netip.Addr) float64 {
	if good := t.Asked - t.Failed; good > 0 {
		return float64(t.Got[addr]) / float64(good)
	}
	return 0
}

// Tally counts the answers of a node for a name from the given time on.
func (w *Watch) Tally(n *Node, name string, from time.Time) Tally {
	t := Tally{Got: map[netip.Addr]int{}}
	for _, a := range w.Since(n, name, from) {
		t.Asked++
		if !a.Good() {
			t.Failed++
			continue
		}
		t.Slow = max(t.Slow, a.Took)
		for _, addr := range a.Addrs {
			t.Got[addr]++
		}
	}
	return t
}
