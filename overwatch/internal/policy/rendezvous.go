package policy

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"net/netip"
)

// Rendezvous assigns each client network to one of the addresses, so that each address has its share of all networks. A
// network keeps its address until that goes; then only the networks of that address move, and each of the others takes
// its share of them. The same holds, in proportion, when a share changes. All nodes choose alike, since the choice
// follows from the shares and the addresses, or the names of targets, alone.
//
// It is weighted rendezvous hashing (Thaler and Ravishankar 1998; Schindelhauer and Schomaker 2005): each pair of
// network and address draws a number, exponentially distributed with the share as its rate, and the lowest wins.
type Rendezvous struct {
	seeds []uint64
	mean  []float64 // 1 over the share; nil where all are equal
}

// NewRendezvous makes a Rendezvous over due, which must not be empty.
func NewRendezvous(due []Due) *Rendezvous {
	r := &Rendezvous{seeds: make([]uint64, len(due))}
	equal := true
	for i, d := range due {
		if r.seeds[i] = seedOf(d.Address); d.Target != "" {
			r.seeds[i] = seedOfName(d.Target)
		}
		equal = equal && d.Parts == due[0].Parts
	}
	if !equal {
		r.mean = make([]float64, len(due))
		for i, d := range due {
			r.mean[i] = 1 / float64(d.Parts)
		}
	}
	return r
}

// Pick returns the index in due of the address of a client network. network is any number that identifies it. Pick
// takes some nanoseconds for each address and allocates nothing.
func (r *Rendezvous) Pick(network uint64) int {
	network = mix(network)
	best := 0
	if r.mean == nil {
		highest := uint64(0)
		for i, seed := range r.seeds {
			if x := draw(network, seed); x > highest {
				best, highest = i, x
			}
		}
		return best
	}
	lowest := math.Inf(1)
	for i, seed := range r.seeds {
		u := (float64(draw(network, seed)) + 0.5) / (1 << drawBits)
		if (1-u)*r.mean[i] >= lowest { // -ln u is never below 1-u, and this is most of them
			continue
		}
		if x := -math.Log(u) * r.mean[i]; x < lowest {
			best, lowest = i, x
		}
	}
	return best
}

// drawBits is the number of bits of a draw: no more than a float64 holds exactly, so that both branches of Pick order
// draws alike.
const drawBits = 52

func draw(network, seed uint64) uint64 { return mix(network^seed) >> (64 - drawBits) }

// mix is the finalizer of SplitMix64: every bit of x changes each bit of the result with probability one half.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func seedOf(address netip.Addr) uint64 {
	octets := address.As16()
	const golden = 0x9e3779b97f4a7c15
	high := mix(binary.BigEndian.Uint64(octets[:8]) + golden)
	return mix(high ^ binary.BigEndian.Uint64(octets[8:]) + golden)
}

func seedOfName(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return mix(h.Sum64())
}
