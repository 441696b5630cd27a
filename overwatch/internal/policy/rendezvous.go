package policy

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"net/netip"
)

// Rendezvous assigns client networks to addresses in proportion to shares. When an address is removed, only its
// networks move, in proportion to the other shares; a changed share moves only the proportional difference. The
// assignment depends only on the shares and on the addresses or target names, so that all nodes compute the same
// assignment.
//
// It implements weighted rendezvous hashing (Thaler and Ravishankar 1998; Schindelhauer and Schomaker 2005): each pair
// of network and address draws an exponentially distributed number with the share as rate; the lowest number wins.
type Rendezvous struct {
	seeds []uint64
	mean  []float64 // reciprocals of the shares; nil if all shares are equal
}

// NewRendezvous returns a Rendezvous for members, which must not be empty.
func NewRendezvous(due []Member) *Rendezvous {
	r := &Rendezvous{seeds: make([]uint64, len(due))}
	equal := true
	for i, d := range due {
		if r.seeds[i] = addressSeed(d.Address); d.Target != "" {
			r.seeds[i] = nameSeed(d.Target)
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

// Pick returns the index of the member for a client network. network is a number that identifies the network. Pick
// takes some nanoseconds per member and does not allocate.
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
		if (1-u)*r.mean[i] >= lowest { // -ln u >= 1-u, which avoids most logarithms
			continue
		}
		if x := -math.Log(u) * r.mean[i]; x < lowest {
			best, lowest = i, x
		}
	}
	return best
}

// drawBits is the number of bits of a draw. A float64 represents these bits exactly, so that both branches of Pick
// order draws equally.
const drawBits = 52

// draw returns a pseudo-random number of drawBits bits for a network and a seed.
func draw(network, seed uint64) uint64 { return mix(network^seed) >> (64 - drawBits) }

// mix is the finalizer of SplitMix64: each input bit changes each output bit with probability 1/2.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// addressSeed returns the seed of an address.
func addressSeed(address netip.Addr) uint64 {
	octets := address.As16()
	const golden = 0x9e3779b97f4a7c15
	high := mix(binary.BigEndian.Uint64(octets[:8]) + golden)
	return mix(high ^ binary.BigEndian.Uint64(octets[8:]) + golden)
}

// nameSeed returns the seed of a target name.
func nameSeed(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return mix(h.Sum64())
}
