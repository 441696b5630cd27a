package geo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/oschwald/maxminddb-golang/v2"
)

// dataSeparator is the number of zero octets between the search tree and the records.
const dataSeparator = 16

// errSearchTree means that the search tree contains invalid references.
var errSearchTree = errors.New("the search tree is damaged")

// searchTree reads the binary search tree at the start of an MMDB file. Its networks are disjoint and cover all
// addresses. New reads all networks more than once, and maxminddb would take several times as long.
type searchTree struct {
	content    []byte
	nodes      uint32 // number of nodes; a lower reference is a node, an equal one a network without a record
	recordBits uint   // 24, 28 or 32
	ipv4       uint32 // the root of the IPv4 addresses
	ipv6       bool   // whether the tree has IPv6 addresses
}

// newSearchTree returns the search tree of content. It returns an error for a tree that is longer than content.
func newSearchTree(content []byte, meta maxminddb.Metadata) (searchTree, error) {
	// Each node needs two references in the file, so the number of nodes is less than the number of octets.
	if meta.NodeCount*meta.RecordSize/4 > uint(len(content)) || meta.NodeCount > uint(len(content)) {
		return searchTree{}, fmt.Errorf("header announces %d nodes in %d octets", meta.NodeCount, len(content))
	}
	t := searchTree{content: content, nodes: uint32(meta.NodeCount), recordBits: meta.RecordSize,
		ipv6: meta.IPVersion == 6}
	switch t.recordBits {
	case 24, 28, 32:
	default:
		return searchTree{}, fmt.Errorf("references of %d bits: want 24, 28 or 32", t.recordBits)
	}
	for depth := 0; t.ipv6 && depth < 96 && t.ipv4 < t.nodes; depth++ { // ::/96 has the IPv4 addresses
		t.ipv4, _ = t.children(t.ipv4)
	}
	return t, nil
}

// children returns the two references of a node.
func (t *searchTree) children(node uint32) (left, right uint32) {
	switch t.recordBits {
	case 24:
		b := t.content[int(node)*6:][:6]
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]), uint32(b[3])<<16 | uint32(b[4])<<8 | uint32(b[5])
	case 28:
		b := t.content[int(node)*7:][:7]
		return uint32(b[3]>>4)<<24 | uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]),
			uint32(b[3]&15)<<24 | uint32(b[4])<<16 | uint32(b[5])<<8 | uint32(b[6])
	}
	b := t.content[int(node)*8:][:8]
	return bigEndian32(b[:4]), bigEndian32(b[4:])
}

// walk4 calls visit for each IPv4 network in the order of addresses, with the reference to its record as the value, or
// 0 without a record. It stops after the first error.
func (t *searchTree) walk4(visit func(block) error) error { return t.walk(t.ipv4, block{}, 32, visit) }

// walk6 is walk4 for IPv6 networks. The IPv4 addresses and their aliases are networks without a record.
func (t *searchTree) walk6(visit func(block) error) error {
	if !t.ipv6 {
		return visit(block{})
	}
	return t.walk(0, block{}, 128, visit)
}

// walk visits the networks below a reference to the addresses of at.
func (t *searchTree) walk(reference uint32, at block, length uint8, visit func(block) error) error {
	if reference >= t.nodes || length == 128 && reference == t.ipv4 {
		switch {
		case reference <= t.nodes: // no record, or IPv4 addresses
		case reference-t.nodes < dataSeparator:
			return errSearchTree
		default:
			at.value = reference
		}
		return visit(at)
	}
	if at.bits == length {
		return errSearchTree
	}
	left, right := at.halves()
	leftReference, rightReference := t.children(reference)
	if err := t.walk(leftReference, left, length, visit); err != nil {
		return err
	}
	return t.walk(rightReference, right, length, visit)
}

// offset returns the offset of a record in the data section.
func (t *searchTree) offset(record uint32) uintptr { return uintptr(record - t.nodes - dataSeparator) }

func prefix4(b block) netip.Prefix { return netip.PrefixFrom(ipv4(uint32(b.hi>>32)), int(b.bits)) }

func prefix6(b block) netip.Prefix {
	var a [16]byte
	binary.BigEndian.PutUint64(a[:8], b.hi)
	binary.BigEndian.PutUint64(a[8:], b.lo)
	return netip.PrefixFrom(netip.AddrFrom16(a), int(b.bits))
}

func ipv4(a uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)})
}
