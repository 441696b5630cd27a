package policy // inside: it shares schedule_test.go

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// backendsOf creates addresses with the parts.
func backendsOf(parts ...int) []Member {
	due := make([]Member, len(parts))
	for i, n := range parts {
		due[i] = Member{Address: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), Parts: n}
	}
	return due
}

// clientNetworks returns the given number of client networks.
func clientNetworks(n int) []uint64 {
	random, networks := rand.New(rand.NewPCG(1, 1)), make([]uint64, n)
	for i := range networks {
		networks[i] = uint64(random.Uint32()) << 8
	}
	return networks
}

func TestRendezvous_SharesFollowTheParts(t *testing.T) {
	const networks = 200_000
	for _, parts := range [][]int{{1, 1, 1, 1}, {100, 300}, {10000, 10, 10000}, {1, 2, 3, 4, 5, 6}, {5000, 10000, 2500}} {
		due, sum, seen := backendsOf(parts...), 0, make([]int, len(parts))
		r := NewRendezvous(due)
		for _, n := range parts {
			sum += n
		}
		for _, network := range clientNetworks(networks) {
			seen[r.Pick(network)]++
		}
		for i, n := range parts {
			share := float64(n) / float64(sum)
			// The tolerance is five standard deviations of a binomial distribution.
			if off := math.Abs(float64(seen[i]) - networks*share); off > 5*math.Sqrt(networks*share*(1-share)) {
				t.Errorf("parts %v: address %d has %d of %d networks, due %.0f", parts, i, seen[i], networks, networks*share)
			}
		}
	}
}

// movesOnly fails unless networks move only from addresses that lose share or to addresses that gain it.
func movesOnly(t *testing.T, before, after []Member) (moved float64) {
	t.Helper()
	from, to := NewRendezvous(before), NewRendezvous(after)
	const networks = 20_000
	count := 0
	share := func(due []Member, address netip.Addr) float64 {
		sum, own := 0, 0
		for _, d := range due {
			if sum += d.Parts; d.Address == address {
				own = d.Parts
			}
		}
		return float64(own) / float64(sum)
	}
	for _, network := range clientNetworks(networks) {
		was, is := before[from.Pick(network)].Address, after[to.Pick(network)].Address
		if was == is {
			continue
		}
		count++
		if loses, gains := share(after, was) < share(before, was), share(after, is) > share(before, is); !loses || !gains {
			t.Fatalf("%v -> %v: a network went from %s (loses: %t) to %s (gains: %t)", before, after, was, loses, is, gains)
		}
	}
	return float64(count) / networks
}

func TestRendezvous_OneThatDiesMovesItsOwnNetworksOnly(t *testing.T) {
	for _, n := range []int{2, 3, 10, 50} {
		before := backendsOf(slices.Repeat([]int{100}, n)...)
		for dead := range min(n, 5) {
			after := slices.Delete(slices.Clone(before), dead, dead+1)
			if moved := movesOnly(t, before, after); math.Abs(moved-1/float64(n)) > 0.03 {
				t.Errorf("%d addresses, one died: %.3f of the networks moved, want %.3f", n, moved, 1/float64(n))
			}
			movesOnly(t, after, before) // the address returns
		}
	}
}

func TestRendezvous_AWeightThatChangesMovesNoMoreThanItMust(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		before := backendsOf(randomParts(random)...)
		after := slices.Clone(before)
		at := random.IntN(len(after))
		after[at].Parts = 1 + random.IntN(60)
		movesOnly(t, before, after)
	}
	// The shares change from equal shares, which need no logarithm, to slightly unequal shares.
	equal := backendsOf(slices.Repeat([]int{1_000_000}, 8)...)
	unequal := slices.Clone(equal)
	unequal[3].Parts--
	if moved := movesOnly(t, equal, unequal); moved > 0.001 {
		t.Errorf("%.4f of the networks moved for one part in a million", moved)
	}
}

// The selection for a network must be the same on all nodes and in all releases.
func TestRendezvous_IsTheSameForEver(t *testing.T) {
	r := NewRendezvous([]Member{{Address: netip.MustParseAddr("192.0.2.1"), Parts: 100},
		{Address: netip.MustParseAddr("192.0.2.2"), Parts: 50},
		{Address: netip.MustParseAddr("2001:db8::1"), Parts: 100}})
	picks := ""
	for network := range uint64(32) {
		picks += fmt.Sprint(r.Pick(network << 8))
	}
	if want := "00210222012002201020120001022020"; picks != want {
		t.Errorf("%s, want %s", picks, want)
	}
}

func BenchmarkRendezvous(b *testing.B) {
	for _, n := range []int{2, 4, 16, 64, 256} {
		for name, due := range map[string][]Member{"equal": backendsOf(slices.Repeat([]int{1}, n)...),
			"weighted": backendsOf(slices.Concat([]int{3}, slices.Repeat([]int{1}, n-1))...)} {
			r := NewRendezvous(due)
			b.Run(fmt.Sprint(name, " ", n), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					r.Pick(uint64(i))
				}
			})
		}
	}
}
