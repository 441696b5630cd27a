package harness

import (
	"context"
	"fmt"
	"time"
)

// pollEvery is how often a condition is looked at: short against every promise that is measured, long against the
// cost of asking.
const pollEvery = 20 * time.Millisecond

// Until calls cond until it returns nil. When ctx ends first the error names what was awaited and cond's last error.
func Until(ctx context.Context, what string, cond func(context.Context) error) error {
	begin := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := cond(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s: %w", time.Since(begin).Round(time.Millisecond), what, err)
		case <-tick.C:
		}
	}
}
