package frame

import "encoding/binary"

// cursor reads the subset of msgpack that memberlist writes: maps with text keys, and text, octets, integers, booleans
// or nil as values. It checks every length against the remaining data before use, and copies nothing. After the first
// error every further call fails.
type cursor struct {
	rest   []byte
	failed bool
}

func (c *cursor) fail() { c.failed = true; c.rest = nil }

// nextOctets returns the next n octets.
func (c *cursor) nextOctets(n int) []byte {
	if c.failed || n < 0 || n > len(c.rest) {
		c.fail()
		return nil
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) octet() byte {
	if b := c.nextOctets(1); b != nil {
		return b[0]
	}
	return 0
}

// unsigned reads a big-endian integer of 1, 2, 4 or 8 octets.
func (c *cursor) unsigned(size int) uint64 {
	b := c.nextOctets(size)
	if b == nil {
		return 0
	}
	var wide [8]byte
	copy(wide[8-size:], b)
	return binary.BigEndian.Uint64(wide[:])
}

// mapLength reads the header of a map and returns its number of pairs.
func (c *cursor) mapLength() int {
	switch b := c.octet(); {
	case b&0xf0 == 0x80:
		return int(b & 0x0f)
	case b == 0xde:
		return int(c.unsigned(2))
	default:
		c.fail()
		return 0
	}
}

// octets reads text or binary, or nil, which memberlist writes for an empty slice.
func (c *cursor) octets() []byte {
	switch b := c.octet(); {
	case b&0xe0 == 0xa0:
		return c.nextOctets(int(b & 0x1f))
	case b == 0xd9, b == 0xc4:
		return c.nextOctets(int(c.unsigned(1)))
	case b == 0xda, b == 0xc5:
		return c.nextOctets(int(c.unsigned(2)))
	case b == 0xc0 && !c.failed:
		return nil
	default:
		c.fail()
		return nil
	}
}

// integer reads a non-negative integer of any width; memberlist has no negative integers.
func (c *cursor) integer() uint64 {
	b := c.octet()
	if b < 0x80 {
		return uint64(b)
	}
	switch b {
	case 0xcc, 0xcd, 0xce, 0xcf:
		return c.unsigned(1 << (b - 0xcc))
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := 1 << (b - 0xd0)
		v := c.unsigned(size)
		if v>>(8*size-1) != 0 {
			c.fail()
		}
		return v
	default:
		c.fail()
		return 0
	}
}

func (c *cursor) boolean() bool {
	b := c.octet()
	if b != 0xc2 && b != 0xc3 {
		c.fail()
	}
	return b == 0xc3
}
