// Package geotest generates geolocation databases for tests: files in MMDB format (version 2.0 of MaxMind's
// specification) with the records that a test needs.
package geotest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
)

// Network is a network and its record: a map whose values are strings, numbers (float64) and such maps.
type Network struct {
	CIDR   netip.Prefix
	Record map[string]any
}

// Located returns a record in MaxMind's layout.
func Located(country, continent string, latitude, longitude float64) map[string]any {
	record := map[string]any{"location": map[string]any{"latitude": latitude, "longitude": longitude}}
	if country != "" {
		record["country"] = map[string]any{"iso_code": country}
	}
	if continent != "" {
		record["continent"] = map[string]any{"code": continent}
	}
	return record
}

// Database returns the content of a file. Later networks replace the parts of earlier networks that they contain.
// Networks with equal records share one, as in the files of publishers.
func Database(networks []Network) []byte {
	b := &builder{nodes: make([][2]node, 1)}
	offsets := make(map[string]int) // by the encoded record
	for _, n := range networks {
		prefix, offset := n.CIDR, 0
		if prefix.Addr().Is4() {
			offset = 96 // IPv4 addresses are those of ::/96
		}
		octets := prefix.Addr().As16()
		if prefix.Addr().Is4() {
			copy(octets[:12], make([]byte, 12))
		}
		at := b.data.Len()
		b.value(n.Record)
		record := string(b.data.Bytes()[at:])
		if shared, known := offsets[record]; known {
			b.data.Truncate(at)
			at = shared
		}
		offsets[record] = at
		b.set(octets, prefix.Bits()+offset, node{data: at + 1})
	}
	return b.file()
}

// builder has the search tree and the data section.
type builder struct {
	nodes [][2]node
	data  bytes.Buffer
}

// node is a record of the tree: another node, data at an offset (counted from 1), or nothing.
type node struct{ next, data int }

func (b *builder) set(octets [16]byte, bits int, value node) {
	at := 0
	for i := range bits {
		side := int(octets[i/8]>>(7-i%8)) & 1
		if i == bits-1 {
			b.nodes[at][side] = value
			return
		}
		if b.nodes[at][side].next == 0 {
			was := b.nodes[at][side]
			b.nodes = append(b.nodes, [2]node{was, was})
			b.nodes[at][side] = node{next: len(b.nodes) - 1}
		}
		at = b.nodes[at][side].next
	}
}

func (b *builder) file() []byte {
	var out []byte
	for _, both := range b.nodes {
		for _, n := range both {
			value := len(b.nodes) // nothing
			switch {
			case n.next > 0:
				value = n.next
			case n.data > 0:
				value = len(b.nodes) + 16 + n.data - 1
			}
			out = binary.BigEndian.AppendUint32(out, uint32(value))
		}
	}
	out = append(append(out, make([]byte, 16)...), b.data.Bytes()...)
	out = append(out, "\xab\xcd\xefMaxMind.com"...)
	meta := &builder{}
	meta.value(map[string]any{
		"binary_format_major_version": uint16(2), "binary_format_minor_version": uint16(0), "build_epoch": uint64(1),
		"database_type": "Test", "description": map[string]any{"en": "for a test"}, "ip_version": uint16(6),
		"languages": []string{"en"}, "node_count": uint32(len(b.nodes)), "record_size": uint16(32),
	})
	return append(out, meta.data.Bytes()...)
}

// The types of the data section.
const (
	typeString = 2
	typeDouble = 3
	typeUint16 = 5
	typeUint32 = 6
	typeMap    = 7
	typeUint64 = 9
	typeArray  = 11
)

func (b *builder) value(v any) {
	switch v := v.(type) {
	case string:
		b.control(typeString, len(v))
		b.data.WriteString(v)
	case float64:
		b.control(typeDouble, 8)
		b.number(math.Float64bits(v))
	case uint16:
		b.control(typeUint16, 2)
		b.number(v)
	case uint32:
		b.control(typeUint32, 4)
		b.number(v)
	case uint64:
		b.control(typeUint64, 8)
		b.number(v)
	case []string:
		b.control(typeArray, len(v))
		for _, s := range v {
			b.value(s)
		}
	case map[string]any:
		b.control(typeMap, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.value(key)
			b.value(v[key])
		}
	default:
		panic(fmt.Sprintf("a value of type %T", v))
	}
}

func (b *builder) number(n any) { _ = binary.Write(&b.data, binary.BigEndian, n) } // a bytes.Buffer never fails

func (b *builder) control(kind, size int) {
	if size >= 29+256 {
		panic(fmt.Sprintf("a value of size %d", size))
	}
	short := min(size, 29)
	if kind > 7 {
		b.data.Write([]byte{byte(short), byte(kind - 7)})
	} else {
		b.data.WriteByte(byte(kind<<5 | short))
	}
	if short == 29 {
		b.data.WriteByte(byte(size - 29))
	}
}
