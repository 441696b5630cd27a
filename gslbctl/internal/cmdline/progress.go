package cmdline

import (
	"fmt"
	"time"

	"gslb.internal/gslbctl/internal/render"
)

// The progress appears after progressAfter and changes every progressInterval.
const (
	progressAfter    = time.Second
	progressInterval = 250 * time.Millisecond
)

// Progress shows a text on a terminal during a slow command. The returned function removes the text.
func (a *App) Progress(what string) (stop func()) {
	if !a.Tells || a.Quiet {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		began := time.Now()
		wait := time.NewTimer(progressAfter)
		defer wait.Stop()
		shown := false
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(a.Err, "\r\x1b[K")
				}
				return
			case <-wait.C:
			}
			shown = true
			fmt.Fprintf(a.Err, "\r\x1b[K%s, %s", render.Printable(what), render.Span(time.Since(began)))
			wait.Reset(progressInterval)
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
