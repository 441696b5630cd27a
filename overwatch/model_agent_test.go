package overwatch // inside: it uses node

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// said is an agent's report on a backend.
type said struct {
	id     registry.ID
	word   string // healthy, unhealthy or none
	weight int

	draining bool
	over     time.Duration    // duration of the drain; 0: the node's default
	warns    [3]time.Duration // warnings about processor load, memory and errors: their durations; 0: no warning
}

func (s said) String() string {
	text := fmt.Sprintf("%s %s %d", s.id, s.word, s.weight)
	if s.draining {
		text += fmt.Sprintf(" draining over %v", s.over)
	}
	if s.warns != [3]time.Duration{} {
		text += fmt.Sprintf(" warns %v", s.warns)
	}
	return text
}

func (s said) wire() wire.Backend {
	b := wire.Backend{Service: s.id.Service, Address: s.id.Address, Port: s.id.Port, Weight: uint16(s.weight),
		Check:    wire.Check{Type: "tcp"},
		Draining: s.draining, DrainMillis: uint32(s.over.Milliseconds()), Warnings: wireWarnings(s.warns)}
	switch s.word {
	case "healthy":
		b.Claim, b.ConsecutiveSuccesses = wire.ClaimHealthy, check.DefaultSuccessThreshold
	case "unhealthy":
		b.Claim, b.ConsecutiveFailures, b.LastError = wire.ClaimUnhealthy, 1, "refused"
	}
	return b
}

func wireWarnings(over [3]time.Duration) wire.Warnings {
	return wire.Warnings{CPUMillis: uint32(over[0].Milliseconds()), MemoryMillis: uint32(over[1].Milliseconds()),
		ErrorRateMillis: uint32(over[2].Milliseconds())}
}

func (h *chronicle) says(id registry.ID) said {
	s := said{id: id, word: pick(h.random, []string{"healthy", "healthy", "healthy", "healthy", "healthy", "unhealthy",
		"none"}), weight: pick(h.random, []int{0, 1, 2, 3, 4})}
	if h.random.IntN(7) == 0 {
		s.draining, s.over = true, pick(h.random, historyTimes)
	}
	if h.random.IntN(4) == 0 {
		s.warns = h.warns()
	}
	return s
}

// historyTimes has the durations of drains and warnings.
var historyTimes = []time.Duration{0, 20 * time.Second, 40 * time.Second}

func (h *chronicle) warns() (over [3]time.Duration) {
	for kind := range over {
		over[kind] = pick(h.random, historyTimes)
	}
	return over
}

func (h *chronicle) heartbeat() string {
	who := pick(h.random, h.agents)
	var list []said
	m := &wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3}
	if old := h.model.agents[who.name]; old != nil && h.flip() { // an unchanged report
		for _, id := range slices.SortedFunc(maps.Keys(old.said), registry.ID.Compare) {
			list = append(list, old.said[id].said)
		}
	} else {
		for _, id := range allHistoryIDs() {
			if h.random.IntN(3) == 0 {
				list = append(list, h.says(id))
			}
		}
	}
	for _, s := range list {
		m.Backends = append(m.Backends, s.wire())
	}
	_, err := h.node.registry.ApplyHeartbeat(h.t.Context(), who.agent, m)
	h.must(err)
	h.model.heartbeat(who, list, h.drainTime)
	return fmt.Sprintf("%s says %v", who.name, list)
}

func (h *chronicle) transition() string {
	who, s := pick(h.random, h.agents), h.says(h.id())
	_, err := h.node.registry.ApplyTransition(h.t.Context(), who.agent, &wire.Transition{Backend: s.wire()})
	h.must(err)
	h.model.hear(who).say(h.model, who.name, s, h.drainTime)
	return fmt.Sprintf("%s says at once %s", who.name, s)
}

// signal sends an agent's signal about all its backends, either warnings or a drain, and returns a description. The
// signal has an effect only if the process has received a report of the agent.
func (h *chronicle) signal() string {
	who := pick(h.random, h.agents)
	a := h.model.agents[who.name]
	heard := a != nil && a.heard
	if heard {
		a.seen = h.model.now
	} else {
		a = &refAgent{}
	}
	if h.flip() {
		over := pick(h.random, historyTimes)
		_, err := h.node.registry.ApplyDrain(h.t.Context(), who.agent, &wire.Drain{OverMillis: uint32(over.Milliseconds())})
		h.must(err)
		if heard {
			for _, c := range a.said {
				c.draining, c.over = true, over
				c.followDrain(h.model.now, h.drainTime)
			}
		}
		return fmt.Sprintf("%s drains all over %v", who.name, over)
	}
	var m wire.Signal
	var list []string
	for _, id := range allHistoryIDs() {
		var warns [3]time.Duration
		if h.random.IntN(3) == 0 {
			warns = h.warns()
			m.Backends = append(m.Backends, wire.Warned{Service: id.Service, Address: id.Address, Port: id.Port,
				Warnings: wireWarnings(warns)})
			list = append(list, fmt.Sprint(id, warns))
		}
		if c := a.said[id]; c != nil && heard {
			c.warns = warns
		}
	}
	_, err := h.node.registry.ApplyWarnings(h.t.Context(), who.agent, &m)
	h.must(err)
	return fmt.Sprintf("%s warns of %v", who.name, list)
}

// drainTime returns the default duration of a drain: the TTL of the service's answers.
func (h *chronicle) drainTime(service string) time.Duration {
	if d, ok := h.model.served[service]; ok && d.ttl > 0 {
		return time.Duration(d.ttl) * time.Second
	}
	return time.Duration(h.model.defaultTTL()) * time.Second
}

func (h *chronicle) leave() string {
	who := pick(h.random, h.agents)
	delete(h.model.agents, who.name)
	if h.flip() {
		h.must(h.node.registry.ApplyGoodbye(h.t.Context(), who.agent))
		return who.name + " leaves"
	}
	h.must(h.node.registry.RemoveAgent(h.t.Context(), who.name))
	return who.name + " is dropped"
}

// hear updates the last-seen time of an agent.
func (m *reference) hear(who historian) *refAgent {
	a := m.agents[who.name]
	if a == nil {
		a = &refAgent{said: map[registry.ID]*refClaim{}}
		m.agents[who.name] = a
	}
	a.region, a.seen, a.heard = who.region, m.now, true
	return a
}

// heartbeat applies an agent report. Backends that are missing in the report are withdrawn after all others have been
// applied.
func (m *reference) heartbeat(who historian, list []said, drainTime func(string) time.Duration) {
	a := m.hear(who)
	kept := map[registry.ID]bool{}
	for _, s := range list {
		if a.say(m, who.name, s, drainTime) {
			kept[s.id] = true
		}
	}
	maps.DeleteFunc(a.said, func(id registry.ID, _ *refClaim) bool { return !kept[id] })
}

// say applies a report on a backend, unless another agent reports it and has not been removed. The agent in the
// declaration replaces another agent. say reports whether it applied the report.
func (a *refAgent) say(m *reference, name string, s said, drainTime func(string) time.Duration) bool {
	if other := m.claimant(s.id); other != "" && other != name {
		if m.silence(other) < m.file.remove && !(m.outsider(s.id) && m.declared(s.id).agent == name) {
			return false
		}
		delete(m.agents[other].said, s.id)
	}
	if a.said[s.id] == nil {
		a.said[s.id] = &refClaim{}
	}
	a.said[s.id].said = s
	a.said[s.id].followDrain(m.now, drainTime)
	return true
}

// followDrain begins or ends the drain of a report. A drain in progress retains its duration.
func (c *refClaim) followDrain(now time.Time, drainTime func(string) time.Duration) {
	switch {
	case !c.draining:
		c.drain = nil
	case c.drain == nil:
		c.drain = newDrain(c.id.Service, c.over, now, drainTime)
	}
}

// newDrain returns a drain that begins now, with the domain's TTL as its default duration.
func newDrain(service string, over time.Duration, now time.Time, drainTime func(string) time.Duration) *refDrain {
	if over == 0 {
		over = drainTime(service)
	}
	return &refDrain{now, over}
}
