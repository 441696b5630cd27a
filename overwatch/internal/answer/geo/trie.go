package geo

import "net/netip"

// trie is a binary trie from prefixes to values, in which each address always has exactly one value. It is used only
// while a Table is built.
type trie struct {
	nodes [][2]ref
	root  ref
}

// ref is a node's index, or a value if its top bit is set.
type ref uint32

const leafBit ref = 1 << 31

func leaf(value uint16) ref      { return leafBit | ref(value) }
func (r ref) isLeaf() bool       { return r&leafBit != 0 }
func (r ref) value() uint16      { return uint16(r) }
func newTrie(value uint16) *trie { return &trie{root: leaf(value)} }

// bit returns bit i of the address, counted from its front.
func bit(octets []byte, i int) int { return int(octets[i/8]>>(7-i%8)) & 1 }

// set gives all addresses of prefix a value, whatever they had before.
func (t *trie) set(prefix netip.Prefix, value uint16) { *t.at(prefix) = leaf(value) }

// update replaces the value of each address of prefix by f of that value.
func (t *trie) update(prefix netip.Prefix, f func(value uint16) uint16) {
	at := t.at(prefix)
	*at = t.apply(*at, f)
}

// at returns the ref of exactly the addresses of prefix, and splits a leaf above it. The next call invalidates it.
func (t *trie) at(prefix netip.Prefix) *ref {
	octets := prefix.Masked().Addr().AsSlice()
	at := &t.root
	for i := range prefix.Bits() {
		if at.isLeaf() {
			was := *at
			*at = ref(len(t.nodes))
			inner := *at
			t.nodes = append(t.nodes, [2]ref{was, was})
			at = &t.nodes[inner][bit(octets, i)]
			continue
		}
		at = &t.nodes[*at][bit(octets, i)]
	}
	return at
}

// apply replaces the values below r by f of them, and returns the ref that replaces r.
func (t *trie) apply(r ref, f func(value uint16) uint16) ref {
	if r.isLeaf() {
		return leaf(f(r.value()))
	}
	n := &t.nodes[r]
	n[0], n[1] = t.apply(n[0], f), t.apply(n[1], f)
	return r
}

// collapse joins siblings of one value below r and returns the ref that replaces r.
func (t *trie) collapse(r ref) ref {
	if r.isLeaf() {
		return r
	}
	n := &t.nodes[r]
	n[0], n[1] = t.collapse(n[0]), t.collapse(n[1])
	if n[0].isLeaf() && n[0] == n[1] {
		return n[0]
	}
	return r
}

// block is the largest aligned range of addresses with one value.
type block struct {
	hi, lo uint64 // the first address, from the front of 128 bits
	bits   uint8  // its prefix length
	value  uint16
}

// blocks returns the leaves of the collapsed trie in the order of their addresses.
func (t *trie) blocks() []block {
	t.root = t.collapse(t.root)
	var out []block
	var walk func(r ref, hi, lo uint64, depth uint8)
	walk = func(r ref, hi, lo uint64, depth uint8) {
		if r.isLeaf() {
			out = append(out, block{hi, lo, depth, r.value()})
			return
		}
		n := t.nodes[r]
		walk(n[0], hi, lo, depth+1)
		if depth < 64 {
			hi |= 1 << (63 - depth)
		} else {
			lo |= 1 << (127 - depth)
		}
		walk(n[1], hi, lo, depth+1)
	}
	walk(t.root, 0, 0, 0)
	return out
}
