package registry

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// View has the published state of a Registry for readers. Its methods never lock or wait. The result of a call is
// consistent; two calls may return the state before and after a change. Callers must not change results.
type View struct {
	services    byName[slot]
	agents      byName[agent]
	adminStates atomic.Pointer[[]AdminState]
	// numbers of backends by statusNumber, updated during publication
	counts           [3]atomic.Int64
	generation       atomic.Uint64 // of the check targets
	isIsolated       atomic.Bool
	holds            atomic.Pointer[[]HoldState]
	drainingServices sync.Map // names of the services with AgentDrains, without values
}

// statusNumber returns the index of a status in View.counts.
func statusNumber(status api.EffectiveStatus) int {
	switch status {
	case api.EffectiveHealthy:
		return 0
	case api.EffectiveUnhealthy:
		return 1
	}
	return 2
}

// slot has the backends of a service, ordered by address and port.
type slot struct {
	backends atomic.Pointer[[]*Backend]
}

// Service returns the backends of a service ordered by address and port, nil for an unknown service. The name may have
// any case and a trailing dot.
func (v *View) Service(name string) []*Backend {
	s := v.services.get(wire.CanonicalService(name))
	if s == nil {
		return nil
	}
	return *s.backends.Load()
}

// Services returns the names of all services with backends, sorted, in a new slice.
func (v *View) Services() []string {
	var names []string
	for name := range v.services.all() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// All yields each service with its backends, in no order of the services. The slice of a service is the same until a
// change of the service is published.
func (v *View) All() iter.Seq2[string, []*Backend] {
	return func(yield func(string, []*Backend) bool) {
		for name, s := range v.services.all() {
			if !yield(name, *s.backends.Load()) {
				return
			}
		}
	}
}

// Backends yields all backends, in no order of the services, and in the order of Service within a service.
func (v *View) Backends() iter.Seq[*Backend] {
	return func(yield func(*Backend) bool) {
		for _, list := range v.All() {
			for _, b := range list {
				if !yield(b) {
					return
				}
			}
		}
	}
}

// AgentDrains yields the backends that drain at the request of their agents. Its cost does not depend on other
// services.
func (v *View) AgentDrains() iter.Seq[*Backend] {
	return func(yield func(*Backend) bool) {
		v.drainingServices.Range(func(name, _ any) bool {
			for _, b := range v.Service(name.(string)) {
				if b.isDrainedByAgent() && !yield(b) {
					return false
				}
			}
			return true
		})
	}
}

// isDrainedByAgent reports whether the backend drains at the request of its agent.
func (b *Backend) isDrainedByAgent() bool { return b.Draining && b.AdminDrain == nil }

// Count returns the number of backends with a status in constant time.
func (v *View) Count(status api.EffectiveStatus) int {
	return int(v.counts[statusNumber(status)].Load())
}

// Get returns a backend, nil for an unknown id.
func (v *View) Get(id ID) *Backend {
	list := v.Service(id.Service)
	at, found := slices.BinarySearchFunc(list, id, func(b *Backend, id ID) int { return b.ID.compareEndpoint(id) })
	if !found {
		return nil
	}
	return list[at]
}

// AdminStates returns all active and scheduled admin states, including those of unknown backends, ordered by service,
// address, port and kind.
func (v *View) AdminStates() []AdminState {
	if list := v.adminStates.Load(); list != nil {
		return *list
	}
	return nil
}

// CountActive returns the number of active admin states of a kind.
func (v *View) CountActive(kind api.OrderKind) (n int) {
	for _, o := range v.AdminStates() {
		if o.Kind == kind && o.IsActive {
			n++
		}
	}
	return n
}

// CheckTargets returns all backends that have an own check, in no order, in a new slice.
func (v *View) CheckTargets() []CheckTarget {
	var targets []CheckTarget
	for b := range v.Backends() {
		if b.Check().Off {
			continue
		}
		t := CheckTarget{ID: b.ID, Spec: b.Check(), WasUnhealthy: b.Reason == status.ReasonRememberedUnhealthy}
		if b.Source == api.SourceAgent && b.omitted != reduce.ByPolicy {
			t.Spec.Interval, t.Spec.Timeout = 0, 0 // the agent's times are for its local check
		}
		targets = append(targets, t)
	}
	return targets
}

// CheckTargetsGeneration returns a number that increases when the result of CheckTargets changes.
func (v *View) CheckTargetsGeneration() uint64 { return v.generation.Load() }

// Agents returns all agents that this process has seen and not removed, ordered by id, in a new slice.
func (v *View) Agents() []AgentState {
	var states []AgentState
	for _, a := range v.agents.all() {
		states = append(states, a.details.Load().state)
	}
	slices.SortFunc(states, func(a, b AgentState) int { return strings.Compare(a.ID, b.ID) })
	return states
}

// EachAgent yields all agents that this process has seen and not removed, in no order. The caller must not change them.
// It costs less than Agents, which copies and sorts them.
func (v *View) EachAgent() iter.Seq[*AgentState] {
	return func(yield func(*AgentState) bool) {
		for _, a := range v.agents.all() {
			if !yield(&a.details.Load().state) {
				return
			}
		}
	}
}

// Agent returns an agent. ok is false for an agent that this process has not seen or has removed.
func (v *View) Agent(id string) (state AgentState, ok bool) {
	a := v.agents.get(id)
	if a == nil {
		return AgentState{}, false
	}
	return a.details.Load().state, true
}

// Report returns the latest details of the agent's report. They change without a new Backend.
func (b *Backend) Report() Report {
	if b.agent == nil {
		return Report{}
	}
	last := b.agent.details.Load()
	if last == nil {
		return Report{}
	}
	at := slices.IndexFunc(last.backends, func(d backendReport) bool { return d.id == b.ID })
	if at < 0 {
		return Report{}
	}
	return last.backends[at].report
}
