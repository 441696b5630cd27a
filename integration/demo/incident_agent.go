package demo

import (
	"fmt"
	"strings"
	"time"

	"gslb.internal/integration/harness"
)

// silence measures the crash of an agent: its reports become stale, and the nodes' own checks keep its backend in the
// answers. called contains the time after which each node reported the backend as stale.
func (s *scene) silence(r replica, from time.Time, called map[*harness.Node]time.Duration) finding {
	if r.agent.Running() {
		return finding{text: "brought back too early for a measurement", settled: true}
	}
	addr := r.At.Addr()
	kept := true
	stale := times(s.running(), func(n *harness.Node) (time.Duration, bool) {
		p := s.seen.of(n)
		if _, known := called[n]; !known && p.at.After(from) && strings.Contains(p.of[addr].status, "stale") {
			called[n] = p.at.Sub(from)
		}
		after, known := called[n]
		if known {
			kept = kept && !s.watch.FirstWith(n, appName, addr, from.Add(after+observeEvery)).IsZero()
		}
		return after, known
	})
	f := stale.finding("stale", s.cluster.Timing.StaleThreshold+time.Second+observeEvery, from)
	if f.broken != nil || !f.settled {
		return f
	}
	switch overdue := time.Since(from) > stale.slowest+hang; {
	case !r.Running():
	case kept:
		f.text += fmt.Sprintf("; %s is still answered, the nodes see it well themselves", r.Name)
	default:
		f.settled = overdue
		if overdue {
			f.broken = fmt.Errorf("%s left the answers although it is well", r.Name)
		}
	}
	if err := s.noFailures(from); err != nil && r.Running() {
		f.broken = err
	}
	return f
}

// reunion measures the restart of an agent.
func (s *scene) reunion(r replica, from time.Time) finding {
	heard := times(s.running(), func(n *harness.Node) (time.Duration, bool) {
		heard := s.seen.of(n).of[r.At.Addr()].heard
		return heard.Sub(from), heard.After(from)
	})
	return heard.finding("reported with the same pin", agentBackBound, from)
}
