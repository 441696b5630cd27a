package heap // inside: it uses heapPercent, percentFor and smallHeapPercent

import (
	"runtime/debug"
	"testing"
)

func TestBound_LeavesGOGCAlone(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "300")
	if Bound(); debug.SetGCPercent(100) != 100 {
		t.Error("the percentage of GOGC was changed")
	}
	t.Setenv("GOGC", "")
	if Bound(); debug.SetGCPercent(100) != heapPercent {
		t.Errorf("without GOGC it is not %d %%", heapPercent)
	}
}

// A small heap may grow by heapRoom, a large one by heapPercent, and none by more than smallHeapPercent.
func TestPercentFor_GivesSmallHeapsRoom(t *testing.T) {
	for live, want := range map[uint64]int{
		0: smallHeapPercent, 8 << 20: smallHeapPercent, 20 << 20: smallHeapPercent, 40 << 20: 120, 64 << 20: heapPercent,
		1 << 30: heapPercent,
	} {
		if got := percentFor(live); got != want {
			t.Errorf("%d MiB live: %d %%, want %d", live>>20, got, want)
		}
	}
}
