package publish // inside: it uses lines and maxLines

import (
	"testing"
	"time"
)

func TestLines_AFloodIsBoundedAndCounted(t *testing.T) {
	var l lines
	now := time.Unix(1_800_000_000, 0)
	written := 0
	for range 1000 {
		if _, ok := l.allowLine(now); ok {
			written++
		}
	}
	if written != maxLines {
		t.Errorf("%d lines in a second, want %d", written, maxLines)
	}
	if withheld, ok := l.allowLine(now.Add(time.Second)); !ok || withheld != 1000-maxLines {
		t.Errorf("the next second begins with %d withheld, %v", withheld, ok)
	}
	if withheld, ok := l.allowLine(now.Add(time.Second)); !ok || withheld != 0 {
		t.Errorf("what was withheld is told twice: %d, %v", withheld, ok)
	}
}
