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
	if at := unsafe.Offsetof(a.placed); at != line {
		t.Errorf("what follows the records begins at octet %d", at)
	}
	if end := unsafe.Offsetof(a.steered) + unsafe.Offsetof(family{}.sigs); end > 2*line {
		t.Errorf("what a query for an IPv4 address needs ends at octet %d", end)
	}
}
