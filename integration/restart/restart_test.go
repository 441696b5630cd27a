package restart_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/attack"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// An overwatch node that crashed answers as before within one second after its restart. Every agent connects to it
// again automatically, with the same pin.
//
// Fault 10.
func TestOverwatchCrash_AnswersAsBeforeAndAgentsReturnByThemselves(t *testing.T) {
	s := testbed.StartSite(t, 2, 2)
	n, other := s.Nodes[0], s.Nodes[1]
	before := s.Pins(t, n)

	testbed.Saved()
	testbed.Kill(t, n)
	down := time.Now()
	testbed.Start(t, n)
	s.AnswersAgain(t, n, down)
	s.Ready(t, n)
	for i, b := range s.Backends {
		v := s.Status(t, n, b, testbed.ReconnectBound, func(v api.Backend) error {
			if v.AgentLastSeen == nil || !v.AgentLastSeen.After(down) {
				return fmt.Errorf("%s was not heard since the restart", s.Agents[i].Name)
			}
			return testbed.WantStatus(v, api.EffectiveHealthy, true)
		})
		t.Logf("%s heard %s after the start", v.AgentID, v.AgentLastSeen.Sub(down).Round(time.Millisecond))
	}
	if after := s.Pins(t, n); !maps.Equal(before, after) {
		t.Errorf("pins before the crash %v, after it %v", before, after)
	}
	s.NoFailures(t, other, s.Began)
}

// A backend whose agent stopped becomes stale, and the node's own checks keep the backend in the answers: the loss of
// an agent alone changes no answer (I7). The agent returns with the same pin.
//
// Fault 1: An agent is killed with SIGKILL. Its backends become stale after `stale.threshold`, and the own checks of
// the node decide. The agent returns within 3 s with the same pin.
func TestAgentCrash_BackendIsStaleAndValidationKeepsIt(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 2, 2)
	agent, b := s.Agents[0], s.Backends[0]
	before := s.Pins(t, s.Nodes[0])

	killed := testbed.Kill(t, agent)
	for _, n := range s.Nodes {
		s.Status(t, n, b, s.Timing.StaleThreshold+time.Second+testbed.StaleResolution,
			testbed.StatusIs(api.EffectiveStale, true))
		t.Logf("%s calls it stale %s after kill -9", n.Name, time.Since(killed).Round(time.Millisecond))
		s.Answered(t, n, b.At.Addr(), time.Now(), time.Second)
	}

	testbed.Start(t, agent)
	for _, n := range s.Nodes {
		s.Status(t, n, b, testbed.AgentBackBound, testbed.StatusIs(api.EffectiveHealthy, true))
		s.NoFailures(t, n, s.Began)
	}
	if after := s.Pins(t, s.Nodes[0]); !maps.Equal(before, after) {
		t.Errorf("pins before the crash %v, after it %v", before, after)
	}
}

// If the backend fails while its agent is stopped, the node's own checks alone remove it from the answers.
//
// Fault 1.
func TestAgentCrash_ValidationAloneTakesADeadBackendOut(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n, b := s.Nodes[0], s.Backends[0]
	testbed.Kill(t, s.Agents[0])
	s.Status(t, n, b, s.Timing.StaleThreshold+time.Second+testbed.StaleResolution,
		testbed.StatusIs(api.EffectiveStale, true))
	killed := testbed.Kill(t, b)
	s.Gone(t, n, b.At.Addr(), killed, s.Timing.OwnDetection())
	s.NoFailures(t, n, s.Began)
}

// A frozen agent has the same effect as a crashed agent. When it continues, its late messages change nothing. With
// GSLB_FULL, the agent is frozen for one minute.
//
// Fault 2: An agent is frozen and continues later. Its backends are stale and then healthy, without flapping.
func TestAgentFrozen_StaleThenHealthyWithoutAFlap(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n, b := s.Nodes[0], s.Backends[0]
	frozen := time.Now()
	testbed.Signal(t, s.Agents[0], syscall.SIGSTOP)
	s.Status(t, n, b, s.Timing.StaleThreshold+time.Second+testbed.StaleResolution,
		testbed.StatusIs(api.EffectiveStale, true))
	testbed.During(t, testbed.InFull(time.Minute, 0), testbed.StaleResolution, func() {
		s.Status(t, n, b, time.Second, testbed.StatusIs(api.EffectiveStale, true))
	})
	thawed := time.Now()
	testbed.Signal(t, s.Agents[0], syscall.SIGCONT)
	s.Status(t, n, b, testbed.AgentBackBound, testbed.StatusIs(api.EffectiveHealthy, true))
	t.Logf("frozen for %s, healthy %s after it went on", thawed.Sub(frozen).Round(time.Millisecond),
		time.Since(thawed).Round(time.Millisecond))
	s.HeardAlways(t, n, b, 2*s.Timing.Heartbeat)
	s.NoFailures(t, n, s.Began)
}

// An agent that stops sends a leave message, so that nodes do not wait for the stale threshold.
//
// Fault 37.
func TestAgentStop_SaysGoodbye(t *testing.T) {
	s := testbed.StartSite(t, 2, 2)
	b := s.Backends[0]
	asked := time.Now()
	testbed.Stop(t, s.Agents[0])
	for _, n := range s.Nodes {
		s.Gone(t, n, b.At.Addr(), asked, s.Timing.Detection())
		s.NoFailures(t, n, s.Began)
	}
}

// exitBound is the maximum time from SIGTERM to the end of a program (fault 37).
const exitBound = 5 * time.Second

// exits waits until a program has ended after its signal, in time and with exit code 0.
func exits(t *testing.T, s *testbed.Site, u *harness.Unit) {
	t.Helper()
	asked := time.Now()
	testbed.Ends(t, u, exitBound)
	t.Logf("%s ended within %s", u.Name, time.Since(asked).Round(time.Millisecond))
	testbed.Until(t, time.Second, "it to be told how "+u.Name+" ended", func(context.Context) error {
		for _, l := range s.Story.Tail("harness", 10) {
			if l.Text == u.Name+" ended: exit status 0" {
				return nil
			}
		}
		return fmt.Errorf("the story ends with %+v", s.Story.Tail("harness", 10))
	})
}

// A node that receives SIGTERM completes all pending requests and ends in time, even if other clients are connected and
// send nothing.
//
// Fault 37: Programs receive SIGTERM. No query is lost, and the programs end in time.
func TestNodeStop_FinishesWhatItWasAskedAndEndsInTime(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	attack.Crowd(t, n.DNS, 40, attack.Silent)
	attack.Crowd(t, n.DNS, 20, attack.Dripping(string([]byte{0, 40, 1, 2, 3, 4, 5, 6, 7}), 100*time.Millisecond))
	attack.Crowd(t, n.Gossip, 40, attack.Silent)
	attack.Crowd(t, n.Prom, 20, attack.Silent)
	attack.OnAPI(t, n.API, 60)
	body := `{"name":"` + testbed.CreatedName + `","regions":["eu"]}`
	client, err := net.Dial("tcp", n.API.String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := fmt.Fprintf(client,
		"POST /api/v1/domains HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: "+
			"100-continue\r\n\r\n", n.API, len(body)); err != nil {
		t.Fatal(err)
	}
	// The node has read the header of this request when it asks for the body. The signal must follow, because the node
	// closes connections whose requests have not arrived.
	if err := client.SetReadDeadline(time.Now().Add(testbed.Patience)); err != nil {
		t.Fatal(err)
	}
	heard := bufio.NewReader(client)
	if answer, err := http.ReadResponse(heard, nil); err != nil || answer.StatusCode != http.StatusContinue {
		t.Fatalf("the node did not ask for the body: %v, %v", answer, err)
	}
	_, _ = io.WriteString(client, body[:10]) // the answer tells
	asked := time.Now()
	testbed.Signal(t, n, syscall.SIGTERM)
	testbed.Until(t, time.Second, "the API to take no more connections", func(ctx context.Context) error {
		other, err := (&net.Dialer{}).DialContext(ctx, "tcp", n.API.String())
		if err == nil {
			_ = other.Close()
			return errors.New("it takes them")
		}
		return nil // refused, as it should be
	})
	_, _ = io.WriteString(client, body[10:])
	answer, err := http.ReadResponse(heard, nil)
	finished := err == nil && answer.StatusCode == http.StatusCreated
	if err == nil {
		_ = answer.Body.Close()
	}
	if !finished && time.Since(asked) < time.Second { // it has two seconds for all of this
		t.Errorf("a request that was under way: %v, %v", answer, err)
	}
	exits(t, s, n.Unit)
	for _, a := range s.Watch.Since(n, testbed.AppName, s.Began) {
		if a.At.Before(asked) && !a.Good() {
			t.Errorf("a lookup failed before the node was asked to end: %+v", a)
		}
	}
	testbed.Start(t, n)
	s.Ready(t, n)
	if _, err := n.Client.Domain(t.Context(), testbed.CreatedName); err != nil && finished {
		t.Errorf("what was acknowledged at the end: %v", err)
	}
}

// An agent also ends in time if a node hangs. This node detects the end of the agent by missing heartbeats. Nodes that
// receive the leave message react to it immediately.
//
// Fault 37.
func TestAgentStop_EndsInTimeThoughANodeHangs(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 2, 2)
	hangs, hears := s.Nodes[0], s.Nodes[1]
	testbed.Signal(t, hangs, syscall.SIGSTOP)
	asked := time.Now()
	testbed.Signal(t, s.Agents[0], syscall.SIGTERM)
	exits(t, s, s.Agents[0].Unit)
	s.Gone(t, hears, s.Backends[0].At.Addr(), asked, s.Timing.Detection())
	s.NoFailures(t, hears, s.Began)
	testbed.Signal(t, hangs, syscall.SIGCONT)
}
