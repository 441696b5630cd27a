package demo

import (
	"fmt"
	"strings"
	"time"

	"gslb.internal/integration/harness"
)

// handoverTime is the time for which the remaining nodes are watched after one was stopped.
const handoverTime = 2 * time.Second

// handover is the orderly end of an overwatch node: resolvers go on with the others.
type handover struct {
	scene *scene
	node  *harness.Node
	from  time.Time
}

func (h *handover) what() string { return "SIGTERM " + h.node.Name }

func (h *handover) measure() finding {
	var parts []string
	for _, n := range h.scene.running() {
		if n == h.node {
			continue
		}
		asked, failed, slow := 0, 0, time.Duration(0)
		for _, name := range []string{appName, apiName} {
			t := h.scene.watch.Tally(n, name, h.from)
			asked, failed, slow = asked+t.Asked, failed+t.Failed, max(slow, t.Slow)
		}
		parts = append(parts, fmt.Sprintf("%s answered %d of %d lookups, slowest %.1f ms",
			n.Name, asked-failed, asked, float64(slow.Microseconds())/1e3))
	}
	if len(parts) == 0 {
		return finding{text: "no overwatch node is left", settled: true}
	}
	f := finding{text: strings.Join(parts, ", "), settled: time.Since(h.from) > handoverTime || h.node.Running()}
	if f.settled && !h.node.Running() {
		f.broken = h.scene.noFailures(h.from)
	}
	return f
}

// comeback is an overwatch node that was started again.
type comeback struct {
	scene *scene
	node  *harness.Node
	from  time.Time
}

func (c *comeback) what() string { return c.node.Name + " started again" }

func (c *comeback) measure() finding {
	if !c.node.Running() {
		return finding{text: "ended again", settled: true, broken: fmt.Errorf("%s ended by itself", c.node.Name)}
	}
	var dns perNode
	first := c.firstGood()
	if first.IsZero() {
		dns.wait(c.node)
	} else {
		dns.add(c.node, first.Sub(c.from))
	}
	f := dns.finding("first good answer", dnsBackBound, c.from)
	if f.broken != nil || !f.settled {
		return f
	}
	var agents perNode
	if after, all := c.heardAll(); all {
		agents.add(c.node, after)
	} else {
		agents.wait(c.node)
	}
	g := agents.finding("every agent heard", agentsBound, c.from)
	g.text = f.text + "; " + g.text
	return g
}

// firstGood returns the time at which the node had given a good answer for each name, zero if it has not yet.
func (c *comeback) firstGood() time.Time {
	var latest time.Time
	for _, name := range []string{appName, apiName} {
		var first time.Time
		for _, a := range c.scene.watch.Since(c.node, name, c.from) {
			if a.Good() {
				first = a.At
				break
			}
		}
		if first.IsZero() {
			return time.Time{}
		}
		if first.After(latest) {
			latest = first
		}
	}
	return latest
}

// heardAll returns the time until the node had heard every running agent again, and whether it has.
func (c *comeback) heardAll() (time.Duration, bool) {
	p := c.scene.seen.of(c.node)
	var last time.Time
	for _, r := range c.scene.replicas {
		if r.agent == nil || !r.agent.Running() {
			continue
		}
		heard := p.of[r.At.Addr()].heard
		if !heard.After(c.from) {
			return 0, false
		}
		if heard.After(last) {
			last = heard
		}
	}
	return max(0, last.Sub(c.from)), true
}
