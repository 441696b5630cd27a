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

// Follow calls look once, or with goOn until ctx ends, for commands that print a stream of entries. missing is the
// outcome for nodes that did not answer; while look continues, it is printed when it changes. Once a look has
// succeeded, one at which no node answers does not end it either.
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
