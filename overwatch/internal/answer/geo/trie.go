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

func leaf(value uint32) ref      { return leafBit | ref(value) }
func (r ref) isLeaf() bool       { return r&leafBit != 0 }
func (r ref) value() uint32      { return uint32(r &^ leafBit) }
func newTrie(value uint32) *trie { return &trie{root: leaf(value)} }

// bit returns bit i of the address, counted from its front.
func bit(octets []byte, i int) int { return int(octets[i/8]>>(7-i%8)) & 1 }

// set gives all addresses of prefix a value, whatever they had before.
func (t *trie) set(prefix netip.Prefix, value uint32) { *t.at(prefix) = leaf(value) }

// update replaces the value of each address of prefix by f of that value.
func (t *trie) update(prefix netip.Prefix, f func(value uint32) uint32) {
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
func (t *trie) apply(r ref, f func(value uint32) uint32) ref {
	if r.isLeaf() {
		return leaf(f(r.value()))
	}
	n := &t.nodes[r]
	n[0], n[1] = t.apply(n[0], f), t.apply(n[1], f)
	return r
}

// blocks returns the blocks of addresses with one value, in the order of addresses.
func (t *trie) blocks() (out blocks) {
	var walk func(r ref, at block)
	walk = func(r ref, at block) {
		if r.isLeaf() {
			at.value = r.value()
			out.add(at)
			return
		}
		left, right := at.halves()
		walk(t.nodes[r][0], left)
		walk(t.nodes[r][1], right)
	}
	walk(t.root, block{})
	return out
}
