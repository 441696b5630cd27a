package predict // inside: it uses cgroup, errFirstReading and errNoLimit

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
)

func files(contents map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range contents {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestCgroup_ContainerSeesItsOwnShare(t *testing.T) {
	for name, c := range map[string]map[string]string{
		"version 2": {
			"cpu.max": "150000 100000\n", "cpu.stat": "usage_usec 2500000\nuser_usec 2000000\n",
			"memory.max": "1073741824\n", "memory.current": "700\n", "memory.stat": "anon 1\ninactive_file 200\n",
		},
		"version 1": {
			"cpu/cpu.cfs_quota_us": "150000\n", "cpu/cpu.cfs_period_us": "100000\n", "cpuacct/cpuacct.usage": "2500000000\n",
			"memory/memory.limit_in_bytes": "1073741824\n", "memory/memory.usage_in_bytes": "700\n",
			"memory/memory.stat": "inactive_file 1\ntotal_inactive_file 200\n",
		},
	} {
		g := cgroup{files(c)}
		if used, processors, err := g.processor(); err != nil || used != 2500*time.Millisecond || processors != 1.5 {
			t.Errorf("%s: processor %v of %v, %v", name, used, processors, err)
		}
		if used, limit, err := g.memory(); err != nil || used != 500 || limit != 1<<30 {
			t.Errorf("%s: memory %v of %v, %v", name, used, limit, err)
		}
	}
}

func TestCgroup_WithoutALimitTheHostCounts(t *testing.T) {
	for name, c := range map[string]map[string]string{
		"no control groups": {},
		"the host's root":   {"cpu.stat": "usage_usec 1\n", "memory.stat": "anon 1\n"},
		"version 2":         {"cpu.max": "max 100000\n", "memory.max": "max\n", "cpu.stat": "usage_usec 1\n"},
		"version 1": {
			"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n",
			"memory/memory.limit_in_bytes": "9223372036854771712\n",
		},
	} {
		g := cgroup{files(c)}
		if _, _, err := g.processor(); !errors.Is(err, errNoLimit) {
			t.Errorf("%s: processor: %v", name, err)
		}
		if _, _, err := g.memory(); !errors.Is(err, errNoLimit) {
			t.Errorf("%s: memory: %v", name, err)
		}
	}
}

func TestGauge_MeasuresThisMachine(t *testing.T) {
	g := NewGauge()
	if _, err := g.CPU(t.Context()); !errors.Is(err, errFirstReading) {
		t.Errorf("first reading: %v", err)
	}
	if v, err := g.CPU(t.Context()); err != nil || v < 0 || v > 100 {
		t.Errorf("processor: %v, %v", v, err)
	}
	if v, err := g.Memory(t.Context()); err != nil || v <= 0 || v > 100 {
		t.Errorf("memory: %v, %v", v, err)
	}
}

// busyAfter reads the processor time before and after a period of use, in virtual time.
func (g *Gauge) busyAfter(t *testing.T, d time.Duration, use func()) (percent float64, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if _, err := g.CPU(t.Context()); !errors.Is(err, errFirstReading) {
			t.Fatal(err)
		}
		time.Sleep(d)
		use()
		percent, err = g.CPU(t.Context())
	})
	return percent, err
}

func TestGauge_OfALimitedContainerIsItsUseOfTheLimit(t *testing.T) {
	stat := &fstest.MapFile{Data: []byte("usage_usec 0\n")}
	g := &Gauge{group: cgroup{fstest.MapFS{"cpu.max": &fstest.MapFile{Data: []byte("50000 100000")}, "cpu.stat": stat}}}
	// 4 s of the 5 s that half a processor provides
	if v, err := g.busyAfter(t, 10*time.Second, func() { stat.Data = []byte("usage_usec 4000000\n") }); err != nil ||
		v != 80 {
		t.Errorf("%v %%, %v", v, err)
	}
}

// A limit above the resources of the host is ignored. Otherwise a fully used host would appear idle.
func TestGauge_ALimitAboveWhatTheHostHasIsNone(t *testing.T) {
	stat := &fstest.MapFile{Data: []byte("usage_usec 0\n")}
	g := &Gauge{group: cgroup{fstest.MapFS{
		"cpu.max": &fstest.MapFile{Data: []byte(fmt.Sprint(100_000*4*runtime.NumCPU(), " 100000"))}, "cpu.stat": stat,
		"memory.max":     &fstest.MapFile{Data: []byte(fmt.Sprint(uint64(1) << 50))},
		"memory.current": &fstest.MapFile{Data: []byte("0")},
		"memory.stat":    &fstest.MapFile{Data: []byte("inactive_file 0\n")},
	}}}
	use := func() { stat.Data = []byte(fmt.Sprint("usage_usec ", 9_000_000*runtime.NumCPU(), "\n")) }
	if v, err := g.busyAfter(t, 10*time.Second, use); err != nil || v != 90 {
		t.Errorf("%v %% of all processors, %v", v, err)
	}
	if v, err := g.Memory(t.Context()); err != nil || v <= 0.1 {
		t.Errorf("%v %% of the host's memory, %v", v, err)
	}
}

// After a new limit, the first reading has no previous reading for comparison.
func TestGauge_ALimitThatComesLaterIsNoLoad(t *testing.T) {
	files := fstest.MapFS{"cpu.max": &fstest.MapFile{Data: []byte("max 100000")},
		"cpu.stat": &fstest.MapFile{Data: []byte("usage_usec 900000000000\n")}}
	g := &Gauge{group: cgroup{files}}
	for range 2 {
		_, _ = g.CPU(t.Context())
	}
	for _, limit := range []string{"50000 100000", "max 100000"} {
		files["cpu.max"].Data = []byte(limit)
		if v, err := g.CPU(t.Context()); !errors.Is(err, errFirstReading) {
			t.Errorf("%s: %v %%, %v", limit, v, err)
		}
		if _, err := g.CPU(t.Context()); err != nil {
			t.Errorf("%s: %v", limit, err)
		}
	}
}

func TestHostBusy_IsWhatWasNotIdle(t *testing.T) {
	a := cpu.TimesStat{User: 100, System: 50, Idle: 1000, Iowait: 10}
	b := cpu.TimesStat{User: 130, System: 55, Idle: 1060, Iowait: 15}
	if v := hostBusy(a, b); v != 35 {
		t.Errorf("%v %%", v)
	}
	if v := hostBusy(a, a); v != 0 {
		t.Errorf("no time has passed: %v %%", v)
	}
}

func FuzzCgroup_NoContentsPanic(f *testing.F) {
	f.Add("150000 100000", "usage_usec 1\n", "max")
	f.Add("max", "", "0")
	f.Fuzz(func(t *testing.T, limit, stat, memory string) {
		g := cgroup{files(map[string]string{
			"cpu.max": limit, "cpu.stat": stat, "memory.max": memory, "memory.current": limit, "memory.stat": stat,
		})}
		if _, processors, err := g.processor(); err == nil && processors <= 0 {
			t.Errorf("%v processors", processors)
		}
		if _, limit, err := g.memory(); err == nil && limit == 0 {
			t.Error("no memory at all")
		}
	})
}
