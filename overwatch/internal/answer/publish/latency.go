package publish

import (
	"maps"
	"slices"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
)

// latencyPace is the interval for new measurements. New measurements cause at most one decision per interval for a name
// that uses latency.
const latencyPace = time.Second

// measurements holds the smoothed durations of this node's checks for domains that use latency.
type measurements struct {
	mu    sync.Mutex
	fresh map[string][]sample // new samples by service; the keys are the measured services

	// By service. Only the publishing goroutine changes smoothed, and it reads smoothed without the lock.
	smoothed map[string]map[registry.ID]policy.LatencyMeasurement
}

// restore sets the stored measurements after a restart. removeUnmeasured removes the unneeded ones.
func (m *measurements) restore(before map[registry.ID]policy.LatencyMeasurement) {
	m.fresh, m.smoothed = make(map[string][]sample), make(map[string]map[registry.ID]policy.LatencyMeasurement)
	for id, measured := range before {
		if m.smoothed[id.Service] == nil {
			m.smoothed[id.Service] = make(map[registry.ID]policy.LatencyMeasurement)
		}
		m.smoothed[id.Service][id] = measured
	}
}

// sample is the duration of a successful check.
type sample struct {
	id   registry.ID
	took time.Duration
}

// add adds a sample. It does not block.
func (m *measurements) add(s sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if list, measured := m.fresh[s.id.Service]; measured {
		m.fresh[s.id.Service] = append(list, s)
	}
}

// removeUnmeasured removes restored measurements of services that are not measured.
func (m *measurements) removeUnmeasured() {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.smoothed, func(service string, _ map[registry.ID]policy.LatencyMeasurement) bool {
		_, measured := m.fresh[service]
		return !measured
	})
}

// change starts or ends the measurements of a domain that is new or has other rules.
func (m *measurements) change(d *domain) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !d.rules.UsesLatency() {
		delete(m.fresh, d.service)
		delete(m.smoothed, d.service)
	} else if _, measured := m.fresh[d.service]; !measured {
		m.fresh[d.service] = nil
	}
}

// removeService removes the measurements of a service without a domain.
func (m *measurements) removeService(service string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.fresh, service)
	delete(m.smoothed, service)
}

// takeSamples removes and returns the samples of all services.
func (m *measurements) takeSamples() map[string][]sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	var taken map[string][]sample
	for service, list := range m.fresh {
		if len(list) == 0 {
			continue
		}
		if taken == nil {
			taken = make(map[string][]sample)
		}
		taken[service], m.fresh[service] = list, nil
	}
	return taken
}

// updateAverages adds samples of a service to its exponential moving averages, and removes backends that no longer
// exist.
func (m *measurements) updateAverages(d *domain, samples []sample, backends []*registry.Backend) {
	before := m.smoothed[d.service]
	after := make(map[registry.ID]policy.LatencyMeasurement, len(backends))
	for _, b := range backends {
		if known, ok := before[b.ID]; ok {
			after[b.ID] = known
		}
	}
	for _, s := range samples {
		known := after[s.id]
		if known.Samples == 0 {
			known.Smoothed = s.took
		}
		known.Smoothed += time.Duration(d.smoothing() * float64(s.took-known.Smoothed))
		known.Samples++
		after[s.id] = known
	}
	m.mu.Lock()
	m.smoothed[d.service] = after
	m.mu.Unlock()
}

// recordGroups records the client groups for which latency selected a backend, so that noise does not move a group to
// another backend. Backends that cannot serve or were no candidates retain their groups. Groups that no longer exist
// are removed.
func (m *measurements) recordGroups(d *domain, candidates []policy.Candidate, decisions [][2]policy.Decision) {
	smoothed := m.smoothed[d.service]
	if len(smoothed) == 0 || !d.rules.UsesLatency() {
		return
	}
	groups := make(map[string]bool)
	holds := make([]map[string]bool, len(candidates)) // according to the new decisions: selected or not
	for i := range holds {
		holds[i] = make(map[string]bool)
	}
	for _, decision := range everyGroup(decisions) {
		groups[decision.Group] = true
		why := make(map[int]policy.Reason, len(decision.Excluded))
		for _, e := range decision.Excluded {
			why[e.Candidate] = e.Reason
		}
		for i := range candidates {
			switch why[i] {
			case "":
				holds[i][decision.Group] = candidates[i].Latency.Samples >= d.rules.Parameters().LatencyConfig.MinSamples
			case policy.Slower, policy.TooSlow, policy.FewSamples:
				holds[i][decision.Group] = false
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range candidates {
		id := registry.ID{Service: d.service, Address: candidates[i].Address, Port: candidates[i].Port}
		if known, measured := smoothed[id]; measured {
			known.Groups = held(known.Groups, groups, holds[i])
			smoothed[id] = known
		}
	}
}

// held returns the groups of a backend after a decision, sorted by name: the previous groups with the changes of the
// decision, without deleted groups.
func held(before []string, groups, decided map[string]bool) (after []string) {
	for group := range groups {
		holds, known := decided[group]
		if holds || !known && slices.Contains(before, group) {
			after = append(after, group)
		}
	}
	slices.Sort(after)
	return after
}

// everyGroup returns the decisions with an answer, one for each group and family.
func everyGroup(decisions [][2]policy.Decision) (distinct []*policy.Decision) {
	var seen [2]map[string]bool
	for i := range decisions {
		for f := range seen {
			d := &decisions[i][f]
			if d.Group == "" || seen[f][d.Group] {
				continue
			}
			if seen[f] == nil {
				seen[f] = make(map[string]bool)
			}
			seen[f][d.Group] = true
			distinct = append(distinct, d)
		}
	}
	return distinct
}

// Measured records the duration of a successful check of a backend by this node. It does not block. Within two seconds,
// names that use latency have decisions that include it.
func (p *Publisher) Measured(id registry.ID, took time.Duration) {
	p.measurements.add(sample{id, took})
}

// Latencies returns the average durations of the checks of backends of names that use latency. It is safe for
// concurrent use.
func (p *Publisher) Latencies() map[registry.ID]policy.LatencyMeasurement {
	p.measurements.mu.Lock()
	defer p.measurements.mu.Unlock()
	all := make(map[registry.ID]policy.LatencyMeasurement)
	for _, service := range p.measurements.smoothed {
		maps.Copy(all, service)
	}
	return all
}

// takeMeasurements repeats the decisions of names with new measurements.
func (p *Publisher) takeMeasurements() {
	begin := p.now()
	taken := p.measurements.takeSamples()
	if len(taken) == 0 {
		return
	}
	p.generation++
	for service, samples := range taken {
		p.changedMeanwhile(service)
		if d, ok := p.domains[service]; ok {
			p.measurements.updateAverages(d, samples, p.backends.Service(service))
			p.logOutcome(d, p.decide(p.view.Load(), d))
		}
	}
	p.prepareFresh()
	p.published(begin)
}
