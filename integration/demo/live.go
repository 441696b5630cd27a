package demo

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// redrawInterval is the interval at which the screen is drawn and running measurements are updated.
const redrawInterval = 200 * time.Millisecond

// live is the view with keys, for Bubble Tea. Actions run in separate goroutines, one at a time, so that the screen
// stays responsive while a program ends.
type live struct {
	ctx      context.Context //nolint:containedctx // Bubble Tea's methods get no context.
	scene    *scene
	hints    func() []string // at each drawing, since they depend on the running programs
	director *director
	send     func(tea.Msg)  // passes a message to Update; drops it after the end of the view
	running  sync.WaitGroup // of spawn

	width, height int
	acting        bool
	notice        string
	incidents     []*happened
	failure       error // ended the view
}

// happened is an incident on the screen.
type happened struct {
	*incident

	at      time.Duration // since the start of the demo
	finding finding
}

// outcome is the result of an action. Without incidents and error, the action had no effect.
type outcome struct {
	incidents []*incident
	err       error
}

// failed is the message about the failure of a goroutine outside the view.
type failed struct{ err error }

// redraw is the message that requests a new frame.
type redraw struct{}

func newLive(ctx context.Context, s *scene, hints func() []string) *live {
	return &live{ctx: ctx, scene: s, hints: hints, director: &director{scene: s}, width: 80, height: 24}
}

// watchLive shows the view until q, Ctrl-C or the end of ctx. It restores the terminal before it returns, even after a
// panic.
func (s *scene) watchLive(ctx context.Context, o Options, hints func() []string) error {
	inner, cancel := context.WithCancel(ctx)
	l := newLive(inner, s, hints)
	defer l.running.Wait()
	defer cancel()
	program := tea.NewProgram(l, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, program.Quit)()
	l.send = program.Send
	l.spawn(func() (tea.Msg, error) {
		s.observe(inner)
		return nil, nil
	})
	_, err := program.Run()
	return errors.Join(l.failure, err)
}

// spawn runs f in a goroutine and passes its message, unless it is nil, to Update. An error or a panic of f ends the
// view.
func (l *live) spawn(f func() (tea.Msg, error)) {
	l.running.Go(func() {
		defer func() {
			if reason := recover(); reason != nil {
				l.send(failed{fmt.Errorf("panic: %v\n%s", reason, debug.Stack())})
			}
		}()
		msg, err := f()
		if err != nil {
			msg = failed{err}
		}
		if msg != nil {
			l.send(msg)
		}
	})
}

// Init starts the clock of the screen.
func (l *live) Init() tea.Cmd {
	return tea.Tick(redrawInterval, func(time.Time) tea.Msg { return redraw{} })
}

// Update applies a message.
func (l *live) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 {
			l.width, l.height = msg.Width, msg.Height
		}
	case tea.KeyPressMsg:
		if key := msg.String(); key == "q" || key == "ctrl+c" {
			return l, tea.Quit
		}
		l.press(msg.String())
	case outcome:
		l.finish(msg)
	case failed:
		l.failure = msg.err
		return l, tea.Quit
	case redraw:
		return l, l.Init()
	}
	return l, nil
}

// View draws the scene as it is now.
func (l *live) View() tea.View {
	for _, h := range l.incidents {
		if !h.finding.settled {
			h.finding = h.measure()
		}
	}
	v := l.scene.collect(time.Now())
	v.hints, v.notice, v.incidents = l.hints(), l.notice, l.incidents
	drawn := tea.NewView(strings.Join(frame(v, l.width, l.height), "\n"))
	drawn.AltScreen = true
	return drawn
}

// press starts the action of a key.
func (l *live) press(key string) {
	act, ok := map[string]func() outcome{
		"k": one(l.director.killBackend),
		"a": one(l.director.killAgent),
		"o": one(l.director.stopNode),
		"r": one(func() (*incident, error) { return l.director.bringBack(l.ctx) }),
		"R": func() outcome { return l.director.bringBackAll(l.ctx) },
	}[key]
	switch {
	case !ok:
	case l.acting:
		l.notice = "wait: the last key is still at work"
	default:
		l.acting, l.notice = true, "..."
		l.spawn(func() (tea.Msg, error) { return act(), nil })
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

// one converts an action with at most one incident to an action with an outcome.
func one(act func() (*incident, error)) func() outcome {
	return func() outcome {
		i, err := act()
		if i == nil {
			return outcome{err: err}
		}
		return outcome{incidents: []*incident{i}, err: err}
	}
}

// bringBackAll restarts all ended programs, the last ended program first.
func (d *director) bringBackAll(ctx context.Context) outcome {
	var o outcome
	for len(d.down) > 0 && o.err == nil {
		var i *incident
		if i, o.err = d.bringBack(ctx); i != nil {
			o.incidents = append(o.incidents, i)
		}
	}
	return o
}
