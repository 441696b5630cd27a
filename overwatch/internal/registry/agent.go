package registry

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gslb.internal/shared/wire"
)

// AgentState is what is known about one agent that this process has heard from.
type AgentState struct {
	ID, Region, Version string
	// LastSeen is when its last message was applied.
	LastSeen time.Time
	// Interval is the time between its heartbeats, MissedThreshold of which it may miss before it counts as dead.
	Interval        time.Duration
	MissedThreshold int
	Uptime          time.Duration
	// Backends is how many claims of its last heartbeat were taken.
	Backends int
	// Refused is the parts of its last message that were not taken.
	Refused []wire.RefusedClaim
	Figures wire.Figures
}

// Report is what an agent said last about its checks of one backend.
type Report struct {
	// At is when it said so.
	At time.Time
	// Latency is that of its last check, 0 when unknown.
	Latency time.Duration
	// Failures and Successes are how many of its checks in a row had that outcome.
	Failures, Successes int
	// LastError is why its last failed check failed: text the agent chose.
	LastError string
}

// agent is one agent that has claims or was heard. Readers, who reach it through the view or through a *Backend, may use
// only id and report; the rest is the writer's.
type agent struct {
	id string
	// report is what makes a heartbeat that changes nothing cheap: no backend is touched to show that its claim is fresh.
	report atomic.Pointer[report]
}

// report is the part of an agent's messages that changes no decision.
type report struct {
	state   AgentState
	details []detail
}

// detail belongs to the backend of the same index in the agent's last heartbeat.
type detail struct {
	id     ID
	report Report
}

// ClaimAt returns when the agent last confirmed its claim, the zero time where no agent of this process does.
func (b *Backend) ClaimAt() time.Time { return b.Report().At }

// Report returns the newest details of the agent's claim; they move on without the backend being published anew.
func (b *Backend) Report() Report {
	if b.agent == nil {
		return Report{}
	}
	rep := b.agent.report.Load()
	if rep == nil {
		return Report{}
	}
	at := slices.IndexFunc(rep.details, func(d detail) bool { return d.id == b.ID })
	if at < 0 {
		return Report{}
	}
	return rep.details[at].report
}

// Agents returns every agent that was heard and has not been dropped since, ordered by id, in a new slice.
func (v *View) Agents() []AgentState {
	var states []AgentState
	for _, a := range v.agents.all() {
		if rep := a.report.Load(); rep != nil {
			states = append(states, rep.state)
		}
	}
	slices.SortFunc(states, func(a, b AgentState) int { return strings.Compare(a.ID, b.ID) })
	return states
}

// Agent returns one agent; ok is false if it was not heard.
func (v *View) Agent(id string) (state AgentState, ok bool) {
	a := v.agents.get(id)
	if a == nil {
		return AgentState{}, false
	}
	rep := a.report.Load()
	if rep == nil {
		return AgentState{}, false
	}
	return rep.state, true
}
