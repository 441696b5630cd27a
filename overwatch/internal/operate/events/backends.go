package events

import (
	"fmt"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

// published contains the backends of a service at the last update, and the number of the sweep that found them.
type published struct {
	backends []*registry.Backend
	sweep    uint64
}

// isSamePublication reports whether two results of View.Service are the same publication.
func isSamePublication(a, b []*registry.Backend) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// updateService compares the backends of a service with the previous backends, and then updates the domain.
func (w *watch) updateService(name string, backends []*registry.Backend) {
	before := w.services[name].backends
	w.services[name] = published{backends, w.sweeps}
	if len(backends) == 0 {
		delete(w.services, name)
	}
	if isSamePublication(before, backends) && len(backends) > 0 {
		return
	}
	known := make(map[registry.ID]bool, len(backends))
	for _, b := range backends {
		known[b.ID] = true
		w.updateBackend(b)
		if b.FlapReason != "" {
			w.addFlapEvent(b, before)
		}
	}
	for _, b := range before {
		if !known[b.ID] {
			w.setState(api.Event{Kind: api.EventBackend, State: "gone", Subject: b.ID.String(), Name: name,
				Cause: causeRemoved, Sentence: b.ID.String() + " was removed: " + causeRemoved}, false)
		}
	}
	w.updateName(name, backends)
}

// causeRemoved is the cause of the end of a removed backend's events.
const causeRemoved = "it is neither declared nor reported"

// The states of a backend in addition to its status. A flapping backend stays in one state, so that receivers of
// notifications do not see the problem as resolved.
const (
	stateStopped  = string(api.EffectiveUnhealthy) // the backend does not serve, with any status
	stateReduced  = "reduced"                      // the backend serves with a reduced share after a stop
	stateFlapping = "flapping"
)

// updateBackend sets the state of a backend: whether it serves. The state of a backend without a check result stays
// unchanged. Drains have separate events.
func (w *watch) updateBackend(b *registry.Backend) {
	if b.Reason == status.ReasonUnknown {
		return
	}
	reported, own := agentReport(b), conditions.OwnCheck(b)
	holds := !b.MayServe && !b.IsDrained()
	e := api.Event{Kind: api.EventBackend, State: string(b.Status), Severity: api.EventWarning, Subject: b.ID.String(),
		Name: b.Service, Region: b.Region, AgentID: b.AgentID, Cause: b.Reason, Agent: reported, Check: own}
	_, held := w.active[journal.Key(e.Kind, e.Subject)]
	does := "serves"
	if holds {
		e.State, does = stateStopped, "does not serve"
	}
	switch {
	case b.FlapReason != "":
		e.State, does, holds = stateFlapping, does+" and flaps (3 stops within overwatch.flapping.window)", true
	case held && b.IsReduced(): // the problem is resolved when the backend serves in full
		e.State, does, holds = stateReduced, fmt.Sprintf("serves with %.0f %% of its weight", 100*b.Share), true
	}
	if b.Override != nil { // decision of an operator
		e.Severity = api.EventInfo
	}
	e.Sentence = fmt.Sprintf("%s in %s %s: %s (agent: %s; own check: %s)", b.ID, region(b.Region), does, b.Reason,
		reported, own)
	w.setState(e, holds)
}

// addFlapEvent adds an event for a flapping backend that stopped or started serving since the last update.
func (w *watch) addFlapEvent(b *registry.Backend, before []*registry.Backend) {
	at := slices.IndexFunc(before, func(other *registry.Backend) bool { return other.ID == b.ID })
	if at < 0 || before[at].FlapReason == "" || before[at].MayServe == b.MayServe {
		return
	}
	e := api.Event{Kind: api.EventBackend, State: "stopped", Severity: api.EventInfo, Subject: b.ID.String(),
		Name: b.Service, Region: b.Region, AgentID: b.AgentID, Cause: b.Reason, Agent: agentReport(b),
		Check: conditions.OwnCheck(b)}
	if b.MayServe {
		e.State = "started"
	}
	e.Sentence = fmt.Sprintf("%s in %s flaps and %s serving: %s", b.ID, region(b.Region), e.State, b.Reason)
	w.addEvent(e)
}

func region(name string) string {
	if name == "" {
		return "no region"
	}
	return name
}

// agentReport describes the agent report of a backend, with the last error.
func agentReport(b *registry.Backend) string {
	switch {
	case b.AgentID == "":
		return "none"
	case b.Reported == nil:
		return "no report yet"
	case *b.Reported:
		return string(api.EffectiveHealthy)
	}
	if problem := b.Report().LastError; problem != "" {
		return string(api.EffectiveUnhealthy) + ": " + problem
	}
	return string(api.EffectiveUnhealthy)
}

// settleTime is the time after a start, or after the definition of a domain, in which a domain without check results
// causes no event, because agents need time to report.
const settleTime = 15 * time.Second

// updateName sets the state of a domain.
func (w *watch) updateName(name string, backends []*registry.Backend) {
	domain, isDomain := w.domains[name]
	e := api.Event{Kind: api.EventName, Subject: name, Name: name}
	if !isDomain {
		e.State, e.Sentence = "gone", name+" was removed from the configuration"
		w.setState(e, false)
		return
	}
	kind, sentence := conditions.Name(domain, backends)
	if _, fresh := w.newNames[name]; kind != "" && (fresh || !w.isSettled) && !anyKnown(backends) {
		return
	}
	switch e.Sentence = sentence; kind {
	case api.NameUnanswered:
		e.State, e.Severity, e.Cause = "unanswered", api.EventCritical, "fewer backends than required can serve"
	case api.NameOnLastResort:
		e.State, e.Severity, e.Cause = "last_resort", api.EventError, "fewer backends than required can serve"
	default:
		e.State, e.Cause, e.Sentence = "answered", "enough backends can serve",
			name+" has normal answers: enough backends can serve"
	}
	w.setState(e, kind != "")
}

func anyKnown(backends []*registry.Backend) bool {
	for _, b := range backends {
		if b.Reason != status.ReasonUnknown {
			return true
		}
	}
	return false
}
