package overwatch

import (
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
	serve()
	serving, servingAt := debug.SetMemoryLimit(-1), debug.SetGCPercent(percent)
	if starting != min(limit, startingLimit) || startingAt != startingPercent {
		t.Errorf("while it starts: %d octets, %d %%", starting, startingAt)
	}
	if serving != limit || servingAt != servingPercent {
		t.Errorf("in service: %d octets, %d %%; want %d and %d", serving, servingAt, limit, servingPercent)
	}
}
