package history

import (
	"os"
	"runtime"
	"time"

	"github.com/prometheus/procfs"
)

// TakeProcess sets the metrics of this process and its machine. Metrics that the system does not provide stay 0.
func (r *Reading) TakeProcess() {
	r.Cores = runtime.NumCPU()
	system, err := procfs.NewDefaultFS()
	if err != nil {
		return
	}
	if process, err := system.Proc(os.Getpid()); err == nil {
		if stat, err := process.Stat(); err == nil {
			r.CPU = time.Duration(stat.CPUTime() * float64(time.Second))
			r.MemoryUsed = uint64(max(stat.ResidentMemory(), 0))
		}
	}
	if memory, err := system.Meminfo(); err == nil {
		if memory.MemTotalBytes != nil {
			r.MemoryTotal = *memory.MemTotalBytes
		}
		if memory.MemAvailableBytes != nil {
			r.MemoryAvailable = *memory.MemAvailableBytes
		}
	}
}
