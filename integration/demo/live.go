package demo

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// redrawEvery is how often the screen is drawn and running measurements are looked at.
const redrawEvery = 200 * time.Millisecond

// ctrlC is what the key sends while the terminal hands over single keys.
const ctrlC = 3

// live is the view with keys. Its loop is the only one that draws; actions run beside it, one at a time, so that the
// screen stays alive while a program takes its time to end.
type live struct {
	scene    *scene
	hints    []string
	director *director

	keys    chan byte
	done    chan outcome // of the action that runs
	broken  chan error   // what ends the view
	running sync.WaitGroup

	acting    bool
	notice    string
	incidents []*happened
}

// happened is an incident on the screen.
type happened struct {
	at       time.Duration
	incident incident
	finding  finding
}

// outcome is what an action led to; no incident and no error means that there was nothing to act on.
type outcome struct {
	incidents []incident
	err       error
}

func newLive(s *scene, hints []string) *live {
	return &live{
		scene: s, hints: hints, director: &director{scene: s},
		keys: make(chan byte), done: make(chan outcome, 1), broken: make(chan error, 2),
	}
}

// run shows the view until q, Ctrl-C or the end of ctx. The terminal is as before when it returns, also by a panic.
func (l *live) run(ctx context.Context, t *terminal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer l.running.Wait()
	defer cancel()
	l.spawn(func() error { return t.keys(ctx, l.keys) })
	l.spawn(func() error {
		l.scene.observe(ctx)
		return nil
	})
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		if err := l.draw(t); err != nil {
			return fmt.Errorf("drawing on the terminal: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-l.broken:
			return err
		case key := <-l.keys:
			if key == 'q' || key == ctrlC {
				return nil
			}
			l.press(ctx, key)
		case o := <-l.done:
			l.finish(o)
		case <-tick.C:
		}
	}
}

// spawn runs f beside the loop. Its error or panic ends the view, in the loop's goroutine, which has the terminal.
func (l *live) spawn(f func() error) {
	l.running.Go(func() {
		defer func() {
			if reason := recover(); reason != nil {
				l.report(fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
			}
		}()
		if err := f(); err != nil {
			l.report(err)
		}
	})
}

// report keeps the first errors; a later one would only be a consequence.
func (l *live) report(err error) {
	select {
	case l.broken <- err:
	default:
	}
}

func (l *live) draw(t *terminal) error {
	for _, h := range l.incidents {
		if !h.finding.settled {
			h.finding = h.incident.measure()
		}
	}
	v := l.scene.collect(time.Now())
	v.hints, v.notice = l.hints, l.notice
	for _, h := range l.incidents {
		v.incidents = append(v.incidents, incidentView{at: h.at, what: h.incident.what(), finding: h.finding})
	}
	width, height := t.size()
	return t.draw(frame(v, height), width)
}

// press starts the action of a key.
func (l *live) press(ctx context.Context, key byte) {
	act, ok := map[byte]func() outcome{
		'k': one(l.director.killBackend),
		'a': one(l.director.killAgent),
		'o': one(l.director.stopNode),
		'r': one(func() (incident, error) { return l.director.bringBack(ctx) }),
		'R': func() outcome { return l.director.bringBackAll(ctx) },
	}[key]
	switch {
	case !ok:
	case l.acting:
		l.notice = "wait: the last key is still at work"
	default:
		l.acting, l.notice = true, "..."
		l.spawn(func() error {
			l.done <- act()
			return nil
		})
	}
}

func (l *live) finish(o outcome) {
	l.acting, l.notice = false, ""
	switch {
	case o.err != nil:
		l.notice = o.err.Error()
	case len(o.incidents) == 0:
		l.notice = "there is nothing left to do that to"
	}
	for _, i := range o.incidents {
		l.incidents = append(l.incidents, &happened{at: time.Since(l.scene.began), incident: i})
	}
	if over := len(l.incidents) - keptIncidents; over > 0 {
		l.incidents = l.incidents[over:]
	}
}

// one makes the outcome of an action that leads to one incident at most.
func one(act func() (incident, error)) func() outcome {
	return func() outcome {
		i, err := act()
		if i == nil {
			return outcome{err: err}
		}
		return outcome{incidents: []incident{i}, err: err}
	}
}

// bringBackAll starts everything that is down, the newest first.
func (d *director) bringBackAll(ctx context.Context) outcome {
	var o outcome
	for len(d.down) > 0 && o.err == nil {
		var i incident
		if i, o.err = d.bringBack(ctx); i != nil {
			o.incidents = append(o.incidents, i)
		}
	}
	return o
}
