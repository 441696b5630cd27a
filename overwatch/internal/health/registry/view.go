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

// View is the readers' side of a Registry. No method waits for anything or takes a lock. It always shows the newest
// state: the result of one call to Service is consistent in itself, two calls may lie before and after a change.
// Results are shared and must not be changed.
type View struct {
	services    byName[slot]
	agents      byName[agent]
	adminStates atomic.Pointer[[]AdminState]
	// of the backends, by statusNumber; moved on as slots are filled, so off by what is being published
	counts           [3]atomic.Int64
	generation       atomic.Uint64 // of the set of targets
	isIsolated       atomic.Bool
	holds            atomic.Pointer[[]HoldState]
	drainingServices sync.Map // of the services with a backend for which AskedToDrain holds, by name; without values
}

// statusNumber returns the place of a status in View.counts.
func statusNumber(status api.EffectiveStatus) int {
	switch status {
	case api.EffectiveHealthy:
		return 0
	case api.EffectiveUnhealthy:
		return 1
	}
	return 2
}

// slot holds the backends of one service, in the order of their addresses and ports.
type slot struct {
	backends atomic.Pointer[[]*Backend]
}

// Service returns the backends of a service ordered by address and port, nil for a service without any. The name is
// taken in any case and with or without trailing dot.
func (v *View) Service(name string) []*Backend {
	s := v.services.get(wire.CanonicalService(name))
	if s == nil {
		return nil
	}
	return *s.backends.Load()
}

// Services returns the names of all services that have backends, sorted, in a new slice.
func (v *View) Services() []string {
	var names []string
	for name := range v.services.all() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// All yields the backends of each service, as Service returns them, in no order of the services. While nothing of a
// service is published anew, the slice is the same.
func (v *View) All() iter.Seq2[string, []*Backend] {
	return func(yield func(string, []*Backend) bool) {
		for name, s := range v.services.all() {
			if !yield(name, *s.backends.Load()) {
				return
			}
		}
	}
}

// Backends yields every backend, service by service in no order, in a service ordered by address and port.
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

// AgentDrains yields the backends that drain because their agents ask for it, without looking at the others.
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

// isDrainedByAgent reports whether the backend drains because its agent asks for it, and not by an operator's order.
func (b *Backend) isDrainedByAgent() bool { return b.Draining && b.AdminDrain == nil }

// Count returns the number of backends with the status, without looking at each.
func (v *View) Count(status api.EffectiveStatus) int {
	return int(v.counts[statusNumber(status)].Load())
}

// Get returns one backend, nil if there is none of that id.
func (v *View) Get(id ID) *Backend {
	list := v.Service(id.Service)
	at, found := slices.BinarySearchFunc(list, id, func(b *Backend, id ID) int { return b.ID.compareEndpoint(id) })
	if !found {
		return nil
	}
	return list[at]
}

// AdminStates returns every order that has not expired, those that have not begun too, whether or not its backend is
// known, ordered by service, address, port and kind.
func (v *View) AdminStates() []AdminState {
	if list := v.adminStates.Load(); list != nil {
		return *list
	}
	return nil
}

// CountActive returns how many orders of a kind are in force.
func (v *View) CountActive(kind api.OrderKind) (n int) {
	for _, o := range v.AdminStates() {
		if o.Kind == kind && o.IsActive {
			n++
		}
	}
	return n
}

// CheckTargets returns every backend that has a check, with it, in no order, in a new slice.
func (v *View) CheckTargets() []CheckTarget {
	var targets []CheckTarget
	for b := range v.Backends() {
		if b.Check().Off {
			continue
		}
		t := CheckTarget{ID: b.ID, Spec: b.Check(), WasUnhealthy: b.Reason == status.ReasonRememberedUnhealthy}
		if b.Source == api.SourceAgent && b.omitted != reduce.ByPolicy {
			t.Spec.Interval, t.Spec.Timeout = 0, 0 // they are the agent's, for which it is at hand
		}
		targets = append(targets, t)
	}
	return targets
}

// CheckTargetsGeneration changes whenever Targets would return something else; it never goes back.
func (v *View) CheckTargetsGeneration() uint64 { return v.generation.Load() }

// Agents returns every agent that was heard and has not been dropped since, ordered by id, in a new slice.
func (v *View) Agents() []AgentState {
	var states []AgentState
	for _, a := range v.agents.all() {
		states = append(states, a.details.Load().state)
	}
	slices.SortFunc(states, func(a, b AgentState) int { return strings.Compare(a.ID, b.ID) })
	return states
}

// Agent returns one agent; ok is false if it was not heard or was dropped.
func (v *View) Agent(id string) (state AgentState, ok bool) {
	a := v.agents.get(id)
	if a == nil {
		return AgentState{}, false
	}
	return a.details.Load().state, true
}

// Report returns the newest details of the agent's claim. They move on without the backend being published anew.
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
