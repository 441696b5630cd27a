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

// seen holds the backends of a service as of the last look, and the sweep that found them.
type seen struct {
	backends []*registry.Backend
	sweep    uint64
}

// same reports whether two results of View.Service are the same publication.
func same(a, b []*registry.Backend) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// service compares the backends of a service with those of the last look, and then judges the name that they serve.
func (w *watch) service(name string, backends []*registry.Backend) {
	before := w.services[name].backends
	w.services[name] = seen{backends, w.sweeps}
	if len(backends) == 0 {
		delete(w.services, name)
	}
	if same(before, backends) && len(backends) > 0 {
		return
	}
	known := make(map[registry.ID]bool, len(backends))
	for _, b := range backends {
		known[b.ID] = true
		w.backend(b)
		if b.FlapReason != "" {
			w.flap(b, before)
		}
	}
	for _, b := range before {
		if !known[b.ID] {
			w.set(api.Event{Kind: api.EventBackend, State: "gone", Subject: b.ID.String(), Name: name,
				Cause: "nobody declares or reports it", Sentence: b.ID.String() + " is known no more"}, false)
		}
	}
	w.name(name, backends)
}

// The states of a backend beside its status. The state of a backend that flaps does not change with each flap, so that
// nobody is told that it is resolved.
const (
	stopped  = string(api.EffectiveUnhealthy) // it does not serve, whatever its status
	shrunk   = "reduced"                      // it serves again, with a reduced share
	flapping = "flapping"
)

// backend sets the state of one backend: whether it serves. A backend without a verdict keeps its state. A drain has
// events of its own.
func (w *watch) backend(b *registry.Backend) {
	if b.Reason == status.ReasonUnknown {
		return
	}
	agent, own := agentSays(b), conditions.OwnCheck(b)
	holds := !b.MayServe && !b.IsDrained()
	e := api.Event{Kind: api.EventBackend, State: string(b.Status), Severity: api.EventWarning, Subject: b.ID.String(),
		Name: b.Service, Region: b.Region, AgentID: b.AgentID, Cause: b.Reason, Agent: agent, Check: own}
	_, held := w.held[journal.Key(e.Kind, e.Subject)]
	does := "serves"
	if holds {
		e.State, does = stopped, "does not serve"
	}
	switch {
	case b.FlapReason != "":
		e.State, does, holds = flapping, does+" and flaps (3 stops within overwatch.flapping.window)", true
	case held && b.IsReduced(): // it is not resolved before it serves in full
		e.State, does, holds = shrunk, fmt.Sprintf("serves with %.0f %% of its weight", 100*b.Share), true
	}
	if b.Override != nil { // somebody wants it so
		e.Severity = api.EventInfo
	}
	e.Sentence = fmt.Sprintf("%s in %s %s: %s (agent: %s; own check: %s)", b.ID, region(b.Region), does, b.Reason,
		agent, own)
	w.set(e, holds)
}

// flap makes an event of a flapping backend that has stopped or started serving since the last look.
func (w *watch) flap(b *registry.Backend, before []*registry.Backend) {
	at := slices.IndexFunc(before, func(other *registry.Backend) bool { return other.ID == b.ID })
	if at < 0 || before[at].FlapReason == "" || before[at].MayServe == b.MayServe {
		return
	}
	e := api.Event{Kind: api.EventBackend, State: "stopped", Severity: api.EventInfo, Subject: b.ID.String(),
		Name: b.Service, Region: b.Region, AgentID: b.AgentID, Cause: b.Reason, Agent: agentSays(b),
		Check: conditions.OwnCheck(b)}
	if b.MayServe {
		e.State = "started"
	}
	e.Sentence = fmt.Sprintf("%s in %s flaps, and has %s serving: %s", b.ID, region(b.Region), e.State, b.Reason)
	w.tell(e)
}

func region(name string) string {
	if name == "" {
		return "no region"
	}
	return name
}

// agentSays describes the claim of a backend's agent, with the last error.
func agentSays(b *registry.Backend) string {
	switch {
	case b.AgentID == "":
		return "none"
	case b.Reported == nil:
		return "nothing yet"
	case *b.Reported:
		return string(api.EffectiveHealthy)
	}
	if problem := b.Report().LastError; problem != "" {
		return string(api.EffectiveUnhealthy) + ": " + problem
	}
	return string(api.EffectiveUnhealthy)
}

// settled is the time after the start, or after its definition, in which a name without any verdict makes no event:
// agents and operators take a moment.
const settled = 15 * time.Second

// name sets the state of a steered name.
func (w *watch) name(name string, backends []*registry.Backend) {
	domain, steered := w.domains[name]
	e := api.Event{Kind: api.EventName, Subject: name, Name: name}
	if !steered {
		e.State, e.Sentence = "gone", name+" is not steered any more"
		w.set(e, false)
		return
	}
	kind, sentence := conditions.Name(domain, backends)
	if _, fresh := w.fresh[name]; kind != "" && (fresh || !w.settled) && !anyKnown(backends) {
		return
	}
	switch e.Sentence = sentence; kind {
	case api.NameUnanswered:
		e.State, e.Severity, e.Cause = "unanswered", api.EventCritical, "too few backends may serve"
	case api.NameOnLastResort:
		e.State, e.Severity, e.Cause = "last_resort", api.EventError, "too few backends may serve"
	default:
		e.State, e.Cause, e.Sentence = "answered", "enough backends may serve", name+" is answered as it should be again"
	}
	w.set(e, kind != "")
}

func anyKnown(backends []*registry.Backend) bool {
	for _, b := range backends {
		if b.Reason != status.ReasonUnknown {
			return true
		}
	}
	return false
}
