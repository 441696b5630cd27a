package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// ErrMalformed is wrapped by every decoding error.
var ErrMalformed = errors.New("malformed message")

// decoder reads the fields of one message:
//
//	for d.next() {
//		switch d.field {
//		case 1:
//			x = d.text("x", limit, x)
//		}
//	}
//	return d.err
//
// A field that no case takes is skipped. The first error sticks and ends the loop.
type decoder struct {
	in     []byte
	field  uint64
	kind   uint64
	again  bool // the same field number as before
	value  uint64
	body   []byte
	err    error
	inside string // name of the message, for errors
}

// newDecoder checks the size of the whole message.
func newDecoder(name string, b []byte) *decoder {
	d := &decoder{in: b, inside: name}
	if len(b) > MaxPayload {
		d.fail("", "%d octets, at most %d", len(b), MaxPayload)
	}
	return d
}

func (d *decoder) fail(field, format string, args ...any) {
	if d.err == nil {
		if field != "" {
			field = "." + field
		}
		d.err = fmt.Errorf("%w: %s%s: %s", ErrMalformed, d.inside, field, fmt.Sprintf(format, args...))
	}
}

// next moves to the next field and reports whether there is one.
func (d *decoder) next() bool {
	if d.err != nil || len(d.in) == 0 {
		return false
	}
	key := d.varint()
	field := key >> 1
	if d.err == nil && (field == 0 || field < d.field) {
		d.fail("", "field %d out of order", field)
	}
	d.again = field == d.field
	d.field, d.kind, d.body = field, key&1, nil
	d.value = d.varint()
	if d.kind == kindOctets && d.err == nil {
		if d.value > uint64(len(d.in)) {
			d.fail("", "field %d is longer than the message", field)
			return false
		}
		d.body, d.in = d.in[:d.value], d.in[d.value:]
	}
	return d.err == nil
}

// varint reads an unsigned varint in its shortest form.
func (d *decoder) varint() uint64 {
	v, n := binary.Uvarint(d.in)
	if n <= 0 || (n > 1 && d.in[n-1] == 0) {
		d.fail("", "bad number")
		return 0
	}
	d.in = d.in[n:]
	return v
}

// single checks the rules of every field that is not repeated: right kind, once, not zero.
func (d *decoder) single(name string, kind uint64) bool {
	switch {
	case d.kind != kind:
		d.fail(name, "wrong kind of value")
	case d.again:
		d.fail(name, "given twice")
	case d.value == 0:
		d.fail(name, "zero value written out")
	}
	return d.err == nil
}

func (d *decoder) number(name string, limit uint64) uint64 {
	if !d.single(name, kindNumber) {
		return 0
	}
	if d.value > limit {
		d.fail(name, "%d is more than %d", d.value, limit)
		return 0
	}
	return d.value
}

func (d *decoder) flag(name string) bool { return d.number(name, 1) == 1 }

// octets returns the field's octets in place.
func (d *decoder) octets(name string, limit int) []byte {
	if !d.single(name, kindOctets) {
		return nil
	}
	if len(d.body) > limit {
		d.fail(name, "%d octets, at most %d", len(d.body), limit)
		return nil
	}
	return d.body
}

// exactly copies an octet field of fixed size into dst.
func (d *decoder) exactly(name string, dst []byte) {
	if b := d.octets(name, len(dst)); d.err == nil && copy(dst, b) != len(dst) {
		d.fail(name, "%d octets instead of %d", len(b), len(dst))
	}
}

// share returns 32 octets that are not all zero. Zero is encoded by leaving the field out.
func (d *decoder) share(name string) (v [32]byte) {
	d.exactly(name, v[:])
	d.need(name, v != [32]byte{})
	return v
}

// text returns printable text. When it equals like, it returns like and allocates nothing.
func (d *decoder) text(name string, limit int, like string) string {
	b := d.octets(name, limit)
	if d.err != nil || string(b) == like {
		return like
	}
	s := string(b)
	if !printable(s) {
		d.fail(name, "not printable text")
	}
	return s
}

// raw returns text with any characters. When it equals like, it returns like and allocates nothing.
func (d *decoder) raw(name string, limit int, like string) string {
	b := d.octets(name, limit)
	if d.err != nil || string(b) == like {
		return like
	}
	return string(b)
}

// service returns a service name, which must be in canonical form.
func (d *decoder) service(name, like string) string {
	s := d.text(name, MaxService, like)
	if d.err == nil && !validService(s) {
		d.fail(name, "%q is not a service name", s)
	}
	return s
}

func (d *decoder) address(name string) netip.Addr {
	a, ok := netip.AddrFromSlice(d.octets(name, 16))
	if d.err == nil && (!ok || a.Is4In6()) {
		d.fail(name, "not an address of 4 or 16 octets")
	}
	return a
}

// element starts a nested message that is an element of a repeated field. n is the number of
// elements before it.
func (d *decoder) element(name string, n, limit int) decoder {
	if d.kind != kindOctets {
		d.fail(name, "wrong kind of value")
	} else if n >= limit {
		d.fail(name, "more than %d", limit)
	}
	return decoder{in: d.body, inside: name, err: d.err}
}

// nested starts a nested message that is not repeated.
func (d *decoder) nested(name string) decoder {
	d.single(name, kindOctets)
	return decoder{in: d.body, inside: name, err: d.err}
}

// need fails unless a required field was present.
func (d *decoder) need(name string, there bool) {
	if !there {
		d.fail(name, "missing")
	}
}
