package demo

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gslb.internal/integration/harness"
)

// quietAnswers is the number of answers in a row without a backend after which it counts as gone: four times as many as
// the smallest weight needs to have its turn.
const quietAnswers = 40

// hang is the time beyond a promise after which something is given up: only a program that hangs takes so long.
const hang = time.Minute

// timed is set by make bench-times, on a machine that has nothing else to do: times beyond a promise then break it.
var timed = os.Getenv("GSLB_TIMED") != ""

// The promises that are not made by the intervals of the cluster.
const (
	dnsBackBound   = time.Second      // a restarted node answers again
	agentBackBound = 3 * time.Second  // a restarted agent is believed again
	agentsBound    = 20 * time.Second // a restarted node is found again by agents that back off up to 15 s
)

// incident is an action on the scene and its effects on clients and nodes, which are measured. One goroutine uses it.
type incident interface {
	what() string
	// measure is called again and again until the finding is settled.
	measure() finding
}

// finding is the result of an incident as far as it has been measured.
type finding struct {
	text    string
	settled bool
	broken  error // the promise that was not kept; nil: none so far
}

// perNode collects one measured time per node.
type perNode struct {
	parts   []string
	open    bool // a node has no result yet
	slowest time.Duration
}

func (p *perNode) add(n *harness.Node, after time.Duration) {
	p.parts = append(p.parts, fmt.Sprintf("%s %s", n.Name, seconds(after)))
	p.slowest = max(p.slowest, after)
}

func (p *perNode) wait(n *harness.Node) {
	p.parts = append(p.parts, n.Name+" ...")
	p.open = true
}

// finding compares the times with the promise for what happened at from. A later time is named in the text, and breaks
// the promise where timed is set. A node without a time after bound and hang breaks it always.
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

// departure is the end of a backend.
type departure struct {
	scene   *scene
	replica replica
	from    time.Time
}

func (d *departure) what() string { return "kill -9 " + d.replica.Name }

func (d *departure) measure() finding {
	if d.replica.Running() {
		return finding{text: "brought back before it was measured", settled: true}
	}
	var times perNode
	for _, n := range d.scene.running() {
		var after time.Duration
		gone := true
		for _, name := range []string{appName, apiName} {
			last, quiet := d.scene.watch.LastWith(n, name, d.replica.At.Addr(), d.from)
			gone = gone && quiet >= quietAnswers
			if !last.IsZero() {
				after = max(after, last.Sub(d.from))
			}
		}
		if !gone {
			times.wait(n)
			continue
		}
		times.add(n, after)
	}
	return times.finding("last answer", d.replica.detection(d.scene.cluster.Timing), d.from)
}

// arrival is a backend that serves again.
type arrival struct {
	scene   *scene
	replica replica
	from    time.Time
}

func (a *arrival) what() string { return a.replica.Name + " serves again" }

func (a *arrival) measure() finding {
	var times perNode
	for _, n := range a.scene.running() {
		var after time.Duration
		everywhere := true
		for _, name := range []string{appName, apiName} {
			first := a.scene.watch.FirstWith(n, name, a.replica.At.Addr(), a.from)
			everywhere = everywhere && !first.IsZero()
			after = max(after, first.Sub(a.from))
		}
		if !everywhere {
			times.wait(n)
			continue
		}
		times.add(n, after)
	}
	return times.finding("first answer", a.scene.cluster.Timing.Recovery(), a.from)
}

// noFailures checks that running nodes gave a good answer to everything they were asked since.
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
