package geo

import "net/netip"

// trie is a binary trie that maps prefixes to values. Each address has exactly one value. It is used only in New.
type trie struct {
	nodes [][2]ref
	root  ref
}

// ref is the index of a node, or a value if the top bit is set.
type ref uint32

const leafBit ref = 1 << 31

func leaf(value uint32) ref      { return leafBit | ref(value) }
func (r ref) isLeaf() bool       { return r&leafBit != 0 }
func (r ref) value() uint32      { return uint32(r &^ leafBit) }
func newTrie(value uint32) *trie { return &trie{root: leaf(value)} }

// bit returns bit i of the address; bit 0 is the most significant.
func bit(octets []byte, i int) int { return int(octets[i/8]>>(7-i%8)) & 1 }

// set sets the value of all addresses of prefix.
func (t *trie) set(prefix netip.Prefix, value uint32) { *t.split(prefix) = leaf(value) }

// update replaces each value v of the addresses of prefix by f(v).
func (t *trie) update(prefix netip.Prefix, f func(value uint32) uint32) {
	at := t.split(prefix)
	*at = t.updateLeaves(*at, f)
}

// split returns the ref for exactly the addresses of prefix, and splits a shorter leaf. The next call invalidates the
// ref.
func (t *trie) split(prefix netip.Prefix) *ref {
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

// updateLeaves replaces each value v below r by f(v), and returns the ref that replaces r.
func (t *trie) updateLeaves(r ref, f func(value uint32) uint32) ref {
	if r.isLeaf() {
		return leaf(f(r.value()))
	}
	n := &t.nodes[r]
	n[0], n[1] = t.updateLeaves(n[0], f), t.updateLeaves(n[1], f)
	return r
}

// blocks returns the blocks of addresses with one value, in the order of addresses.
func (t *trie) blocks() (out blockList) {
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
