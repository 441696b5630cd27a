package store

import (
	"bytes"
	"encoding/binary"
)

// page is a page of a database file with its overflow pages. Its content is untrusted.
type page struct {
	number uint64
	octets []byte
}

func (p page) kind() uint16 { return binary.NativeEndian.Uint16(p.octets[8:]) }
func (p page) count() int   { return int(binary.NativeEndian.Uint16(p.octets[10:])) }

// element returns the octets from element i on.
func (p page) element(i int) ([]byte, error) {
	at := pageHeaderSize + i*elementSize
	if at+elementSize > len(p.octets) {
		return nil, damaged("page %d: more elements than fit", p.number)
	}
	return p.octets[at:], nil
}

// part returns n octets at an offset from an element.
func (p page) part(element []byte, from, n uint64) ([]byte, error) {
	if from < elementSize || from > uint64(len(element)) || n > uint64(len(element))-from {
		return nil, damaged("page %d: element outside the page", p.number)
	}
	return element[from : from+n : from+n], nil
}

func (p page) branchKey(i int) ([]byte, error) {
	e, err := p.element(i)
	if err != nil {
		return nil, err
	}
	return p.part(e, uint64(binary.NativeEndian.Uint32(e)), uint64(binary.NativeEndian.Uint32(e[4:])))
}

// child returns the page number in branch element i. branchKey must have succeeded for i.
func (p page) child(i int) uint64 {
	return binary.NativeEndian.Uint64(p.octets[pageHeaderSize+i*elementSize+8:])
}

func (p page) leaf(i int) (flags uint32, key, value []byte, err error) {
	e, err := p.element(i)
	if err != nil {
		return 0, nil, nil, err
	}
	order := binary.NativeEndian
	from, keySize, valueSize := uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
	both, err := p.part(e, from, keySize+valueSize)
	if err != nil {
		return 0, nil, nil, err
	}
	return order.Uint32(e), both[:keySize], both[keySize:], nil
}

// keyRange is a half-open range of keys: at least min, and less than max. A nil max means no upper bound.
type keyRange struct{ min, max []byte }

func (r keyRange) admits(key []byte) bool {
	return bytes.Compare(key, r.min) >= 0 && (r.max == nil || bytes.Compare(key, r.max) < 0)
}
