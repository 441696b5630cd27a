package wire

import "encoding/binary"

// The two kinds of field values.
const (
	kindNumber = 0
	kindOctets = 1
)

// input is the message that a codec reads, and the position in it.
type input struct {
	in     []byte // the rest after the field
	field  uint64
	kind   uint64
	value  uint64
	body   []byte
	unread bool   // the field has not been read yet
	last   uint64 // number of the previous field if it may not repeat
}

// inner reads the fields of a message from body.
func (c *codec) inner(name string, body []byte, fields func(*codec)) {
	outer, inside := c.input, c.inside
	c.input, c.inside = input{in: body}, name
	fields(c)
	for c.next() { // fields of a later version
	}
	c.input, c.inside = outer, inside
}

// moveTo moves to a field and skips unknown fields. It reports whether the message contains the field.
func (c *codec) moveTo(field uint64) bool {
	for (!c.unread || c.field < field) && c.next() {
	}
	return c.err == nil && c.unread && c.field == field
}

// next moves to the next field. It returns false at the end of the message and after an error.
func (c *codec) next() bool {
	c.unread = false
	if c.err != nil || len(c.in) == 0 {
		return false
	}
	key := c.varint()
	field := key >> 1
	switch {
	case c.err != nil:
	case field == 0 || field < c.field:
		c.fail("", "field %d out of order", field)
	case field == c.last:
		c.fail("", "field %d given twice", field)
	}
	c.field, c.kind, c.body = field, key&1, nil
	c.value = c.varint()
	if c.kind == kindOctets && c.err == nil {
		if c.value > uint64(len(c.in)) {
			c.fail("", "field %d is longer than the message", field)
			return false
		}
		c.body, c.in = c.in[:c.value], c.in[c.value:]
	}
	c.unread = c.err == nil
	return c.unread
}

// varint reads an unsigned varint in its shortest form.
func (c *codec) varint() uint64 {
	v, n := binary.Uvarint(c.in)
	if n <= 0 || (n > 1 && c.in[n-1] == 0) {
		c.fail("", "bad number")
		return 0
	}
	c.in = c.in[n:]
	return v
}

// single reads a field that may not repeat, and checks its kind and that its value is not zero.
func (c *codec) single(name string, kind uint64) bool {
	if c.kind != kind {
		c.fail(name, "wrong kind of value")
	} else if c.value == 0 {
		c.fail(name, "zero value written out")
	}
	c.unread, c.last = false, c.field
	return c.err == nil
}
