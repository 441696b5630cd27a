package notify_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/operate/notify"
	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

const groupWait = 10 * time.Second

// world contains nodes that are peers, and the receiver of their notifications.
type world struct {
	t     *testing.T
	nodes map[string]*node

	mu     sync.Mutex
	got    []string // events of each message
	last   send.Message
	asked  int // number of attempts
	answer func(node string) error
	taken  func(m send.Message, text string) // called for each accepted message; may be nil
	deaf   bool                              // nodes cannot reach each other
}

// node is a node of a world; notifier is nil while it is down.
type node struct {
	journal  *journal.Journal
	path     string
	notifier *notify.Notifier
	stop     func()
}

func newWorld(t *testing.T, nodes ...string) *world {
	w := &world{t: t, nodes: map[string]*node{}}
	for _, name := range nodes {
		path := filepath.Join(t.TempDir(), name)
		w.nodes[name] = &node{path: path, journal: journal.Open(journal.Options{Path: path + ".journal",
			Logger: zerolog.Nop()})}
	}
	for _, name := range nodes {
		w.start(name)
	}
	t.Cleanup(func() {
		for name := range w.nodes {
			w.kill(name)
		}
	})
	return w
}

func aTarget() config.NotificationTarget {
	return config.NotificationTarget{Name: "chat", Type: "webhook", Severity: "warning", GroupWait: groupWait}
}

func (w *world) start(name string, targets ...config.NotificationTarget) {
	n := w.nodes[name]
	if len(targets) == 0 {
		targets = []config.NotificationTarget{aTarget()}
	}
	notifier, err := notify.New(notify.Options{Node: name, Path: n.path, Journal: n.journal, Logger: zerolog.Nop(),
		Settings: notify.Settings{Cluster: "gslb", Targets: targets}, Peers: func() []notify.Peer { return w.peers(name) },
		Ask: w.ask, NewSender: func(c config.NotificationTarget) (send.Sender, error) {
			return sender{w, name}, nil
		}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	n.notifier = notifier
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = notifier.Run(ctx)
	}()
	n.stop = func() {
		cancel()
		<-ended
	}
}

func (w *world) kill(name string) {
	n := w.nodes[name]
	if n.notifier != nil {
		n.stop()
		w.mu.Lock()
		n.notifier = nil
		w.mu.Unlock()
	}
}

func (w *world) peers(self string) (list []notify.Peer) {
	for name := range w.nodes {
		if name != self { // peers do not notice the loss of a node immediately
			list = append(list, notify.Peer{Node: name})
		}
	}
	return list
}

func (w *world) ask(_ context.Context, peer notify.Peer, target, group string) (map[string]notify.Telling, error) {
	w.mu.Lock()
	n := w.nodes[peer.Node].notifier
	deaf := w.deaf
	w.mu.Unlock()
	if n == nil || deaf {
		return nil, errors.New("it is down")
	}
	return n.Told(target, group), nil
}

// message returns the last received message.
func (w *world) message() send.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// attempts returns the number of attempts to send.
func (w *world) attempts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// answers sets the function for the receiver's responses. If it is nil, the receiver accepts all messages.
func (w *world) answers(answer func(node string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

type sender struct {
	w    *world
	node string
}

func (s sender) Send(_ context.Context, m send.Message) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.asked++
	if s.w.answer != nil {
		if err := s.w.answer(s.node); err != nil {
			return err
		}
	}
	list := make([]string, len(m.Events))
	for i := range m.Events {
		list[i] = m.Events[i].Subject + " " + m.Events[i].State
	}
	text := strings.Join(list, ", ")
	if m.Resolved {
		text += "; resolved"
	}
	s.w.got, s.w.last = append(s.w.got, text), m
	if s.w.taken != nil {
		s.w.taken(m, text)
	}
	return nil
}

// sees adds an event of a backend of a.example to the journals of the given nodes, or of all nodes if none is given.
func (w *world) sees(subject, state string, phase api.Phase, nodes ...string) {
	for name, n := range w.nodes {
		if n.notifier != nil && (len(nodes) == 0 || slices.Contains(nodes, name)) {
			n.journal.Add(event(subject, state, phase))
		}
	}
}

func event(subject, state string, phase api.Phase) api.Event {
	e := api.Event{Kind: api.EventBackend, State: state, Phase: phase, Severity: api.EventWarning, Subject: subject,
		Name: "a.example"}
	if phase == api.PhaseEnds {
		e.Severity = api.EventInfo
	}
	return e
}

// after waits for a time, and returns the messages received during the wait.
func (w *world) after(d time.Duration) string {
	synctest.Wait() // all previous events are processed
	time.Sleep(d)   // virtual time
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	got := strings.Join(w.got, " | ")
	w.got = nil
	return got
}

func (w *world) want(d time.Duration, want string) {
	w.t.Helper()
	if got := w.after(d); got != want {
		w.t.Errorf("received %q, want %q", got, want)
	}
}

func (w *world) status(name string) api.NotificationTarget {
	return w.nodes[name].notifier.Status()[0]
}

func (w *world) figures(name string) string {
	s := w.status(name)
	return fmt.Sprintf("queued %d sent %d failed %d dropped %d", s.Queued, s.Sent, s.Failed, s.Dropped)
}
