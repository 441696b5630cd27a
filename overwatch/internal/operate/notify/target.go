package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// target is a receiver of notifications. Only its goroutine, run, changes it. Other goroutines read it under mu.
type target struct {
	n      *Notifier
	c      config.NotificationTarget
	sender send.Sender // nil: creation failed, see problem
	stop   context.CancelFunc
	ended  chan struct{} // closed when run ends
	wake   chan struct{} // has an element while an immediate attempt is requested

	mu sync.Mutex
	kept
	failures int       // consecutive failures
	retry    time.Time // time of the next attempt
	problem  string    // error of the last attempt; empty: it succeeded
	failing  time.Time // start of the failures; zero: no failure
	refused  bool      // the last attempt failed permanently
	counts
}

// counts are totals since the start of the process.
type counts struct {
	sent    uint64 // messages
	failed  uint64 // attempts
	dropped uint64 // dropped events
}

// newTarget creates a target. It continues from the stored state of its name, or begins with the next event.
func (n *Notifier) newTarget(c config.NotificationTarget) *target {
	t := &target{n: n, c: c, wake: make(chan struct{}, 1)}
	var known bool
	if t.kept, known = n.kept[c.Name]; !known || t.Position > n.o.Journal.Newest() {
		t.Position = n.o.Journal.Newest()
	}
	if t.Told == nil {
		t.Told = tellings{}
	}
	t.Told.deleteOld(time.Now())
	sender, err := n.o.NewSender(c)
	if err != nil {
		n.o.Logger.Error().Err(err).Str("target", c.Name).Msg("a target of notifications cannot be used")
		t.problem, t.refused, t.failing = err.Error(), true, time.Now()
		return t
	}
	t.sender = sender
	return t
}

// start starts sending to the target until ctx ends or end is called. It does nothing if sending has started.
func (t *target) start(ctx context.Context) {
	if t.stop != nil || t.sender == nil {
		return
	}
	ctx, t.stop = context.WithCancel(ctx)
	t.ended = make(chan struct{})
	go func() {
		defer close(t.ended)
		t.run(ctx)
	}()
}

// stopSending stops sending to the target, and returns after the last attempt.
func (t *target) stopSending() {
	if t.stop != nil {
		t.stop()
		<-t.ended
	}
}

// selectsEvent reports whether the filters of the target select an event.
func (t *target) selectsEvent(e *api.Event) bool {
	return (len(t.c.Kinds) == 0 || slices.Contains(t.c.Kinds, string(e.Kind))) &&
		(len(t.c.Names) == 0 || slices.Contains(t.c.Names, e.Name)) &&
		e.Severity.Rank() >= api.EventSeverity(t.c.Severity).Rank()
}

// run sends to the target until ctx ends.
func (t *target) run(ctx context.Context) {
	for {
		changed := t.n.o.Journal.Changed()
		t.mu.Lock()
		taken := t.queueNewEvents()
		t.mu.Unlock()
		if taken {
			t.n.writer.mark()
		}
		var again <-chan time.Time
		if next := t.step(ctx); !next.IsZero() {
			again = time.After(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-t.wake:
		case <-again:
		}
	}
}

// step sends the next due message. It returns the time of its next call, or zero if the next event triggers the call.
func (t *target) step(ctx context.Context) time.Time {
	peers := t.n.o.Peers()
	ids := make([]string, len(peers))
	for i := range peers {
		ids[i] = peers[i].Node
	}
	now := time.Now()
	t.mu.Lock()
	t.dropIncludedEvents()
	group, own, at := t.first(ids)
	if t.Message != nil {
		group, own, at = t.Message.Group, t.Message.Own, now
	}
	if at.Before(t.retry) {
		at = t.retry
	}
	t.mu.Unlock()
	if group == "" {
		return time.Time{}
	}
	if at.After(now) {
		return at
	}
	if !own {
		for _, cause := range t.causes(group) {
			t.requestTellings(ctx, peers, cause)
		}
		t.requestTellings(ctx, peers, group)
	}
	if m := t.nextMessage(group, own); m != nil {
		t.n.writer.flush(ctx)
		t.recordOutcome(ctx, m, t.send(ctx, m.Message))
		t.n.writer.mark()
	}
	return now
}

// nextMessage returns the message to send, or nil if other nodes have sent all of it.
func (t *target) nextMessage(group string, own bool) *message {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Message == nil {
		t.dropIncludedEvents()
		t.Message = t.compose(group, own)
	} else if !own && t.Told.hasAllSent(group, t.n.o.Node, t.Message.Tells) {
		t.Message = nil
	}
	if t.Message == nil {
		t.n.writer.mark()
	}
	return t.Message
}

// requestTellings requests the tellings about a group from the peers.
func (t *target) requestTellings(ctx context.Context, peers []Peer, group string) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for _, p := range peers {
		asking.Go(func() {
			tells, err := t.n.o.Ask(ctx, p, t.c.Name, group)
			if err != nil { // at worst, two nodes send the message
				t.n.o.Logger.Debug().Err(err).Str("peer", p.Node).Msg("a peer does not say what it has notified")
				return
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			t.Told.addNewer(group, tells)
		})
	}
	asking.Wait()
}

func (t *target) send(ctx context.Context, m send.Message) error {
	ctx, cancel := context.WithTimeout(ctx, api.NotificationTimeout)
	defer cancel()
	settings, _ := t.n.current()
	m.Cluster = settings.Cluster
	return t.sender.Send(ctx, m)
}

// recordOutcome records the outcome of an attempt and, after a failure, the time of the next attempt.
func (t *target) recordOutcome(ctx context.Context, m *message, err error) {
	if err != nil && ctx.Err() != nil {
		return // the node is stopping or the target has changed: the message is retried later
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		for key, telling := range m.Tells {
			telling.At = now
			m.Tells[key] = telling
		}
		t.Told.addNewer(m.Group, m.Tells)
		t.Told.deleteOld(now)
		t.Message, t.sent, t.LastSent = nil, t.sent+1, now
		t.noteSuccess()
		return
	}
	if t.problem == "" {
		t.failing = now
		t.n.o.Logger.Warn().Str("target", t.c.Name).Str("reason", reason(err)).Msg("a notification could not be sent")
	}
	t.failed++
	t.problem = reason(err)
	if _, t.refused = errors.AsType[*send.Permanent](err); t.refused {
		t.dropped += uint64(len(m.Message.Events) + m.Message.More)
		t.Message, t.failures, t.retry = nil, 0, time.Time{}
		return
	}
	asked := time.Duration(0)
	if later, ok := errors.AsType[*send.Later](err); ok {
		asked = later.RetryAfter
	}
	t.failures++
	t.retry = now.Add(backoff(t.failures, asked))
}

// reason returns the text of an error of a target, at most 300 characters, because it may contain a server's response.
func reason(err error) string { return fmt.Sprintf("%.300s", err.Error()) }

// noteSuccess records that the target has accepted a message. The caller holds mu.
func (t *target) noteSuccess() {
	if t.problem != "" {
		t.n.o.Logger.Info().Str("target", t.c.Name).Msg("notifications are sent again")
	}
	t.failures, t.retry, t.problem, t.failing, t.refused = 0, time.Time{}, "", time.Time{}, false
}
