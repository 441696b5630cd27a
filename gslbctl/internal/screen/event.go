package screen

import "bytes"

// Event is a key or a change of the terminal's size.
type Event int

// The events. Other keys are none.
const (
	Resized Event = iota + 1
	Quit          // q, Q, Ctrl-C or Ctrl-D
	Up
	Down
	Left
	Right
	PageUp
	PageDown
	Home
	End
	Next    // Tab
	Refresh // r, R or Ctrl-L
	First   // 1
	Second  // 2
	Third   // 3
	Fourth  // 4
)

// single are the keys of one byte.
var single = map[byte]Event{
	'q': Quit, 'Q': Quit, 0x03: Quit, 0x04: Quit, 'k': Up, 'j': Down, 'h': Left, 'l': Right, 'g': Home, 'G': End, ' ': PageDown, 'b': PageUp,
	'\t': Next, 'r': Refresh, 'R': Refresh, 0x0c: Refresh, '1': First, '2': Second, '3': Third, '4': Fourth,
}

// sequences are what follows the escape character for the other keys, on
// terminals of the xterm family.
var sequences = []struct {
	text  string
	event Event
}{
	{"[A", Up}, {"[B", Down}, {"[C", Right}, {"[D", Left}, {"OA", Up}, {"OB", Down}, {"OC", Right}, {"OD", Left},
	{"[5~", PageUp}, {"[6~", PageDown}, {"[H", Home}, {"[F", End}, {"OH", Home}, {"OF", End}, {"[1~", Home}, {"[4~", End}, {"[7~", Home}, {"[8~", End},
}

const escape = 0x1b

// decode tells the events in what one read of the keyboard gave. A sequence
// that means nothing here is left out whole, so that its letters do not count
// as keys.
func decode(typed []byte) []Event {
	var list []Event
	for len(typed) > 0 {
		if typed[0] != escape {
			if e, known := single[typed[0]]; known {
				list = append(list, e)
			}
			typed = typed[1:]
			continue
		}
		rest := typed[1:]
		length := sequenceLength(rest)
		for _, s := range sequences {
			if bytes.Equal(rest[:length], []byte(s.text)) {
				list = append(list, s.event)
			}
		}
		typed = rest[length:]
	}
	return list
}

// sequenceLength is how many bytes after the escape character belong to it:
// of a control sequence all up to its final byte (ECMA-48 5.4), of others two.
func sequenceLength(rest []byte) int {
	switch {
	case len(rest) == 0:
		return 0
	case rest[0] == 'O':
		return min(2, len(rest))
	case rest[0] != '[':
		return 1
	}
	for i, b := range rest[1:] {
		if b >= 0x40 && b <= 0x7e {
			return i + 2
		}
	}
	return len(rest)
}
