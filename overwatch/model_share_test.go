package overwatch // inside: it uses answer

import (
	"maps"
	"math"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
)

// refWarning is an early warning of a backend. Its effect increases from 0 to 1 over a time while the warning is
// active, and decreases over the same time.
type refWarning struct {
	over  time.Duration // 0: no effect
	from  float64       // the effect at since
	since time.Time
	ended bool
}

func (w *refWarning) effect(now time.Time) float64 {
	moved := now.Sub(w.since).Seconds() / w.over.Seconds()
	if w.ended {
		return max(w.from-moved, 0)
	}
	return min(w.from+moved, 1)
}

// share returns the share that the warning allows, in thousandths: from 1000 down to 100, in steps of 50.
func (w *refWarning) share(now time.Time) int {
	if w.over == 0 {
		return 1000
	}
	const rounding = 1e-6
	steps := math.Floor(18*w.effect(now) + rounding)
	if w.ended {
		steps = math.Ceil(18*w.effect(now) - rounding)
	}
	return 1000 - 50*int(steps)
}

// followWarnings applies the warnings of the agent. The warnings of a silent agent end.
func (c *refClaim) followWarnings(now time.Time, silent bool) {
	for kind := range c.warnings {
		w, said := &c.warnings[kind], c.warns[kind]
		if silent {
			said = 0
		}
		switch {
		case said > 0 && w.over == 0:
			*w = refWarning{over: said, since: now}
		case said > 0 && (w.ended || said != w.over):
			*w = refWarning{over: said, from: w.effect(now), since: now}
		case said == 0 && w.over > 0 && !w.ended:
			w.from, w.since, w.ended = w.effect(now), now, true
		}
		if w.ended && w.effect(now) == 0 {
			*w = refWarning{}
		}
	}
}

// refMeasured is the smoothed duration of this node's checks of a backend, in seconds.
type refMeasured struct {
	smoothed float64
	samples  int
	held     map[string]bool // client groups with the backend among the fastest at the last decision
}

type refSample struct {
	id   registry.ID
	took time.Duration
}

// measures reports whether the answers of a name use measurements.
func (m *reference) measures(name string) bool {
	d, served := m.served[name]
	if !served {
		return false
	}
	choosesRegion := false
	for _, a := range []string{d.algorithm, d.fallback} {
		if a == "latency" {
			return true
		}
		choosesRegion = choosesRegion || a == "failover" || a == "geolocation" || a == "proximity"
	}
	return choosesRegion && slices.ContainsFunc(m.regions, func(r regionFacts) bool { return r.pool == "latency" })
}

// takeSamples applies the measurements of the last second (docs/routing.md, "latency": an exponential moving average).
func (m *reference) takeSamples() {
	taken := map[string]bool{}
	for _, s := range m.samples {
		taken[s.id.Service] = true
	}
	for id := range m.measured {
		if taken[id.Service] && m.backends[id] == nil {
			delete(m.measured, id)
		}
	}
	for _, s := range m.samples {
		known := m.measured[s.id]
		if known == nil {
			known = &refMeasured{smoothed: s.took.Seconds(), held: map[string]bool{}}
			m.measured[s.id] = known
		}
		known.smoothed += m.served[s.id.Service].smoothing * (s.took.Seconds() - known.smoothed)
		known.samples++
	}
	m.samples = nil
	m.hold()
}

// forgetMeasured removes measurements that no name uses.
func (m *reference) forgetMeasured() {
	for id := range m.measured {
		if !m.measures(id.Service) {
			delete(m.measured, id)
		}
	}
	m.samples = slices.DeleteFunc(m.samples, func(s refSample) bool { return !m.measures(s.id.Service) })
}

func (m *reference) qualifies(d domainFacts, c refCandidate) bool {
	known := m.measured[c.id]
	return known != nil && known.samples >= d.samples && known.smoothed <= d.slowest.Seconds()
}

// fastest returns the candidates within a tenth and the tolerance of the fastest, and the previously selected
// candidates within a quarter and 1.25 times the tolerance (routing.md, "latency"). If no candidate qualifies, it
// returns all.
func (m *reference) fastest(d domainFacts, in []refCandidate, e *expected) []refCandidate {
	fit := only(in, func(c refCandidate) bool { return m.qualifies(d, c) })
	if len(fit) == 0 {
		return in
	}
	best := math.Inf(1)
	for _, c := range fit {
		best = min(best, m.measured[c.id].smoothed)
	}
	return only(in, func(c refCandidate) bool {
		known := m.measured[c.id]
		const slack = 0.005 // latency_config.tolerance_ms by default, in seconds
		shares := m.qualifies(d, c) && (known.smoothed <= 1.1*best+slack ||
			known.held[e.group] && known.smoothed <= 1.25*(best+slack))
		if !shares {
			e.slow = append(e.slow, c.id)
		}
		return shares
	})
}

// hold records the selected backends for all client locations.
func (m *reference) hold() {
	if len(m.measured) == 0 {
		return
	}
	everywhere := []refClient{m.at("")}
	for _, r := range m.regions {
		everywhere = append(everywhere, m.at(r.name))
	}
	for name, d := range m.served {
		if !m.measures(name) {
			continue
		}
		all, groups := m.candidates(name), map[string]bool{}
		clients := slices.Clone(everywhere)
		for number := range historyClients {
			clients = append(clients, m.client(number, name))
		}
		for _, client := range clients {
			for _, v6 := range []bool{false, true} {
				e := m.answer(name, all, v6, client)
				groups[e.group] = true
				for _, id := range e.in {
					if known := m.measured[id]; known != nil {
						known.held[e.group] = known.samples >= d.samples
					}
				}
				for _, id := range e.slow {
					if known := m.measured[id]; known != nil {
						known.held[e.group] = false
					}
				}
			}
		}
		for _, c := range all { // retains the groups that currently exist, for all backends
			if known := m.measured[c.id]; known != nil {
				maps.DeleteFunc(known.held, func(group string, _ bool) bool { return !groups[group] })
			}
		}
	}
}
