package demo

import (
	"net/netip"
	"time"

	"gslb.internal/integration/harness"
)

// window is the time over which answers are counted on the screen.
const window = 5 * time.Second

// view is the complete content of a frame. collect creates it, and frame draws it without other input.
type view struct {
	running   time.Duration
	timing    harness.Timing
	nodes     []string // their names
	replicas  []replicaView
	names     []nameView
	incidents []*happened // oldest first
	hints     []string
	notice    string // effect of the last key
}

type replicaView struct {
	name, addr string
	up         bool
	agent      string // empty: none
	agentUp    bool
	heard      time.Duration // since the last report of the agent; negative without a report
	status     []string      // per node
	serves     []bool        // per node
	reason     string        // reason of the first node without a healthy status
}

type nameView struct {
	name, policy string
	now          []string  // latest answer by node
	due, got     []float64 // expected and actual share by replica, 0 to 1, in the window
}

func (s *scene) collect(now time.Time) view {
	v := view{running: now.Sub(s.began), timing: s.cluster.Timing}
	for _, n := range s.nodes {
		v.nodes = append(v.nodes, n.Name)
	}
	for _, r := range s.replicas {
		v.replicas = append(v.replicas, s.viewReplica(r, now))
	}
	v.names = []nameView{
		s.viewName(appName, "weighted", now, func(r replica) int { return r.weight }),
		s.viewName(apiName, "round-robin", now, func(replica) int { return 1 }),
	}
	return v
}

func (s *scene) viewReplica(r replica, now time.Time) replicaView {
	v := replicaView{name: r.Name, addr: r.At.Addr().String(), up: r.Running(), heard: -1}
	if r.agent != nil {
		v.agent, v.agentUp = r.agent.Name, r.agent.Running()
	}
	for _, n := range s.nodes {
		o := s.seen.of(n).of[r.At.Addr()]
		switch {
		case !n.Running():
			o.status = "-"
		case o.status == "":
			o.status = "?"
		case o.status != "healthy" && v.reason == "":
			v.reason = o.reason
		}
		if !o.heard.IsZero() && (v.heard < 0 || now.Sub(o.heard) < v.heard) {
			v.heard = max(0, now.Sub(o.heard))
		}
		v.status, v.serves = append(v.status, o.status), append(v.serves, o.serves)
	}
	return v
}

// viewName counts the answers that clients received for one name. due are the shares of the backends that the nodes may
// answer with now.
func (s *scene) viewName(name, policy string, now time.Time, weight func(replica) int) nameView {
	v := nameView{name: name, policy: policy}
	total := harness.Tally{Got: map[netip.Addr]int{}}
	for _, n := range s.nodes {
		text := "-"
		if all := s.watch.Since(n, name, now.Add(-time.Second)); len(all) > 0 && n.Running() {
			text = describe(all[len(all)-1])
		}
		v.now = append(v.now, text)
		t := s.watch.Tally(n, name, now.Add(-window))
		total.Asked, total.Failed = total.Asked+t.Asked, total.Failed+t.Failed
		for addr, count := range t.Got {
			total.Got[addr] += count
		}
	}
	sum := 0
	for _, r := range s.replicas {
		if s.serving(r) {
			sum += weight(r)
		}
	}
	for _, r := range s.replicas {
		due := 0.0
		if s.serving(r) {
			due = float64(weight(r)) / float64(sum)
		}
		v.due, v.got = append(v.due, due), append(v.got, total.Share(r.At.Addr()))
	}
	return v
}

// serving reports whether any running node may answer with the replica.
func (s *scene) serving(r replica) bool {
	for _, n := range s.running() {
		if s.seen.of(n).of[r.At.Addr()].serves {
			return true
		}
	}
	return false
}
