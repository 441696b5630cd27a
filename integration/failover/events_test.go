package failover_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// told is a stream of events of a node.
type told struct {
	t     *testing.T
	lines *bufio.Scanner
	id    string
}

// follow opens a stream after an event. An empty id means that the stream starts with the next event.
func follow(t *testing.T, n *harness.Node, id string) *told {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.Client.Node()+"/api/v1/events?kinds=backend,name,node",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if id != "" {
		req.Header.Set("Last-Event-ID", id)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %v, %v", answer, err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() && lines.Text() != "" { // the head, which is sent when the place in the journal is fixed
	}
	return &told{t, lines, id}
}

// until reads events until an event has the kind, subject and state, and returns this event.
func (s *told) until(kind api.EventKind, subject, state string) api.Event {
	s.t.Helper()
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch name {
		case "id":
			s.id = value
		case "event":
			s.t.Fatalf("%s: events of this node are not whole", value)
		case "data":
			var e api.Event
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				s.t.Fatalf("%v: %s", err, value)
			}
			if s.id != fmt.Sprint(e.Sequence) || e.Sentence == "" {
				s.t.Errorf("the message %s has the event %s", s.id, value)
			}
			if e.Kind == kind && e.Subject == subject && e.State == state {
				return e
			}
		}
	}
	s.t.Fatalf("no event says that %s %s is %s: %v", kind, subject, state, s.lines.Err())
	return api.Event{}
}

// A stream reports that a backend was killed, with the agent report and the own check, and the effect on its name. A
// client that loses its connection because the node is killed continues after its last event and misses no event. A
// state that began before the kill ends in the stream after the kill.
func TestEvents_AStreamTellsAKillAndGoesOnOverARestart(t *testing.T) {
	s := testbed.StartSite(t, 1, 1)
	n, victim := s.Nodes[0], s.Backends[0]
	subject := testbed.AppName + ":" + victim.At.String()
	s.Status(t, n, victim, testbed.StartBound, testbed.StatusIs(api.EffectiveHealthy, true))
	stream := follow(t, n, "")
	testbed.Kill(t, victim)
	e := stream.until(api.EventBackend, subject, "unhealthy")
	if e.Phase != api.PhaseBegins || e.Name != testbed.AppName || e.Agent == "" || e.Check == "" {
		t.Errorf("%+v", e)
	}
	if e = stream.until(api.EventName, testbed.AppName, "unanswered"); e.Severity != api.EventCritical {
		t.Errorf("%+v", e)
	}
	// A kill loses events that are not on disk yet. Their end would then not be an event.
	testbed.Until(t, testbed.StartBound, "all events to be stored", func(context.Context) error {
		if unstored := testbed.Metric(t, n, "gslb_events_unstored"); unstored > 0 {
			return fmt.Errorf("%v are not", unstored)
		}
		return nil
	})
	testbed.Kill(t, n)
	testbed.Start(t, n)
	s.Ready(t, n)
	stream = follow(t, n, stream.id)
	stream.until(api.EventNode, n.Name, "started")
	testbed.Start(t, victim)
	if e = stream.until(api.EventBackend, subject, "healthy"); e.Phase != api.PhaseEnds {
		t.Errorf("%+v", e)
	}
	stream.until(api.EventName, testbed.AppName, "answered")
	if _, err := n.Client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	testbed.Agree(t, n)
}
