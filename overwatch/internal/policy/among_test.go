package policy // inside: it uses computeMembers

import (
	"net/netip"
	"testing"
)

// The addresses of one host name share its weight equally. Other backends have their own weights.
func TestDue_AddressesOfAHostNameShareItsWeight(t *testing.T) {
	for _, among := range []int{1, 2, 3, 7, 32} {
		all := []Candidate{{Address: netip.MustParseAddr("198.51.100.1"), Weight: 50, Share: 1}}
		in := []int{0}
		for i := range among {
			in = append(in, i+1)
			all = append(all, Candidate{Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), Weight: 50, Share: 1,
				AddressCount: among})
		}
		own, shared := 0, 0
		for _, d := range computeMembers(false, all, in, Weighted) {
			if d.Address == all[0].Address {
				own = d.Parts
			} else {
				shared += d.Parts
			}
		}
		if own != shared {
			t.Errorf("%d addresses: %d parts, and the backend with the same weight %d", among, shared, own)
		}
	}
}
