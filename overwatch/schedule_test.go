package overwatch

import (
	"runtime/debug"
	"testing"
)

func TestBoundHeap_LeavesGOGCAlone(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "300")
	if boundHeap(); debug.SetGCPercent(100) != 100 {
		t.Error("the percentage of GOGC was changed")
	}
	t.Setenv("GOGC", "")
	if boundHeap(); debug.SetGCPercent(100) != heapPercent {
		t.Errorf("without GOGC it is not %d %%", heapPercent)
	}
}
