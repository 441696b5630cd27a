package notify_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/shared/api"
)

// seen is an event and the time at which nodes record it.
type seen struct {
	at    time.Duration
	nodes string // separated by commas; empty: all
	what  string // "<kind> <subject> <state> <phase>"
}

// situation is a fault and its events on three nodes.
type situation struct {
	name string
	sees []seen
	// change is called at changeAt: a node ends, or the response of the receiver changes.
	change   func(w *world)
	changeAt time.Duration
	deaf     bool   // the nodes cannot reach each other
	want     string // deliveries by id, separated by " | "
}

// matrixEvent returns the event of a text. Backends b1 to b3 are in region eu and belong to agent eu-1 and one name
// each.
func matrixEvent(text string) api.Event {
	words := strings.Fields(text)
	e := api.Event{Kind: api.EventKind(words[0]), Subject: words[1], State: words[2], Phase: api.Phase(words[3]),
		Severity: api.EventWarning, Sentence: text}
	switch e.Kind {
	case api.EventBackend:
		e.Region, e.AgentID, e.Name = "eu", "eu-1", e.Subject+".example"
	case api.EventName:
		e.Name = e.Subject
	case api.EventAgent, api.EventRegion:
		e.Region = "eu"
	}
	if e.Phase == api.PhaseEnds {
		e.Severity = api.EventInfo
	}
	return e
}

const sec = time.Second

// situations returns the fault matrix.
func situations() []situation {
	down, up := "backend b1 unhealthy begins", "backend b1 healthy ends"
	lost, back := "region eu lost begins", "region eu back ends"
	silent, heard := "agent eu-1 silent begins", "agent eu-1 back ends"
	all := func(at time.Duration, texts ...string) (list []seen) {
		for _, text := range texts {
			list = append(list, seen{at, "", text})
		}
		return list
	}
	die := func(w *world) { w.kill("a") }
	return []situation{
		{name: "a backend stops serving", sees: all(0, down), want: "b1 unhealthy"},
		{name: "one node sees it 3 s later", sees: []seen{{0, "a,b", down}, {3 * sec, "c", down}}, want: "b1 unhealthy"},
		{name: "one node sees it after it was told", sees: []seen{{0, "a,b", down}, {40 * sec, "c", down}},
			want: "b1 unhealthy"},
		{name: "only one node sees it", sees: []seen{{0, "c", down}}, want: "b1 unhealthy"},
		{name: "a backend stops and starts", sees: append(all(0, down), all(60*sec, up)...),
			want: "b1 unhealthy | b1 healthy; resolved"},
		{name: "one node sees stop and start late", sees: append(append(
			[]seen{{0, "a,b", down}, {30 * sec, "a,b", up}}, seen{50 * sec, "c", down}), seen{80 * sec, "c", up}),
			want: "b1 unhealthy | b1 healthy; resolved"},
		{name: "it stops and starts within the wait", sees: append(all(0, down), all(5*sec, up)...), want: ""},
		{name: "a hold begins after the first backend stops", sees: append(all(0, down), all(1*sec,
			"brake eu begun begins", up)...), want: "eu begun"},
		{name: "a backend of a refused agent stops", sees: append(all(0, "agent eu-1 refused begins"),
			all(40*sec, down)...), want: "eu-1 refused | b1 unhealthy"},
		{name: "a region is lost", sees: all(0, down, "backend b2 unhealthy begins", "backend b3 unhealthy begins", lost),
			want: "eu lost"},
		{name: "the backends stop in another order on each node", sees: []seen{{0, "a", down},
			{1 * sec, "b", "backend b2 unhealthy begins"}, {2 * sec, "c", "backend b3 unhealthy begins"},
			{3 * sec, "", lost}, {4 * sec, "a,b", "backend b3 unhealthy begins"},
			{5 * sec, "a,c", "backend b2 unhealthy begins"}, {6 * sec, "b,c", down}}, want: "eu lost"},
		{name: "one node sees only a backend of the lost region", sees: []seen{{0, "a,b", lost}, {15 * sec, "c", down}},
			want: "eu lost"},
		{name: "a backend of the region stops after it was told", sees: append(all(0, down, lost),
			all(40*sec, "backend b2 unhealthy begins")...), want: "eu lost"},
		{name: "a region is lost and comes back", sees: append(all(0, down, lost), all(60*sec, up, back)...),
			want: "eu lost | eu back; resolved"},
		{name: "a region comes back in steps", sees: append(append(all(0, down, lost),
			all(60*sec, "region eu partly_back begins", up)...), all(65*sec, back)...),
			want: "eu lost | eu partly_back, eu back; resolved"},
		{name: "a region comes back without one backend", sees: append(all(0, down, lost), all(60*sec, back, down)...),
			want: "eu lost | eu back; resolved | b1 unhealthy"},
		{name: "a backend that was told of is repeated", sees: append(all(0, down), all(60*sec, down)...),
			want: "b1 unhealthy"},
		{name: "an agent is frozen", sees: all(0, silent), want: "eu-1 silent"},
		{name: "an agent is lost with its backends", sees: append(all(0, silent),
			all(3*sec, down, "agent eu-1 lost begins")...), want: "eu-1 silent, eu-1 lost"},
		{name: "an agent is lost, and then its region", sees: append(all(0, silent), all(3*sec, down, lost)...),
			want: "eu lost"},
		{name: "an agent comes back", sees: append(all(0, silent), all(60*sec, heard)...),
			want: "eu-1 silent | eu-1 back; resolved"},
		{name: "a name is unanswered", sees: []seen{{0, "a,b", "name a.example unanswered begins"},
			{1 * sec, "c", "name a.example unanswered begins"}}, want: "a.example unanswered"},
		{name: "a node ends before it tells", sees: all(0, down), change: die, changeAt: 2 * sec, want: "b1 unhealthy"},
		{name: "the receiver refuses for a while", sees: all(0, down), change: func(w *world) { w.answers(nil) },
			changeAt: 40 * sec, want: "b1 unhealthy"},
		{name: "the nodes do not hear one another", sees: append(all(0, lost), all(60*sec, back)...), deaf: true,
			want: "eu lost | eu back; resolved"},
	}
}

// In each situation of the fault matrix, the receiver gets one new message for each change. All other deliveries repeat
// a known ID.
func TestMatrix_NodesDeliverEachChangeOnce(t *testing.T) {
	if n := len(situations()); n < 20 {
		t.Fatalf("%d situations", n)
	}
	for _, s := range situations() {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "a", "b", "c")
				w.deaf = s.deaf
				var got []string
				ids := map[string]bool{}
				w.taken = func(m send.Message, text string) {
					if !ids[m.ID] {
						got = append(got, text)
					} else if !s.deaf {
						t.Errorf("%q came twice", text)
					}
					ids[m.ID] = true
				}
				if s.name == "the receiver refuses for a while" {
					w.answers(func(string) error { return errors.New("not now") })
				}
				w.play(s)
				if text := strings.Join(got, " | "); text != s.want {
					t.Errorf("received %q, want %q", text, s.want)
				}
			})
		})
	}
}

// play adds the events of a situation to the nodes, and returns when all queues are empty.
func (w *world) play(s situation) {
	steps := map[time.Duration]func(){}
	add := func(at time.Duration, do func()) {
		before := steps[at]
		steps[at] = func() {
			if before != nil {
				before()
			}
			do()
		}
	}
	for _, one := range s.sees {
		add(one.at, func() {
			for _, name := range []string{"a", "b", "c"} {
				if w.nodes[name].notifier != nil && (one.nodes == "" || strings.Contains(one.nodes, name)) {
					w.nodes[name].journal.Add(matrixEvent(one.what))
				}
			}
		})
	}
	if s.change != nil {
		add(s.changeAt, func() { s.change(w) })
	}
	var times []time.Duration
	for at := range steps {
		times = append(times, at)
	}
	slices.Sort(times)
	now := time.Duration(0)
	for _, at := range times {
		w.after(at - now)
		now = at
		steps[at]()
	}
	w.after(10 * time.Minute)
	if fmt.Sprint(w.status("b").Queued) != "0" {
		w.t.Errorf("%d events wait", w.status("b").Queued)
	}
}
