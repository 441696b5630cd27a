package testbed

import (
	"context"
	"iter"
	"os"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// Hang is the time limit of a wait beyond the promised time: only a hanging program needs so long.
const Hang = 3 * time.Minute

// Timed is set by `make bench-times`, on an idle machine: a time beyond the documented limit then fails a test.
var Timed = os.Getenv("GSLB_TIMED") != ""

// Until waits until cond returns nil. After promise and Hang it fails the test with cond's last error. If the wait
// exceeds the promise, InTime decides, because a busy machine may cause the delay.
func Until(t *testing.T, promise time.Duration, what string, cond func(context.Context) error) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), promise+Hang)
	defer cancel()
	var asked time.Time // start of the last call: the duration of the call is not measured
	err := harness.Until(ctx, what, func(ctx context.Context) error {
		asked = time.Now()
		return cond(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	InTime(t, what, promise, began, asked)
}

// InTime compares the time between began and ended with a promise. A longer time is logged, and fails the test if Timed
// is set.
func InTime(t *testing.T, what string, promise time.Duration, began, ended time.Time) {
	t.Helper()
	took := ended.Sub(began)
	if took <= promise {
		return
	}
	t.Logf("waited %s for %s, promised are %s on a machine at rest", took.Round(time.Millisecond), what, promise)
	if Timed {
		t.Fail()
	}
}

// During calls do at an interval for a while. It is for tests that an event does not happen, without a state to wait
// for.
func During(t *testing.T, span, every time.Duration, do func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	for range Every(ctx, every) {
		do()
	}
}

// Every yields the time at each interval of d, first after d, until ctx ends.
func Every(ctx context.Context, d time.Duration) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				if ctx.Err() != nil || !yield(now) {
					return
				}
			}
		}
	}
}

// Pause waits for d or until ctx ends. It is for waits without a visible end. A test counts the calls and requires a
// comment with the reason at each call.
func Pause(ctx context.Context, d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
}

// SavedAfter is the longest time until a node has stored received reports: it stores every two seconds.
const SavedAfter = 3 * time.Second

// Saved waits until all nodes have stored the received reports. The API does not show the end of this wait.
func Saved() { Pause(context.Background(), 2*SavedAfter) } // see above
