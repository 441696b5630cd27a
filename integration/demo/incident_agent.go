package demo

import (
	"fmt"
	"strings"
	"time"

	"gslb.internal/integration/harness"
)

// silence is the crash of an agent: its claims grow old, and the nodes' own checks keep its backend in the answers.
type silence struct {
	scene   *scene
	replica replica
	from    time.Time

	sinceStale map[*harness.Node]time.Duration // after how long a node called the backend stale
}

func (s *silence) what() string { return "kill -9 " + s.replica.agent.Name }

func (s *silence) measure() finding {
	if s.replica.agent.Running() {
		return finding{text: "brought back before it was measured", settled: true}
	}
	addr := s.replica.At.Addr()
	var times perNode
	kept := true
	for _, n := range s.scene.running() {
		p := s.scene.seen.of(n)
		if _, known := s.sinceStale[n]; !known && p.at.After(s.from) && strings.Contains(p.of[addr].status, "stale") {
			s.sinceStale[n] = p.at.Sub(s.from)
		}
		after, stale := s.sinceStale[n]
		if !stale {
			times.wait(n)
			continue
		}
		times.add(n, after)
		kept = kept && !s.scene.watch.FirstWith(n, appName, addr, s.from.Add(after+observeEvery)).IsZero()
	}
	f := times.finding("stale", s.scene.cluster.Timing.StaleThreshold+time.Second+observeEvery, s.from)
	if f.broken != nil || !f.settled {
		return f
	}
	switch overdue := time.Since(s.from) > times.slowest+hang; {
	case !s.replica.Running():
	case kept:
		f.text += fmt.Sprintf("; %s is still answered, the nodes see it well themselves", s.replica.Name)
	default:
		f.settled = overdue
		if overdue {
			f.broken = fmt.Errorf("%s left the answers although it is well", s.replica.Name)
		}
	}
	if err := s.scene.noFailures(s.from); err != nil && s.replica.Running() {
		f.broken = err
	}
	return f
}

// reunion is an agent that was started again.
type reunion struct {
	scene   *scene
	replica replica
	from    time.Time
}

func (r *reunion) what() string { return r.replica.agent.Name + " started again" }

func (r *reunion) measure() finding {
	var times perNode
	for _, n := range r.scene.running() {
		heard := r.scene.seen.of(n).of[r.replica.At.Addr()].heard
		if !heard.After(r.from) {
			times.wait(n)
			continue
		}
		times.add(n, heard.Sub(r.from))
	}
	return times.finding("heard with the same pin", agentBackBound, r.from)
}
