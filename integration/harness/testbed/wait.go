package testbed

import (
	"context"
	"iter"
	"os"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// Hang is the time beyond a promise after which a wait is given up: only a program that hangs takes so long.
const Hang = 3 * time.Minute

// Timed says whether promises in seconds are judged: by `make bench-times`, on a machine that has nothing else to do.
var Timed = os.Getenv("GSLB_TIMED") != ""

// Until waits for a state, and fails the test with the last error when it does not come about. A machine that is busy
// makes it late, which is no failure; the promise is what inTime makes of it.
func Until(t *testing.T, promise time.Duration, what string, cond func(context.Context) error) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), promise+Hang)
	defer cancel()
	var asked time.Time // how long the answer to that takes is another matter
	err := harness.Until(ctx, what, func(ctx context.Context) error {
		asked = time.Now()
		return cond(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	InTime(t, what, promise, began, asked)
}

// InTime holds what began and ended at these times against a promise. Longer is told, and a failure where promises in
// seconds are judged.
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

// During does something again and again for a while. It is for what must not happen, which no state tells the end of.
func During(t *testing.T, span, every time.Duration, do func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	for range Every(ctx, every) {
		do()
	}
}

// Every is the pace of a client that does something again and again, the first time after d, until ctx ends.
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

// Pause waits for a while that no state shows the end of, or until ctx ends. Say why beside each call: each counts.
func Pause(ctx context.Context, d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
}

// SavedAfter is the time after which a node has stored what it heard: it stores every two seconds.
const SavedAfter = 3 * time.Second

// Saved gives nodes the time to store what they heard. Nothing tells that they have.
func Saved() { Pause(context.Background(), 2*SavedAfter) } // see above
