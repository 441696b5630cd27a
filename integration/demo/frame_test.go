package demo // inside: it uses finding, incidents and view

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gslb.internal/integration/harness"
)

// sample returns a complete view after some failures.
func sample() view {
	v := view{
		running: 62 * time.Second, timing: harness.Fast(),
		nodes: []string{"ow-eu", "ow-us"},
		hints: []string{"dig @127.0.0.1 -p 15353 app.demo.gslb.test +short",
			"curl http://127.0.0.1:18080/api/v1/overwatch/backends"},
	}
	for i, c := range cast {
		r := replicaView{name: c.name, addr: c.addr.String(), up: i != 0, agent: c.agent, agentUp: i == 1,
			heard: 400 * time.Millisecond}
		r.status, r.serves = []string{"healthy", "-"}, []bool{true, false}
		v.replicas = append(v.replicas, r)
	}
	v.replicas[0].status[0], v.replicas[0].serves[0] = "unhealthy", false
	v.replicas[0].reason = "the agent says so\x1b[2J and so does the node's own check"
	for _, name := range []string{appName, apiName} {
		v.names = append(v.names, nameView{name: name, policy: "weighted", now: []string{"127.0.1.1", "SERVFAIL"},
			due: []float64{0, .5, .3, .2}, got: []float64{1, .5, .3, .2}})
	}
	for i := range 2 * keptIncidents {
		v.incidents = append(v.incidents, &happened{at: time.Duration(i) * time.Second,
			incident: &incident{what: fmt.Sprintf("kill -9 eu-%d", i)}, finding: finding{text: "last answer: ow-eu 0.41s",
				settled: true}})
	}
	return v
}

func TestFrame_FitsEveryTerminal(t *testing.T) {
	v := sample()
	for _, height := range []int{1, 2, 10, 24, 25, 30, 40, 100} {
		for _, width := range []int{1, 20, 80, 200} {
			lines := frame(v, width, height)
			if len(lines) > height {
				t.Errorf("%d lines for a terminal of %d", len(lines), height)
			}
			for _, line := range lines {
				if n := ansi.StringWidth(line); n > width {
					t.Errorf("a line of %d columns for a terminal of %d: %q", n, width, line)
				}
			}
		}
	}
}

func TestFrame_AnOrdinaryTerminalShowsEverything(t *testing.T) {
	text := drawn(sample(), 80, 24)
	for _, want := range []string{
		"2 overwatch nodes, 3 agents, 4 backends", "agents 300ms", "heartbeat 1s, stale after 3s",
		"eu-1    127.0.1.1 down", "agent-eu-1 down", "unhealthy", "none, nodes check it",
		"app (weighted)", "api (weighted)", "SERVFAIL", "50.0% of  50%",
		"kill -9 eu-7: last answer: ow-eu 0.41s", "dig @127.0.0.1 -p 15353", "/api/v1/overwatch/backends", "k kill a backend",
		"q quit",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen does not show %q", want)
		}
	}
	if strings.Contains(text, "eu-3:") {
		t.Error("an old incident is on the screen")
	}
	if t.Failed() {
		t.Logf("the screen:\n%s", text)
	}
}

func TestFrame_TextsOfOthersCannotDriveTheTerminal(t *testing.T) {
	if text := drawn(sample(), 300, 40); strings.Contains(text, "\x1b[2J") ||
		!strings.Contains(text, "the agent says so [2J and") {
		t.Errorf("an escape sequence from a reason is on the screen:\n%q", text)
	}
}

func TestFrame_BrokenPromiseIsShownInPlaceOfTheFinding(t *testing.T) {
	v := sample()
	v.incidents = []*happened{{incident: &incident{what: "kill -9 eu-1"},
		finding: finding{text: "fine", settled: true, broken: errors.New("it took an hour")}}}
	if text := drawn(v, 80, 24); !strings.Contains(text, "promise broken: it took an hour") ||
		strings.Contains(text, "fine") {
		t.Errorf("the screen:\n%s", text)
	}
}

// drawn returns the text of a frame, without its styles.
func drawn(v view, width, height int) string {
	return ansi.Strip(strings.Join(frame(v, width, height), "\n"))
}

// A panic in another goroutine ends the view with an error, after the terminal is restored.
func TestLive_PanicBesideTheViewEndsIt(t *testing.T) {
	l := newLive(t.Context(), &scene{}, nil)
	var sent tea.Msg
	l.send = func(msg tea.Msg) { sent = msg }
	l.spawn(func() (tea.Msg, error) { panic("out of luck") })
	l.running.Wait()
	if _, cmd := l.Update(sent); cmd == nil || l.failure == nil || !strings.Contains(l.failure.Error(), "out of luck") {
		t.Errorf("the view ends with %v", l.failure)
	}
}
