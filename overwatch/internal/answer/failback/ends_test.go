package failback // inside: it reads domains, and calls endDue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// nowhere is a Store that stores nothing.
type nowhere struct{}

func (nowhere) Write(*store.Batch, ...store.Entry) error { return nil }

// observeMain passes a decision of a domain with the regions main and standby. Without "main", standby answers.
func observeMain(t *Tracker, name string, after time.Duration, canServe bool, inUse string) {
	main := policy.RegionHealth{Region: "main", Serving: 1, Required: 1}
	if !canServe {
		main.Serving, main.IsDown = 0, true
	}
	t.Observe(name, Observation{Setting: model.Failback{After: settings.Duration(after)}, InUse: []string{inUse},
		Regions: []policy.RegionHealth{main, {Region: "standby", Serving: 1, Required: 1}},
		Listed:  []string{"main", "standby"}})
}

// failOver makes the region main of a domain await failback.
func failOver(t *Tracker, name string) {
	observeMain(t, name, time.Hour, true, "main")
	observeMain(t, name, time.Hour, false, "standby")
}

// Each of many waits ends at its own time: some regions fail again, some domains get another setting, and operators end
// some waits.
func TestRun_EndsEachWaitAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		ended, want := map[string]time.Time{}, map[string]time.Time{}
		tracker := New(Options{Store: nowhere{}, Logger: zerolog.Nop(), Changed: func(name string) {
			mu.Lock()
			defer mu.Unlock()
			ended[name] = time.Now()
		}})
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- tracker.Run(ctx) }()
		for i := range 500 {
			name := fmt.Sprintf("n%d.example", i)
			failOver(tracker, name)
			pauses := []int{1 + random.IntN(1000), 1 + random.IntN(1000), 1 + random.IntN(1000)}
			go func() {
				sleep := func() {
					time.Sleep(time.Duration(pauses[0]) * time.Second)
					pauses = pauses[1:]
				}
				sleep()
				observeMain(tracker, name, time.Hour, true, "standby")
				end := time.Now().Add(time.Hour)
				sleep()
				switch i % 4 {
				case 1:
					observeMain(tracker, name, time.Hour, false, "standby")
					sleep()
					observeMain(tracker, name, time.Hour, true, "standby")
					end = time.Now().Add(time.Hour)
				case 2:
					observeMain(tracker, name, 30*time.Minute, true, "standby")
					end = end.Add(-30 * time.Minute)
				case 3:
					tracker.Remove(name, "main")
					end = time.Now()
				}
				mu.Lock()
				defer mu.Unlock()
				want[name] = end
			}()
		}
		time.Sleep(3 * time.Hour)
		stop()
		if err := <-stopped; err != nil || len(tracker.ends) > 0 || len(tracker.List()) > 0 {
			t.Errorf("%v, %d ends, %d waits remain", err, len(tracker.ends), len(tracker.List()))
		}
		for name, at := range want {
			if !ended[name].Equal(at) {
				t.Errorf("%s: the wait ends at %v, want %v", name, ended[name], at)
			}
		}
	})
}

// Other nodes can store waits of any domain. After their end, the Tracker has no state of these domains.
func TestTracker_ForgetsUnknownDomains(t *testing.T) {
	tracker := New(Options{Store: nowhere{}, Changed: func(string) {}, Logger: zerolog.Nop()})
	for i := range 10 {
		f := store.Failback{Domain: fmt.Sprintf("n%d.example", i), Region: "main", Since: time.Now()}
		tracker.Follow(f, true)
		if i%2 == 0 {
			tracker.Follow(f, false)
		} else {
			tracker.Remove(f.Domain, f.Region)
		}
	}
	if n := len(tracker.domains); n > 0 {
		t.Errorf("the state of %d unknown domains remains", n)
	}
}

// BenchmarkEndDue measures the end of a wait, while regions of 100 000 other domains await their time.
func BenchmarkEndDue(b *testing.B) {
	now := time.Now()
	tracker := New(Options{Store: nowhere{}, Changed: func(string) {}, Logger: zerolog.Nop(),
		Now: func() time.Time { return now }})
	for i := range 100_000 {
		name := fmt.Sprintf("n%d.example", i)
		failOver(tracker, name)
		observeMain(tracker, name, 24*time.Hour, true, "standby")
	}
	for len(tracker.takeUnsaved()) > 0 {
	}
	b.ReportAllocs()
	for b.Loop() {
		failOver(tracker, "due.example")
		observeMain(tracker, "due.example", time.Millisecond, true, "standby")
		now = now.Add(time.Millisecond)
		tracker.endDue()
		tracker.takeUnsaved()
	}
	if n := len(tracker.List()); n != 100_000 {
		b.Errorf("%d waits remain", n)
	}
}
