package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// ErrTooLarge is the error for a message that is larger than MaxPayload.
var ErrTooLarge = errors.New("message is larger than the protocol allows")

// ErrMalformed is wrapped by every decoding error.
var ErrMalformed = errors.New("malformed message")

// codec writes or reads the fields of a message. A message calls a method for each of its fields, in ascending order of
// their numbers, so that a single description serves both directions. Writing does not change the message. Reading sets
// every field: a missing field becomes zero. Reading reuses the memory of equal text in the message. After the first
// error, further calls have no effect.
type codec struct {
	writing bool
	inside  string // name of the message, for errors
	err     error
	out     []byte // encoded fields
	input
}

// marshal returns the fields of a message, or the first error.
func marshal(name string, fields func(*codec)) ([]byte, error) {
	c := &codec{writing: true, inside: name}
	fields(c)
	if c.err == nil && len(c.out) > MaxPayload {
		c.err = fmt.Errorf("%w: %d octets, at most %d", ErrTooLarge, len(c.out), MaxPayload)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.out, nil
}

// unmarshal reads the fields of a message from b.
func unmarshal(name string, b []byte, fields func(*codec)) error {
	c := &codec{}
	if len(b) > MaxPayload {
		c.inside = name
		c.fail("", "%d octets, at most %d", len(b), MaxPayload)
		return c.err
	}
	c.inner(name, b, fields)
	return c.err
}

// fail records an error of a field, or of the whole message if field is "".
func (c *codec) fail(field, format string, args ...any) {
	if c.err != nil {
		return
	}
	where, problem := c.inside, fmt.Sprintf(format, args...)
	if field != "" {
		where += "." + field
	}
	if c.writing {
		c.err = fmt.Errorf("encoding %s: %s", where, problem)
	} else {
		c.err = fmt.Errorf("%w: %s: %s", ErrMalformed, where, problem)
	}
}

// need fails if a required field is missing.
func (c *codec) need(name string, there bool) {
	if !there {
		c.fail(name, "missing")
	}
}

type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// number codes a number of any size.
func number[T unsigned](c *codec, field uint64, name string, v *T) {
	numberTo(c, field, name, v, ^T(0))
}

// numberTo codes a number. Reading rejects a number above most.
func numberTo[T unsigned](c *codec, field uint64, name string, v *T, most T) {
	switch {
	case c.writing && *v != 0:
		c.out = binary.AppendUvarint(c.out, field<<1|kindNumber)
		c.out = binary.AppendUvarint(c.out, uint64(*v))
	case c.writing:
	case c.moveTo(field) && c.single(name, kindNumber):
		if c.value > uint64(most) {
			c.fail(name, "%d is more than %d", c.value, most)
		}
		*v = T(c.value)
	default:
		*v = 0
	}
}

func (c *codec) flag(field uint64, name string, v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	if numberTo(c, field, name, &n, 1); !c.writing {
		*v = n == 1
	}
}

// write writes octets or text, at most limit octets, unless it is empty.
func write[T []byte | string](c *codec, field uint64, name string, v T, limit int) {
	if len(v) > limit {
		c.fail(name, "%d octets, at most %d", len(v), limit)
	}
	if len(v) > 0 {
		c.out = binary.AppendUvarint(c.out, field<<1|kindOctets)
		c.out = binary.AppendUvarint(c.out, uint64(len(v)))
		c.out = append(c.out, v...)
	}
}

// read returns the octets of a field without a copy, or nil if the field is missing.
func (c *codec) read(field uint64, name string, limit int) []byte {
	if !c.moveTo(field) || !c.single(name, kindOctets) {
		return nil
	}
	if len(c.body) > limit {
		c.fail(name, "%d octets, at most %d", len(c.body), limit)
		return nil
	}
	return c.body
}

// octets codes at most limit octets. Reading copies them.
func (c *codec) octets(field uint64, name string, v *[]byte, limit int) {
	if c.writing {
		write(c, field, name, *v, limit)
	} else {
		*v = bytes.Clone(c.read(field, name, limit))
	}
}

// array codes a fixed number of octets. Writing includes octets that are all zero.
func (c *codec) array(field uint64, name string, v []byte) {
	if c.writing {
		write(c, field, name, v, len(v))
		return
	}
	clear(v)
	if b := c.read(field, name, len(v)); b != nil && copy(v, b) != len(v) {
		c.fail(name, "%d octets instead of %d", len(b), len(v))
	}
}

// share codes 32 octets that are omitted if all are zero.
func (c *codec) share(field uint64, name string, v *[32]byte) {
	there := c.moveTo(field)
	if c.writing && *v == [32]byte{} {
		return
	}
	c.array(field, name, v[:])
	c.need(name, !there || *v != [32]byte{})
}

// raw codes text with any characters, at most limit octets.
func (c *codec) raw(field uint64, name string, v *string, limit int) {
	if c.writing {
		write(c, field, name, *v, limit)
	} else if b := c.read(field, name, limit); string(b) != *v {
		*v = string(b)
	}
}

// text codes printable text of at most limit octets.
func (c *codec) text(field uint64, name string, v *string, limit int) {
	before := *v
	if c.raw(field, name, v, limit); (c.writing || *v != before) && !printable(*v) {
		c.fail(name, "%q is not printable text", *v)
	}
}

// forPeople codes text for people. Writing makes it printable and truncates it.
func (c *codec) forPeople(field uint64, name string, v *string) {
	if c.writing {
		fit := forPeople(*v)
		v = &fit
	}
	c.text(field, name, v, MaxText)
}

// service codes the name of a service. Writing converts it to canonical form, and reading requires canonical form.
func (c *codec) service(field uint64, name string, v *string) {
	if c.writing {
		canonical := CanonicalService(*v)
		v = &canonical
	}
	if c.raw(field, name, v, MaxService); *v != "" && !validService(*v) {
		c.fail(name, "%q is not a service name", *v)
	}
}

// address codes an address: 4 octets for IPv4 (including addresses mapped into IPv6) or 16 for IPv6.
func (c *codec) address(field uint64, name string, v *netip.Addr) {
	if c.writing {
		if v.Zone() != "" {
			c.fail(name, "%s has a zone, which means nothing on another machine", v)
		}
		write(c, field, name, v.Unmap().AsSlice(), 16)
		return
	}
	b, ok := c.read(field, name, 16), false
	if *v, ok = netip.AddrFromSlice(b); b != nil && (!ok || v.Is4In6()) {
		c.fail(name, "not an address of 4 or 16 octets")
	}
}

// message codes an element of a repeated field: a nested message, even if it has no fields.
func (c *codec) message(field uint64, name string, fields func(*codec)) {
	if !c.writing {
		if c.kind != kindOctets {
			c.fail(name, "wrong kind of value")
		}
		c.unread = false
		c.inner(name, c.body, fields)
		return
	}
	c.out = binary.AppendUvarint(c.out, field<<1|kindOctets)
	start, outer := len(c.out), c.inside
	c.inside = name
	fields(c)
	c.inside = outer
	length := binary.AppendUvarint(nil, uint64(len(c.out)-start))
	c.out = slices.Insert(c.out, start, length...)
}

// nested codes a nested message. It omits a message without fields.
func (c *codec) nested(field uint64, name string, fields func(*codec)) {
	if !c.writing {
		var body []byte
		if c.moveTo(field) && c.single(name, kindOctets) {
			body = c.body
		}
		c.inner(name, body, fields)
		return
	}
	before := len(c.out)
	c.message(field, name, fields)
	if len(c.out) == before+2 { // key and a length of 0
		c.out = c.out[:before]
	}
}

// list codes a repeated field of nested messages, at most limit.
func list[T any](c *codec, field uint64, name string, v *[]T, limit int, fields func(*T, *codec)) {
	each(c, field, name, v, limit, func(one *T) {
		c.message(field, name, func(c *codec) { fields(one, c) })
	})
}

// each codes a repeated field, at most limit elements, and calls one for each element. Reading reuses the memory of the
// list. A decoded element begins as a copy of the previous element, which mostly has the same text.
func each[T any](c *codec, field uint64, name string, v *[]T, limit int, one func(*T)) {
	if c.writing {
		if len(*v) > limit {
			c.fail(name, "%d of them, at most %d", len(*v), limit)
			return
		}
		for i := range *v {
			one(&(*v)[i])
		}
		return
	}
	*v = (*v)[:0]
	for c.moveTo(field) {
		var next T
		if n := len(*v); n == limit {
			c.fail(name, "more than %d", limit)
			return
		} else if n > 0 {
			next = (*v)[n-1]
		}
		*v = append(*v, next)
		one(&(*v)[len(*v)-1])
		c.last = 0 // the field may repeat
	}
}
