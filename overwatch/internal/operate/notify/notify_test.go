package notify_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/operate/notify"
	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// These are short names of phases, and a long wait.
const (
	begins, ends = api.PhaseBegins, api.PhaseEnds
	long         = 10 * time.Minute
)

func TestNotifier_GroupsWhatIsOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.sees("b1", "unhealthy", begins)
		w.want(groupWait-time.Second, "")
		w.sees("b2", "stale", begins)
		w.nodes["a"].journal.Add(api.Event{Kind: api.EventStore, State: "failing", Severity: api.EventError, Subject: "disk"})
		w.want(time.Second, "b1 unhealthy, b2 stale")
		if m := w.message(); m.Cluster != "gslb" || m.Node != "a" || m.Key != "name a.example" || m.Severity != "warning" ||
			m.Test {
			t.Errorf("%+v", m)
		}
		w.want(groupWait, "disk failing")
		if w.message().Key != "store disk on a" || w.message().Severity != "error" {
			t.Errorf("%+v", w.message())
		}
		for i := range 60 {
			w.sees(fmt.Sprint("c", i), "unhealthy", begins)
		}
		e := event("a.example", "unanswered", begins)
		e.Kind, e.Severity = api.EventName, api.EventCritical
		w.nodes["a"].journal.Add(e)
		got := w.after(groupWait)
		if w.message().More != 11 || len(w.message().Events) != 50 || w.message().Severity != "critical" ||
			!strings.HasSuffix(got, "c48 unhealthy, a.example unanswered") {
			t.Errorf("%d more than %s", w.message().More, got)
		}
	})
}

// After the notification of a start, a target is also notified of the end, although ends are below its severity. The
// last end resolves the name.
func TestNotifier_TheEndPassesTheFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.sees("b0", "healthy", ends)
		w.sees("b1", "unhealthy", begins)
		w.sees("b2", "unhealthy", begins)
		w.want(groupWait, "b1 unhealthy, b2 unhealthy")
		w.sees("b1", "healthy", ends)
		w.want(groupWait, "b1 healthy")
		if w.message().Severity != "warning" {
			t.Errorf("while another is open: %s", w.message().Severity)
		}
		w.kill("a")
		w.start("a")
		w.sees("b2", "healthy", ends)
		w.want(groupWait, "b2 healthy; resolved")
		w.sees("b3", "unhealthy", begins)
		w.sees("b3", "healthy", ends)
		w.want(long, "")
		w.sees("b3", "healthy", ends)
		w.want(long, "")
	})
}

// An end is sent only if the target was notified of the start. This also holds if the target permanently rejected the
// start, or selects ends.
func TestNotifier_NoEndIsSentWithoutItsBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.answers(func(string) error { return errors.New("not now") })
		w.sees("b1", "unhealthy", begins)
		w.after(groupWait)
		w.sees("b1", "healthy", ends)
		w.after(time.Second)
		w.answers(func(string) error { return &send.Permanent{Err: errors.New("who are you")} })
		w.after(long)
		w.answers(nil)
		w.sees("b2", "unhealthy", begins)
		w.want(groupWait, "b2 unhealthy")
		w.sees("b3", "unhealthy", begins)
		w.sees("b3", "healthy", ends)
		w.sees("b2", "healthy", ends)
		w.want(groupWait, "b2 healthy; resolved")
		w.kill("a")
		all := aTarget()
		all.Name, all.Severity = "all", "info"
		w.start("a", all)
		w.sees("b4", "healthy", ends)
		w.want(long, "")
	})
}

func TestNotifier_OneOfThreeNodesTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		tellers := map[string]bool{}
		for i := range 20 {
			e := event(fmt.Sprint("b", i), "unhealthy", begins)
			e.Name = fmt.Sprint("n", i, ".example")
			for _, n := range w.nodes {
				n.journal.Add(e)
			}
			w.want(time.Minute, e.Subject+" unhealthy")
			tellers[w.message().Node] = true
			e.State, e.Phase, e.Severity = "healthy", ends, api.EventInfo
			for _, n := range w.nodes {
				n.journal.Add(e)
			}
			w.want(time.Minute, e.Subject+" healthy; resolved")
		}
		if len(tellers) != 3 {
			t.Errorf("only %v tell", tellers)
		}
		for name := range w.nodes {
			if s := w.status(name); s.Queued != 0 {
				t.Errorf("%s: %d events wait", name, s.Queued)
			}
		}
	})
}

// If nodes are down, exactly one other node sends the message.
func TestNotifier_AnotherNodeTellsWhenTheChosenOneIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, down := range []string{"a", "b", "c", "a b", "b c", "a c"} {
			w := newWorld(t, "a", "b", "c")
			for _, name := range strings.Fields(down) {
				w.kill(name)
			}
			w.sees("b1", "unhealthy", begins)
			w.want(time.Minute, "b1 unhealthy")
			for _, name := range strings.Fields(down) { // after a restart, they learn the sent messages
				w.start(name)
			}
			w.sees("b1", "healthy", ends)
			w.want(time.Minute, "b1 healthy; resolved")
		}
	})
}

// If the receiver rejects a node, another node sends the message, as if the first node were down. The events of a
// single node are also sent.
func TestNotifier_AnotherNodeTellsWhenTheReceiverRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		first := ""
		w.answers(func(node string) error {
			if first == "" || first == node {
				first = node
				return errors.New("no way")
			}
			return nil
		})
		w.sees("b1", "unhealthy", begins)
		w.want(time.Minute, "b1 unhealthy")
		if w.message().Node == first {
			t.Error("the wrong one")
		}
		w.want(long, "")
		w.answers(nil)
		for _, name := range []string{"a", "b", "c"} {
			w.sees("only "+name, "unhealthy", begins, name)
			w.want(time.Minute, "only "+name+" unhealthy")
		}
	})
}

func TestNotifier_ARestartLosesNothingAndRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.sees("b1", "unhealthy", begins)
		w.want(groupWait, "b1 unhealthy")
		w.sees("b2", "unhealthy", begins)
		w.want(time.Second, "")
		w.kill("a")
		w.nodes["a"].journal.Add(event("b3", "unhealthy", begins))
		w.want(long, "")
		w.start("a")
		w.want(time.Second, "b2 unhealthy, b3 unhealthy")
		w.answers(func(string) error { return errors.New("not now") })
		w.sees("b4", "unhealthy", begins)
		w.want(time.Minute, "")
		w.kill("a")
		w.answers(nil)
		w.start("a")
		w.want(0, "b4 unhealthy")
		w.kill("a")
		w.start("a")
		w.want(long, "")
	})
}

// A message has the same ID in all attempts, after a restart and on each node. Different messages have different IDs.
func TestNotifier_TheIDFollowsFromTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		ids := map[string]bool{}
		w.answers(func(string) error { return errors.New("not now") })
		w.sees("b1", "unhealthy", begins)
		w.want(time.Minute, "")
		w.answers(nil)
		w.kill("a")
		w.kill("b")
		for _, name := range []string{"a", "b"} { // the nodes cannot reach each other
			w.start(name)
			w.want(time.Minute, "b1 unhealthy")
			ids[w.message().ID] = true
			w.kill(name)
		}
		if len(ids) != 1 {
			t.Errorf("ids %v", ids)
		}
		w.start("a")
		w.sees("b1", "healthy", ends)
		w.after(time.Minute)
		w.sees("b1", "unhealthy", begins)
		w.want(time.Minute, "b1 unhealthy")
		if ids[w.message().ID] {
			t.Error("the second time has the id of the first")
		}
	})
}

func TestNotifier_WhatWaitsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.sees("b0", "unhealthy", begins)
		w.sees("b1", "unhealthy", begins)
		w.sees("b1", "stale", begins)
		for i := range 500 {
			w.sees(fmt.Sprint("c", i), "unhealthy", begins)
		}
		w.after(time.Second)
		if got := w.figures("a"); got != "queued 500 sent 0 failed 0 dropped 3" {
			t.Error(got)
		}
		got := w.after(groupWait)
		if !strings.HasPrefix(got, "c0 ") || w.message().More != 450 {
			t.Errorf("%d more than %s", w.message().More, got)
		}
	})
}

func TestNotifier_TriesAgainEverLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.answers(func(string) error { return errors.New("not now") })
		w.sees("b1", "unhealthy", begins)
		w.after(groupWait + 4*time.Minute)
		if trouble := w.nodes["a"].notifier.Trouble(); len(trouble) != 0 {
			t.Errorf("told early: %v", trouble)
		}
		w.after(time.Hour - 4*time.Minute)
		if w.attempts() < 15 || w.attempts() > 22 {
			t.Errorf("%d attempts in an hour", w.attempts())
		}
		s := w.status("a")
		trouble := w.nodes["a"].notifier.Trouble()["chat"]
		if s.LastError == nil || *s.LastError != "not now" || s.FailingSince == nil || !strings.HasSuffix(trouble,
			"not now") {
			t.Errorf("%+v %q", s, trouble)
		}
		w.sees("b2", "unhealthy", begins)
		w.answers(func(string) error { return &send.Later{RetryAfter: 40 * time.Minute, Err: errors.New("busy")} })
		w.after(long)
		w.answers(nil)
		w.want(29*time.Minute, "")
		w.want(long, "b1 unhealthy | b2 unhealthy")
		w.answers(func(string) error { return errors.New("not now") })
		w.sees("b1", "healthy", ends)
		w.after(time.Hour)
		w.answers(nil)
		if tests := w.nodes["a"].notifier.Test(t.Context(), ""); len(tests) != 1 || !tests[0].Sent {
			t.Errorf("%+v", tests)
		}
		w.want(0, "chat test | b1 healthy") // immediately
		if s := w.status("a"); s.LastError != nil || s.LastSent == nil || len(w.nodes["a"].notifier.Trouble()) != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestNotifier_WhatIsRefusedForGoodIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.answers(func(string) error { return &send.Permanent{Err: errors.New("who are you")} })
		w.sees("b1", "unhealthy", begins)
		w.after(groupWait)
		if got := w.figures("a"); got != "queued 0 sent 0 failed 1 dropped 1" || w.attempts() != 1 {
			t.Error(got, w.attempts())
		}
		if trouble := w.nodes["a"].notifier.Trouble()["chat"]; !strings.HasSuffix(trouble, "who are you") {
			t.Errorf("%q", trouble)
		}
		w.answers(nil)
		if tests := w.nodes["a"].notifier.Test(t.Context(), "chat"); len(tests) != 1 || !tests[0].Sent {
			t.Errorf("%+v", tests)
		}
		if m := w.message(); !m.Test || m.Cluster != "gslb" || len(w.nodes["a"].notifier.Trouble()) != 0 {
			t.Errorf("%+v", m)
		}
		w.after(0)
		w.sees("b1", "healthy", ends) // the target was not notified of the start
		w.want(long, "")
		w.sees("b2", "unhealthy", begins)
		w.want(groupWait, "b2 unhealthy")
	})
}

// Messages are sent even if the file is unwritable.
func TestNotifier_ADiskThatTakesNothingHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.kill("a")
		w.nodes["a"].path += "/nowhere"
		w.start("a")
		w.sees("b1", "unhealthy", begins)
		w.want(groupWait, "b1 unhealthy")
	})
}

// After a reload, a target of the same name has the same queue. A target of a new name receives new events.
func TestNotifier_AReloadKeepsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a")
		w.sees("b1", "unhealthy", begins)
		w.want(time.Second, "")
		changed, other := aTarget(), aTarget()
		changed.GroupWait, other.Name = 2*time.Second, "mail"
		w.nodes["a"].notifier.Reconfigure(notify.Settings{Cluster: "g2", Targets: []config.NotificationTarget{other,
			changed}})
		w.want(time.Second, "b1 unhealthy")
		if w.message().Cluster != "g2" {
			t.Errorf("%+v", w.message())
		}
		w.sees("b2", "unhealthy", begins)
		w.want(groupWait, "b2 unhealthy | b2 unhealthy")
		w.nodes["a"].notifier.Reconfigure(notify.Settings{})
		w.sees("b3", "unhealthy", begins)
		w.want(long, "")
		if status := w.nodes["a"].notifier.Status(); len(status) != 0 {
			t.Errorf("%+v", status)
		}
		if _, err := os.Stat(w.nodes["a"].path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without targets there is a file: %v", err)
		}
	})
}

// An event without an end is sent for each occurrence. Each node sends its own events.
func TestNotifier_WhatDoesNotLastIsToldEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		came := event("agent1", "came", api.PhaseOnce)
		came.Kind, came.Name = api.EventAgent, ""
		for range 2 {
			for _, n := range w.nodes {
				n.journal.Add(came)
			}
			w.want(time.Hour, "agent1 came")
		}
		first := w.message().Node
		w.kill(first)
		w.nodes[map[string]string{"a": "b", "b": "a"}[first]].journal.Add(came)
		w.want(time.Hour, "agent1 came")
		w.start(first)
		w.want(time.Minute, "")
		for kind, subject := range map[api.EventKind]string{api.EventStore: "store_fails", api.EventCertificate: "/f CN=x"} {
			e := event(subject, "failing", begins)
			e.Kind, e.Name = kind, ""
			for _, n := range w.nodes {
				n.journal.Add(e)
			}
			w.want(long, subject+" failing | "+subject+" failing")
		}
		e := event("eu-1", "ends_soon", begins)
		e.Kind, e.Name = api.EventCertificate, ""
		for _, n := range w.nodes {
			n.journal.Add(e)
		}
		w.want(long, "eu-1 ends_soon")
	})
}

// The other nodes do not wait for the subject of a node event, which has no such event.
func TestNotifier_SendsNodeEventsWithoutTheirSubject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c"}
		w := newWorld(t, names...)
		for _, subject := range names {
			others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == subject })
			e := api.Event{Kind: api.EventNode, State: "lost", Phase: begins, Severity: api.EventCritical, Subject: subject}
			for _, name := range others {
				w.nodes[name].journal.Add(e)
			}
			w.want(groupWait+time.Second, subject+" lost")
			e.State, e.Phase, e.Severity = "back", ends, api.EventInfo
			for _, name := range others {
				w.nodes[name].journal.Add(e)
			}
			w.want(groupWait+time.Second, subject+" back; resolved")
			w.want(time.Minute, "")
		}
	})
}

// A node of a higher rank sends no event before the node of rank 0, although an earlier event of the group is overdue.
func TestNotifier_SendsNoEventBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		for i := range 20 {
			begin := event(fmt.Sprint("b", i), "unhealthy", begins)
			begin.Name = fmt.Sprint("n", i, ".example")
			end, flaps := begin, begin
			end.State, end.Phase, end.Severity = "healthy", ends, api.EventInfo
			flaps.State = "flapping"
			for _, e := range []api.Event{begin, end, flaps} {
				for _, n := range w.nodes {
					n.journal.Add(e)
				}
				if early := w.after(groupWait - time.Second); strings.Contains(early, "flapping") {
					t.Errorf("received %q before the turn of the first node", early)
				}
			}
			w.want(time.Minute, fmt.Sprint("b", i, " flapping"))
		}
	})
}
