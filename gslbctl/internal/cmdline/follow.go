package cmdline

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
)

// lookPace is the time between two looks of follow.
const lookPace = time.Second

// Follow calls look once, or until ctx ends if goOn is set. Commands that print a stream of entries use it. missing is
// the error about nodes without an answer; with goOn, Follow prints it whenever it changes. After the first successful
// call, Follow continues even if no node answers.
func (a *App) Follow(ctx context.Context, goOn bool, look func() (missing, err error)) error {
	told, begun := "", false
	for {
		missing, err := look()
		if err == nil {
			begun = true
		} else if begun && fleet.IsTemporary(err) {
			missing, err = err, nil
		}
		switch {
		case goOn && ctx.Err() != nil:
			return nil //nolint:nilerr // interrupted by the user
		case err != nil || !goOn:
			return cmp.Or(err, missing)
		}
		if _, sentence := fleet.Explain(missing); sentence != told {
			if told = sentence; told != "" {
				fmt.Fprintln(a.Err, "gslbctl: "+render.Printable(told))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookPace):
		}
	}
}
