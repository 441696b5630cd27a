package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// steadyTime is the time in which undisturbed answers are counted.
const steadyTime = 3 * time.Second

// countError is the permitted difference between the actual and the expected number of answers of a backend. The
// schedule is exact to one answer, and the count may start and end at any position of it.
const countError = 2

// transcript runs the demo without a terminal: it performs and measures one failover of each kind, and returns an error
// with every broken promise.
func (s *scene) transcript(ctx context.Context, say func(string, ...any), hints []string) error {
	ctx, cancel := context.WithCancel(ctx)
	var observing sync.WaitGroup
	observing.Go(func() { s.observe(ctx) })
	defer observing.Wait()
	defer cancel()

	for _, h := range hints {
		say("try: %s", h)
	}
	if err := s.steady(ctx, say); err != nil {
		return err
	}
	d := &director{scene: s}
	back := func() (*incident, error) { return d.bringBack(ctx) }
	var broken []error
	for _, act := range []func() (*incident, error){d.killBackend, back, d.killAgent, back, d.stopNode, back} {
		i, err := act()
		if err != nil {
			return err
		}
		say("%s ...", i.what)
		f, err := settle(ctx, i)
		if err != nil {
			return err
		}
		say("... %s", f.text)
		if f.broken != nil {
			broken = append(broken, fmt.Errorf("%s: %w", i.what, f.broken))
		}
	}
	if len(broken) == 0 {
		say("all promises hold")
	}
	return errors.Join(broken...)
}

// settle measures an incident until its finding is settled. i.measure bounds the time.
func settle(ctx context.Context, i *incident) (finding, error) {
	tick := time.NewTicker(redrawInterval)
	defer tick.Stop()
	for {
		if f := i.measure(); f.settled {
			return f, nil
		}
		if err := pause(ctx, tick.C); err != nil {
			return finding{}, err
		}
	}
}

// steadyTries is the number of attempts at a count of undisturbed answers. On a machine that pauses, late checks can
// remove healthy backends from the answers.
const steadyTries = 4

// steady prints the shares of undisturbed answers, and compares them with the weights.
func (s *scene) steady(ctx context.Context, say func(string, ...any)) (err error) {
	begin := time.Now()
	for range steadyTries {
		if err = s.steadyOnce(ctx, say, time.Now()); err == nil {
			break
		}
		say("%s: once more, this machine may have stood still", err)
		if err := pause(ctx, time.After(s.cluster.Timing.Recovery())); err != nil {
			return err
		}
	}
	return errors.Join(err, s.noFailures(begin))
}

func (s *scene) steadyOnce(ctx context.Context, say func(string, ...any), from time.Time) error {
	say("asking both nodes for both names %.0f times a second each, for %s", 1/pace.Seconds(), steadyTime)
	if err := pause(ctx, time.After(steadyTime)); err != nil {
		return err
	}
	var errs []error
	for _, name := range []string{appName, apiName} {
		for _, n := range s.nodes {
			t := s.watch.Tally(n, name, from)
			var parts []string
			for _, r := range s.replicas {
				due := 1 / float64(len(s.replicas))
				if name == appName {
					due = float64(r.weight) / 100
				}
				got := t.Share(r.At.Addr())
				parts = append(parts, fmt.Sprintf("%s %.1f%% of %.0f%%", r.At.Addr(), 100*got, 100*due))
				// The rotation also counts an answer that the client received after its time limit.
				if off := math.Abs(got-due) * float64(t.Asked-t.Failed); off > countError+float64(t.Failed) {
					errs = append(errs, fmt.Errorf("%s answered %s for %s in %.1f%% of the lookups, due are %.0f%%", n.Name,
						r.At.Addr(), name, 100*got, 100*due))
				}
			}
			say("%s from %s: %d lookups, %d failed: %s", name, n.Name, t.Asked, t.Failed, strings.Join(parts, ", "))
		}
	}
	return errors.Join(errs...)
}

// pause waits for the channel or for the end of ctx, which is an error.
func pause(ctx context.Context, until <-chan time.Time) error {
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return errors.New("interrupted")
	}
}

// The styles of text on the screen.
var (
	plain  = ansi.Style{}
	bold   = plain.Bold()
	dim    = plain.Faint()
	red    = plain.ForegroundColor(ansi.Red)
	green  = plain.ForegroundColor(ansi.Green)
	yellow = plain.ForegroundColor(ansi.Yellow)
)

// words formats text in one style.
func words(style ansi.Style, format string, args ...any) string {
	return style.Styled(clean(fmt.Sprintf(format, args...)))
}

// pad returns a text of width columns and a blank. Longer texts are cut.
func pad(text string, width int, style ansi.Style) string {
	text = ansi.Truncate(clean(text), width, "")
	return style.Styled(text + strings.Repeat(" ", width-ansi.StringWidth(text)+1))
}

// clean replaces control characters by blanks: the text of other programs must not control the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, text)
}
