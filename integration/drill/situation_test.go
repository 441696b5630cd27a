package drill_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// situation is a row of the drill: its start, its end, and the conditions, events and messages of the nodes.
type situation struct {
	name       string
	prepare    func(t *testing.T) // before the messages and events count; nil: nothing
	begin, end func(t *testing.T)
	nodes      []*harness.Node // that see it; nil: all
	condition  api.ConditionKind
	subjects   []string // of the condition and the event; more than one only where each backend has an order
	event      api.EventKind
	begun      string            // the state of the event
	over       string            // the state of the event that ends it
	bound      time.Duration     // until status, events and notifications name it; 0: namedBound
	early      api.ConditionKind // further condition, which may begin before
	lasts      time.Duration     // documented time for which it lasts after end
	// beside selects the additional events, conditions and notifications of the situation; nil: none.
	beside func(kind api.EventKind, subject string) bool
}

// namedBound is the promised time until status, events and notifications report a situation, and until they report its
// end.
const namedBound = 10 * time.Second

// about reports whether an event names the situation.
func (s *situation) about(e *api.Event) bool {
	return e.Kind == s.event && slices.Contains(s.subjects, e.Subject)
}

func (s *situation) mayHave(e *api.Event) bool {
	return s.about(e) || s.beside != nil && s.beside(e.Kind, e.Subject)
}

// mark is the latest event of each node and the time at the start of a situation.
type mark struct {
	at     time.Time
	newest map[*harness.Node]uint64
}

func (w *week) mark(t *testing.T) mark {
	t.Helper()
	m := mark{at: time.Now(), newest: map[*harness.Node]uint64{}}
	for _, n := range w.Nodes {
		list, err := n.Client.Events(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		m.newest[n] = list.Newest
	}
	return m
}

// play starts and ends a situation. It checks that each node reports it with one condition and one event, that the
// on-call operators receive one message about its start and one about its end, and that there are no other reports.
func (w *week) play(t *testing.T, s situation) {
	if s.nodes == nil {
		s.nodes = w.Nodes
	}
	if s.bound == 0 {
		s.bound = namedBound
	}
	if s.prepare != nil {
		s.prepare(t)
	}
	m := w.mark(t)
	s.begin(t)
	began := time.Now()
	w.await(t, m, s.bound, "its name", func(ctx context.Context) error {
		return errors.Join(w.conditionsAre(ctx, &s), w.eventsAre(ctx, m, &s, s.begun), w.messagesAre(m, &s, begins, s.begun))
	})
	named := time.Now()
	s.end(t)
	ended := time.Now()
	w.await(t, m, s.lasts+namedBound, "its end", func(ctx context.Context) error {
		return errors.Join(w.noConditions(ctx), w.eventsAre(ctx, m, &s, s.over), w.messagesAre(m, &s, ends, s.over))
	})
	t.Logf("named after %s, ended after %s", named.Sub(began).Round(time.Millisecond),
		time.Since(ended).Round(time.Millisecond))
	w.judge(t, m, &s)
}

// lateBound is the additional time before a wait is aborted. A busy machine is late by less.
const lateBound = 20 * time.Second

// await is testbed.Until with lateBound. It logs the messages and events since a mark before it fails.
func (w *week) await(t *testing.T, m mark, bound time.Duration, what string, cond func(context.Context) error) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), bound+lateBound)
	defer cancel()
	if err := harness.Until(ctx, what, cond); err != nil {
		w.logNamed(t, m)
		t.Fatal(err)
	}
	testbed.InTime(t, what, bound, began, time.Now())
}

// logNamed logs the messages and the events since a mark.
func (w *week) logNamed(t *testing.T, m mark) {
	t.Helper()
	for _, one := range w.hook.since(m.at) {
		for _, e := range one.Data.Events {
			t.Logf("%s: message %s of %s: %s: %s %s %q %s", one.at.Format(time.TimeOnly), one.Data.ID, one.Data.Node, one.Type,
				e.Kind, e.State, e.Subject, e.Time.Format(time.TimeOnly))
		}
	}
	for _, n := range w.Nodes {
		list, err := m.since(t.Context(), n)
		for _, e := range list {
			t.Logf("%s: event of %s: %s %s %q: %s", e.Time.Format(time.TimeOnly), n.Name, e.Kind, e.State, e.Subject, e.Sentence)
		}
		if err != nil {
			t.Log(err)
		}
	}
}

// conditionsAre returns nil if each node that sees the situation has its conditions, and no node has others.
func (w *week) conditionsAre(ctx context.Context, s *situation) (err error) {
	for _, n := range w.Nodes {
		list, listErr := n.Client.Conditions(ctx)
		if listErr != nil {
			return listErr
		}
		var subjects []string
		for _, c := range list.Conditions {
			if c.Kind == s.condition && slices.Contains(s.subjects, c.Subject) {
				subjects = append(subjects, c.Subject)
			} else if c.Kind != s.early && (s.beside == nil || !s.beside(s.event, c.Subject)) {
				err = errors.Join(err, fmt.Errorf("%s has the condition %s %q: %s", n.Name, c.Kind, c.Subject, c.Sentence))
			}
		}
		want := len(s.subjects)
		if !slices.Contains(s.nodes, n) {
			want = 0
		}
		if len(subjects) != want {
			err = errors.Join(err, fmt.Errorf("%s has %d conditions %s, want %d", n.Name, len(subjects), s.condition, want))
		}
	}
	return err
}

func (w *week) noConditions(ctx context.Context) (err error) {
	for _, n := range w.Nodes {
		list, listErr := n.Client.Conditions(ctx)
		if err = errors.Join(err, listErr); len(list.Conditions) > 0 {
			err = errors.Join(err, fmt.Errorf("%s: %+v", n.Name, list.Conditions))
		}
	}
	return err
}

// since lists the events of a node after a mark.
func (m *mark) since(ctx context.Context, n *harness.Node) ([]api.Event, error) {
	list, err := n.Client.Events(ctx, url.Values{"after": {strconv.FormatUint(m.newest[n], 10)}, "limit": {"1000"}})
	return list.Events, err
}

// eventsAre returns nil if each node that sees the situation has one event with the state for each subject.
func (w *week) eventsAre(ctx context.Context, m mark, s *situation, state string) (err error) {
	for _, n := range s.nodes {
		list, listErr := m.since(ctx, n)
		if listErr != nil {
			return listErr
		}
		count := 0
		for _, e := range list {
			if s.about(&e) && e.State == state {
				count++
			}
		}
		if count != len(s.subjects) {
			err = errors.Join(err, fmt.Errorf("%s has %d events %s %s of %q", n.Name, count, s.event, state, s.subjects))
		}
	}
	return err
}

// The types of messages. A message about an end may also list the start.
const begins, ends = "gslb.event", "gslb.resolved"

// messagesAre returns nil if each subject has had one message of a type with the state.
func (w *week) messagesAre(m mark, s *situation, messages, state string) (err error) {
	told := map[string]int{}
	for _, one := range w.hook.since(m.at) {
		for _, e := range one.Data.Events {
			if s.about(&e) && e.State == state && one.Type == messages {
				told[e.Subject]++
			}
		}
	}
	for _, subject := range s.subjects {
		if told[subject] != 1 {
			err = errors.Join(err, fmt.Errorf("%d messages %s have %s %s of %q", told[subject], messages, s.event,
				state, subject))
		}
	}
	return err
}

// judge checks the messages, events and answers since a mark: no message arrived twice, each message and event belongs
// to the situation, and all answers were good.
func (w *week) judge(t *testing.T, m mark, s *situation) {
	t.Helper()
	ids := map[string]bool{}
	for _, one := range w.hook.since(m.at) {
		if ids[one.Data.ID] {
			t.Errorf("the message %s came twice: %+v", one.Data.ID, one.Data.Events)
		}
		ids[one.Data.ID] = true
		for _, e := range one.Data.Events {
			if !s.mayHave(&e) {
				t.Errorf("%s sent %s: %s %s %q: %s", one.Data.Node, one.Type, e.Kind, e.State, e.Subject, e.Sentence)
			}
		}
	}
	for _, n := range w.Nodes {
		list, err := m.since(t.Context(), n)
		if err != nil {
			t.Error(err)
		}
		for _, e := range list {
			if e.Phase == api.PhaseBegins && !s.mayHave(&e) {
				t.Errorf("%s has the event %s %s %q: %s", n.Name, e.Kind, e.State, e.Subject, e.Sentence)
			}
		}
	}
	if err := errors.Join(w.eventsAre(t.Context(), m, s, s.begun), w.eventsAre(t.Context(), m, s, s.over),
		w.messagesAre(m, s, begins, s.begun), w.messagesAre(m, s, ends, s.over)); err != nil {
		t.Errorf("after its end: %v", err)
	}
	w.probe.judge(t)
	if t.Failed() {
		w.logNamed(t, m)
	}
}
