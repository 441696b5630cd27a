package history // inside: it uses every, parse and rows

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/leaf/histogram"
)

// busy returns the readings of a node with ten queries per second. One query per second fails, and each takes a
// millisecond.
func busy(times *histogram.Counter) func() Reading {
	began := time.Now()
	told := uint64(0)
	return func() Reading {
		n := uint64(time.Since(began).Seconds() * 10)
		times.Add(time.Millisecond, int(n-told))
		told = n
		r := Reading{At: time.Now(), Queries: n, Failed: n / 10, Checks: n / 20, Healthy: 3, Cores: 2,
			CPU: time.Since(began) / 10, MemoryUsed: 25, MemoryTotal: 100}
		times.AddTo(&r.Times)
		return r
	}
}

// value returns a metric of a point by its name.
func value(t *testing.T, p Point, name string) float64 {
	t.Helper()
	for i, n := range Names() {
		if n == name {
			return p.Values[i]
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

func near(a, b float64) bool { return math.Abs(a-b) <= math.Abs(b)/50 }

func TestRecorder_KeepsADayOfMinutesAndThirtyOfHoursOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Read: busy(new(histogram.Counter)), Path: filepath.Join(t.TempDir(), "history.json"),
			Logger: zerolog.Nop()}
		r, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		stop := make(chan struct{})
		go func() { // as Run does, for 26 hours
			for {
				select {
				case <-stop:
					ended <- r.save()
					return
				case <-time.After(every):
					r.addReading()
				}
			}
		}()
		time.Sleep(26*time.Hour + every/2) // between two readings, so that their order is fixed
		close(stop)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		again, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for what, r := range map[string]*Recorder{"kept": r, "restored": again} {
			minutes, fives, hours := r.Points(time.Time{}, now, time.Minute), r.Points(time.Time{}, now, 5*time.Minute),
				r.Points(time.Time{}, now, time.Hour)
			if len(minutes) != Minutes || len(fives) < Minutes/5 || len(fives) > Minutes/5+1 || len(hours) != 26 {
				t.Fatalf("%s: %d minutes, %d of five, %d hours", what, len(minutes), len(fives), len(hours))
			}
			for _, p := range []Point{minutes[700], fives[100], hours[20]} {
				for name, want := range map[string]float64{"queries_per_sec": 10, "error_rate": 0.1, "health_checks_per_sec": 0.5,
					"healthy_servers": 3, "cpu_percent": 5, "memory_percent": 25, "response_avg_ms": 1} {
					if got := value(t, p, name); !near(got, want) {
						t.Errorf("%s, %v: %s is %v, want %v", what, p.At, name, got, want)
					}
				}
				if p99 := value(t, p, "response_p99_ms"); p99 < 1 || p99 > 1.125 {
					t.Errorf("%s: p99 is %v", what, p99)
				}
			}
			if last := r.Points(now.Add(-time.Hour), now, time.Minute); len(last) != 60 {
				t.Errorf("%s: the last hour has %d points", what, len(last))
			}
		}
		if now := r.Now(); !near(now.QueriesPerSec(), 10) || now.To.At.Sub(now.From.At) > window+every {
			t.Errorf("now: %v per second in %v", now.QueriesPerSec(), now.To.At.Sub(now.From.At))
		}
	})
}

func TestRecorder_WithoutQueriesNothingWasMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Open(Options{Read: func() Reading { return Reading{At: time.Now()} }, Path: filepath.Join(t.TempDir(), "h"),
			Logger: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		for range 7 {
			time.Sleep(every)
			r.addReading()
		}
		points := r.Points(time.Time{}, time.Now(), time.Minute)
		if len(points) != 1 || !math.IsNaN(value(t, points[0], "response_p99_ms")) ||
			!math.IsNaN(value(t, points[0], "error_rate")) || value(t, points[0], "queries_per_sec") != 0 {
			t.Errorf("%+v", points)
		}
	})
}

func TestOpen_ADamagedFileBeginsAnewAndAFullDiskHarmsNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"nonsense": "nonsense", "cut": `{"names":["a"],"minute":[[1`, "empty": ""} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(Options{Read: func() Reading { return Reading{At: time.Now()} }, Path: path, Logger: zerolog.Nop()})
		if err != nil || len(r.Points(time.Time{}, time.Now(), time.Hour)) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err := Open(Options{Read: func() Reading { return Reading{At: time.Now()} }, Path: filepath.Join(dir, "no", "such"),
		Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if r.save() == nil {
		t.Error("saved into a directory that does not exist")
	}
	r.saveFile()
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"names":["queries_per_sec"],"minute":[[1700000000,1.5],[1700000060,null]],"hour":[]}`))
	f.Add([]byte(`{"names":[],"minute":[[],[null],[1e300]]}`))
	now := time.Unix(1_700_000_100, 0)
	f.Fuzz(func(t *testing.T, text []byte) {
		minute, hour, err := parse(text, now)
		if err != nil {
			return
		}
		for _, p := range append(minute, hour...) {
			if len(p.Values) != len(Names()) || p.At.After(now) {
				t.Errorf("%s: %+v", text, p)
			}
		}
		if len(minute) > Minutes || len(hour) > Hours {
			t.Error("too many")
		}
		_ = rows(minute)
	})
}
