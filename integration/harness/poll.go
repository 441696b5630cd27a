package harness

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollEvery is the interval at which a condition is checked: short in comparison with every measured limit, and long
// in comparison with the cost of a check.
const pollEvery = 20 * time.Millisecond

// errEnded means that a program has ended. Until returns when cond returns this error.
var errEnded = errors.New("has ended")

// Until calls cond until it returns nil. If ctx ends first, or a program that cond needs has ended, the error contains
// what and cond's last error.
func Until(ctx context.Context, what string, cond func(context.Context) error) error {
	begin := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last error // error of the last call that ended before ctx
	for {
		err := cond(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		} else if last != nil {
			err = last // more specific than the end of ctx
		}
		if ctx.Err() != nil || errors.Is(err, errEnded) {
			return fmt.Errorf("waited %s for %s: %w", time.Since(begin).Round(time.Millisecond), what, err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
