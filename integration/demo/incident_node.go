package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/integration/harness"
)

// handoverTime is the time for which the demo observes the remaining nodes after the stop of a node.
const handoverTime = 2 * time.Second

// handover measures the orderly stop of an overwatch node: resolvers continue with the other nodes.
func (s *scene) handover(stopped *harness.Node, from time.Time) finding {
	var parts []string
	for _, n := range s.running() {
		if n == stopped {
			continue
		}
		asked, failed, slow := 0, 0, time.Duration(0)
		for _, name := range []string{appName, apiName} {
			t := s.watch.Tally(n, name, from)
			asked, failed, slow = asked+t.Asked, failed+t.Failed, max(slow, t.Slow)
		}
		parts = append(parts, fmt.Sprintf("%s answered %d of %d lookups, slowest %.1f ms",
			n.Name, asked-failed, asked, float64(slow.Microseconds())/1e3))
	}
	if len(parts) == 0 {
		return finding{text: "no overwatch node is left", settled: true}
	}
	f := finding{text: strings.Join(parts, ", "), settled: time.Since(from) > handoverTime || stopped.Running()}
	if f.settled && !stopped.Running() {
		f.broken = s.noFailures(from)
	}
	return f
}

// comeback measures the restart of an overwatch node.
func (s *scene) comeback(n *harness.Node, from time.Time) finding {
	if !n.Running() {
		return finding{text: "ended after the restart", settled: true, broken: fmt.Errorf("%s ended unexpectedly", n.Name)}
	}
	alone := []*harness.Node{n}
	dns := times(alone, func(*harness.Node) (time.Duration, bool) { return s.firstGood(n, from) })
	f := dns.finding("first good answer", dnsBackBound, from)
	if f.broken != nil || !f.settled {
		return f
	}
	agents := times(alone, func(*harness.Node) (time.Duration, bool) { return s.heardAll(n, from) })
	g := agents.finding("every agent reported", agentsBound, from)
	g.text = f.text + "; " + g.text
	return g
}

// firstGood returns the time until a node had returned a good answer for each name, and whether it has.
func (s *scene) firstGood(n *harness.Node, from time.Time) (latest time.Duration, all bool) {
	for _, name := range []string{appName, apiName} {
		answers := s.watch.Since(n, name, from)
		i := slices.IndexFunc(answers, harness.Answer.Good)
		if i < 0 {
			return 0, false
		}
		latest = max(latest, answers[i].At.Sub(from))
	}
	return latest, true
}

// heardAll returns the time until every running agent had reported to a node, and whether all agents have reported.
func (s *scene) heardAll(n *harness.Node, from time.Time) (last time.Duration, all bool) {
	p := s.seen.of(n)
	for _, r := range s.replicas {
		if r.agent == nil || !r.agent.Running() {
			continue
		}
		heard := p.of[r.At.Addr()].heard
		if !heard.After(from) {
			return 0, false
		}
		last = max(last, heard.Sub(from))
	}
	return last, true
}
