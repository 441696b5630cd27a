package zone

import (
	"testing"
	"unsafe"
)

// What most queries read is laid out by lines of the cache.
func TestView_SlotsAndAnswersAreLinesOfTheCache(t *testing.T) {
	const line = 64
	if size := unsafe.Sizeof(Slot{}); size != line {
		t.Errorf("a slot has %d octets", size)
	}
	var a answers
	if size := unsafe.Sizeof(a); size != 4*line { // of the sizes that the runtime allocates, the next that is whole lines
		t.Errorf("answers have %d octets", size)
	}
	if size := unsafe.Sizeof(placedAnswers{}); size%line != 0 {
		t.Errorf("answers that depend on the client have %d octets", size)
	}
	if size := unsafe.Sizeof(variant{}); size != 2*line {
		t.Errorf("a variant has %d octets", size)
	}
	if size := unsafe.Sizeof(made{}); size != 2*line {
		t.Errorf("a signature has %d octets", size)
	}
	if size := unsafe.Sizeof(Signature{}); size != line {
		t.Errorf("what leads to a signature has %d octets", size)
	}
	if size := unsafe.Sizeof(placed{}); size != 2*line {
		t.Errorf("what is placed has %d octets", size)
	}
	var f family
	hot := unsafe.Offsetof(f.near) + unsafe.Sizeof(f.near)
	for what, end := range map[string]uintptr{
		"a query for an IPv4 address":         unsafe.Offsetof(a.steered) + hot,
		"a query for the answers in a region": unsafe.Offsetof(placed{}.alike) + 1,
		"a query for an address in a region":  unsafe.Offsetof(variant{}.family) + hot,
	} {
		if end > line {
			t.Errorf("what %s needs ends at octet %d", what, end)
		}
	}
	if end := unsafe.Offsetof(a.steered) + unsafe.Sizeof(f); end > 2*line {
		t.Errorf("what a signed answer needs ends at octet %d", end)
	}
}
