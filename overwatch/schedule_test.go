package overwatch

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestStartQuickly_BoundsMemoryOnlyWhileTheNodeStarts(t *testing.T) {
	t.Setenv("GOGC", "")
	limit := debug.SetMemoryLimit(-1)
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	serve := startQuickly()
	starting, startingAt := debug.SetMemoryLimit(-1), debug.SetGCPercent(startingPercent)
	if starting != min(limit, startingLimit) || startingAt != startingPercent {
		t.Errorf("while it starts: %d octets, %d %%", starting, startingAt)
	}
	// It is set anew after a collection.
	for debug.SetMemoryLimit(limit - 1); debug.SetMemoryLimit(-1) != starting; runtime.Gosched() {
		runtime.GC()
	}
	serve()
	serving, servingAt := debug.SetMemoryLimit(-1), debug.SetGCPercent(percent)
	if serving != limit || servingAt != servingPercent {
		t.Errorf("in service: %d octets, %d %%; want %d and %d", serving, servingAt, limit, servingPercent)
	}
}

// With more names than the limit has room for, it must not be collected without end.
func TestLimitFor_LeavesRoomBesideWhatLives(t *testing.T) {
	for _, live := range []uint64{0, 300 << 20, 700 << 20, 4 << 30} {
		if limit := limitFor(live); limit < startingLimit || limit < int64(2*live) {
			t.Errorf("%d octets live, the limit is %d", live, limit)
		}
	}
}
