package demo

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gslb.internal/integration/harness"
)

// quietAnswers is the number of consecutive answers without a backend that prove its removal: four times the length of
// the rotation for the smallest weight.
const quietAnswers = 40

// hang is the time after a documented maximum at which a wait is aborted: only a hanging program takes so long.
const hang = time.Minute

// timed is set by make bench-times, on an idle machine: a time beyond a documented maximum is then a failure.
var timed = os.Getenv("GSLB_TIMED") != ""

// Documented maximum times that do not depend on the intervals of the cluster.
const (
	dnsBackBound   = time.Second      // time until a restarted node answers
	agentBackBound = 3 * time.Second  // time until nodes accept reports of a restarted agent
	agentsBound    = 20 * time.Second // time until agents, which back off up to 15 s, find a restarted node
)

// incident is an action on the scene, with its measured effects on clients and nodes. One goroutine uses it.
type incident struct {
	what    string
	measure func() finding // called repeatedly until the finding is complete
}

// finding is the measured result of an incident.
type finding struct {
	text    string
	settled bool
	broken  error // the broken promise, or nil
}

// perNode has one measured time per node.
type perNode struct {
	parts   []string
	open    bool // a node has no result yet
	slowest time.Duration
}

// times contains measurements of nodes. It calls after for the time of each node. after returns false while the time is
// unknown.
func times(nodes []*harness.Node, after func(*harness.Node) (time.Duration, bool)) (p perNode) {
	for _, n := range nodes {
		took, known := after(n)
		if !known {
			p.parts, p.open = append(p.parts, n.Name+" ..."), true
			continue
		}
		p.parts = append(p.parts, fmt.Sprintf("%s %s", n.Name, seconds(took)))
		p.slowest = max(p.slowest, took)
	}
	return p
}

// finding compares the slowest time with bound, the documented maximum after the event at from. A longer time is a
// failure if timed is set, and otherwise only a remark in the text. A node without a time after bound and hang is
// always a failure.
func (p *perNode) finding(label string, bound time.Duration, from time.Time) finding {
	f := finding{text: fmt.Sprintf("%s: %s (promised %s)", label, strings.Join(p.parts, ", "), seconds(bound)),
		settled: !p.open}
	switch {
	case len(p.parts) == 0:
		f.text, f.settled = "no overwatch node is running", true
	case p.slowest > bound && timed:
		f.broken = fmt.Errorf("%s took %s, promised were %s", label, seconds(p.slowest), seconds(bound))
	case p.slowest > bound:
		f.text += ", which is late: has this machine something else to do?"
	case p.open && time.Since(from) > bound+hang:
		f.settled = true
		f.broken = fmt.Errorf("%s: nothing to see after %s, promised were %s", label, seconds(time.Since(from)),
			seconds(bound))
	}
	return f
}

// departure measures the end of a backend.
func (s *scene) departure(r replica, from time.Time) finding {
	if r.Running() {
		return finding{text: "brought back too early for a measurement", settled: true}
	}
	last := times(s.running(), func(n *harness.Node) (after time.Duration, gone bool) {
		for _, name := range []string{appName, apiName} {
			last, quiet := s.watch.LastWith(n, name, r.At.Addr(), from)
			if quiet < quietAnswers {
				return 0, false
			}
			after = max(after, last.Sub(from)) // a negative value if there was no answer
		}
		return after, true
	})
	return last.finding("last answer", r.detection(s.cluster.Timing), from)
}

// arrival measures the return of a backend to the answers.
func (s *scene) arrival(r replica, from time.Time) finding {
	first := times(s.running(), func(n *harness.Node) (after time.Duration, everywhere bool) {
		for _, name := range []string{appName, apiName} {
			first := s.watch.FirstWith(n, name, r.At.Addr(), from)
			if first.IsZero() {
				return 0, false
			}
			after = max(after, first.Sub(from))
		}
		return after, true
	})
	return first.finding("first answer", s.cluster.Timing.Recovery(), from)
}

// noFailures checks that running nodes returned a good answer to every query since from.
func (s *scene) noFailures(from time.Time) error {
	var errs []error
	for _, n := range s.running() {
		for _, name := range []string{appName, apiName} {
			all, failed := s.watch.Since(n, name, from), 0
			for _, a := range all {
				if !a.Good() && !a.Asked().Before(from) {
					failed++
				}
			}
			if failed > 0 {
				errs = append(errs, fmt.Errorf("%s failed %d of %d lookups of %s", n.Name, failed, len(all), name))
			}
		}
	}
	return errors.Join(errs...)
}

// running lists the overwatch nodes that run.
func (s *scene) running() []*harness.Node {
	var up []*harness.Node
	for _, n := range s.nodes {
		if n.Running() {
			up = append(up, n)
		}
	}
	return up
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.2fs", d.Seconds())
}
