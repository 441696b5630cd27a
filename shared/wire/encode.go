package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrTooLarge is returned for a message that is larger than MaxPayload.
var ErrTooLarge = errors.New("message is larger than the protocol allows")

// The two kinds of field values.
const (
	kindNumber = 0
	kindOctets = 1
)

// encoder writes the fields of one message, in ascending order. The first error sticks.
type encoder struct {
	out []byte
	err error
}

func (e *encoder) fail(field, format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("encoding %s: "+format, append([]any{field}, args...)...)
	}
}

// finish returns the message, or the first error. A message beyond MaxPayload is ErrTooLarge.
func (e *encoder) finish() ([]byte, error) {
	if e.err == nil && len(e.out) > MaxPayload {
		e.err = fmt.Errorf("%w: %d octets, at most %d", ErrTooLarge, len(e.out), MaxPayload)
	}
	if e.err != nil {
		return nil, e.err
	}
	return e.out, nil
}

// number writes v unless it is zero.
func (e *encoder) number(field uint64, v uint64) {
	if v != 0 {
		e.out = binary.AppendUvarint(e.out, field<<1|kindNumber)
		e.out = binary.AppendUvarint(e.out, v)
	}
}

func (e *encoder) flag(field uint64, v bool) {
	if v {
		e.number(field, 1)
	}
}

// octets writes v unless it is empty.
func (e *encoder) octets(field uint64, v []byte) {
	if len(v) != 0 {
		e.out = binary.AppendUvarint(e.out, field<<1|kindOctets)
		e.out = binary.AppendUvarint(e.out, uint64(len(v)))
		e.out = append(e.out, v...)
	}
}

// share writes v unless it is zero.
func (e *encoder) share(field uint64, v [32]byte) {
	if v != [32]byte{} {
		e.octets(field, v[:])
	}
}

// text writes v, which must be printable and at most limit octets.
func (e *encoder) text(field uint64, name, v string, limit int) {
	if v == "" {
		return
	}
	if len(v) > limit {
		e.fail(name, "%d octets, at most %d", len(v), limit)
		return
	}
	if !printable(v) {
		e.fail(name, "%q is not printable text", v)
		return
	}
	e.out = binary.AppendUvarint(e.out, field<<1|kindOctets)
	e.out = binary.AppendUvarint(e.out, uint64(len(v)))
	e.out = append(e.out, v...)
}

// raw writes text that may have any characters and is at most limit octets.
func (e *encoder) raw(field uint64, name, v string, limit int) {
	if len(v) > limit {
		e.fail(name, "%d octets, at most %d", len(v), limit)
		return
	}
	e.octets(field, []byte(v))
}

// service writes a service name in canonical form.
func (e *encoder) service(field uint64, v string) {
	v = CanonicalService(v)
	if !validService(v) {
		e.fail("service", "%q is not a service name", v)
		return
	}
	e.text(field, "service", v, MaxService)
}

// address writes 4 octets for IPv4 (also when mapped into IPv6) or 16 for IPv6.
func (e *encoder) address(field uint64, v netip.Addr) {
	v = v.Unmap()
	if v.Zone() != "" {
		e.fail("address", "%s has a zone, which means nothing on another machine", v)
		return
	}
	octets := v.As16()
	if v.Is4() {
		e.octets(field, octets[12:])
	} else if v.Is6() {
		e.octets(field, octets[:])
	}
}

// message writes a nested message, even when it has no fields.
func (e *encoder) message(field uint64, body func(*encoder)) {
	e.out = binary.AppendUvarint(e.out, field<<1|kindOctets)
	start := len(e.out)
	body(e)
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(e.out)-start))
	e.out = slices.Insert(e.out, start, length[:n]...)
}

// nested writes a nested message unless it has no fields.
func (e *encoder) nested(field uint64, body func(*encoder)) {
	before := len(e.out)
	e.message(field, body)
	if len(e.out) == before+2 { // key and a length of 0
		e.out = e.out[:before]
	}
}

// atMost checks the number of elements of a repeated field.
func (e *encoder) atMost(name string, n, limit int) {
	if n > limit {
		e.fail(name, "%d of them, at most %d", n, limit)
	}
}

// forPeople makes any text valid for a message: printable, and cut at the limit on a character
// boundary.
func forPeople(s string) string {
	if len(s) <= MaxText && printable(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > MaxText {
		s = s[:MaxText]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return s
}

// printable reports whether s is UTF-8 without control and formatting characters.
func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}
