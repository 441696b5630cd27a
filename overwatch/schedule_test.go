package overwatch

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestStartQuickly_BoundsMemoryOnlyWhileTheNodeStarts(t *testing.T) {
	t.Setenv("GOGC", "")
	limit := debug.SetMemoryLimit(-1)
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	serve := startQuickly()
	starting := debug.SetMemoryLimit(-1)
	if at := percent(); starting != min(limit, startingLimit) || at != math.MaxUint64 {
		t.Errorf("while it starts: %d octets, %d %%; want %d and no percentage", starting, at, min(limit, startingLimit))
	}
	// It is set anew after a collection.
	for debug.SetMemoryLimit(limit - 1); debug.SetMemoryLimit(-1) != starting; runtime.Gosched() {
		runtime.GC()
	}
	serve()
	for percent() == math.MaxUint64 { // until all that the start has left is collected
		time.Sleep(time.Millisecond)
	}
	if serving, at := debug.SetMemoryLimit(-1), percent(); serving != limit || at != servingPercent {
		t.Errorf("in service: %d octets, %d %%; want %d and %d", serving, at, limit, servingPercent)
	}
}

// percent is how far the heap may grow before it is collected: beyond what lives, in percent.
func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// With more names than the limit has room for, it must not be collected without end.
func TestLimitFor_LeavesRoomBesideWhatLives(t *testing.T) {
	for _, live := range []uint64{0, 300 << 20, 700 << 20, 4 << 30} {
		if limit := limitFor(live); limit < startingLimit || limit < int64(2*live) {
			t.Errorf("%d octets live, the limit is %d", live, limit)
		}
	}
}
