package registry

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// AgentState describes one agent that this process has heard from.
type AgentState struct {
	ID, Region, Version string
	// LastSeen is the time when the agent's last message was applied.
	LastSeen time.Time
	// Interval is the time between its heartbeats, MissedThreshold of which it may miss before it counts as dead.
	Interval        time.Duration
	MissedThreshold int
	Uptime          time.Duration
	// Backends counts the agent's claims that stand after its last message.
	Backends int
	// Refused lists its backends that this node has refused.
	Refused []wire.RefusedClaim
	Figures wire.Figures
	// LeftAt is the time of its goodbye; zero before it, and once the agent is heard again.
	LeftAt time.Time
}

// HasLeft reports whether the agent has said goodbye and was not heard since.
func (a *AgentState) HasLeft() bool { return !a.LeftAt.IsZero() }

// Report is the result of an agent's own checks of one backend, as of its last message about it.
type Report struct {
	// At is the time of that message, CheckedAt that of its last check by the clock of this node; zero: it made none.
	At, CheckedAt time.Time
	// Latency is that of its last check, 0 when unknown.
	Latency time.Duration
	// Failures and Successes are how many of its checks in a row had that outcome.
	Failures, Successes int
	// LastError is the error of its last failed check, as the agent words it.
	LastError string
}

// agent is one agent that has claims or was heard. Readers, who reach it through the view or through a *Backend, may
// use only id and report; the rest is the writer's.
type agent struct {
	id string
	// details makes a heartbeat that changes nothing cheap: no backend is touched to show that its claim is fresh.
	details atomic.Pointer[agentDetails]

	// lastSeen is the time when the agent was last heard, or of this process's start if it was last heard before that.
	lastSeen time.Time
	// wasStale and wasGone are the states in which its claims were last judged. writer.stale and writer.gone compute the
	// present ones.
	wasStale, wasLost bool
	// isPublished tells that the view has it.
	isPublished bool
	timer       deadlineAt
	region      string
	// address is the one that the agent was last heard from, not valid where that is not proved.
	address netip.Addr
	// records are in the order of its last heartbeat.
	records []*record
	refused []wire.RefusedClaim
	// budget counts the changes that the agent may still make.
	budget budget
	// refusalsLogged is the time of the last line about refused changes.
	refusalsLogged time.Time
	// evidence counts the backends that the agent reports healthy while own checks of them fail.
	evidence status.Tally
	// hold is its mass-failure protection, nil while it is off; waits tells that it is to be judged.
	hold     *hold
	isQueued bool
}

// agentDetails is the part of an agent's messages that changes no decision. It is immutable.
type agentDetails struct {
	state    AgentState
	backends []backendReport
}

type backendReport struct {
	id     ID
	report Report
}

// getOrCreateAgent returns the agent of that id, a new one if there is none.
func (w *writer) getOrCreateAgent(id string) *agent {
	a := w.agents[id]
	if a == nil {
		a = &agent{id: id}
		w.agents[id] = a
	}
	return a
}

// isUnchanged reports whether m says the same as the last heartbeat, as far as decisions depend on it, and all of it
// may still be claimed.
func (a *agent) isUnchanged(from trust.Agent, m *wire.Heartbeat, region string) bool {
	if !a.isPublished || region != a.region || a.hasNewAddress(from) || len(a.refused) > 0 ||
		len(m.Backends) != len(a.records) {
		return false
	}
	for i := range m.Backends {
		said, rec := &m.Backends[i], a.records[i]
		if rec.id.Port != said.Port || rec.id.Address != said.Address || rec.id.Service != said.Service ||
			rec.report.statement != statementOf(said, region) ||
			!from.Allowed(rec.id.Service, netip.AddrPortFrom(rec.id.Address, rec.id.Port)) {
			return false
		}
	}
	return true
}

// removeRecord takes rec out of the agent's claims.
func (a *agent) removeRecord(rec *record) {
	if at := slices.Index(a.records, rec); at >= 0 {
		a.records = slices.Delete(a.records, at, at+1)
	}
}

// publishHeartbeat publishes the parts of a heartbeat that change no decision.
func (a *agent) publishHeartbeat(m *wire.Heartbeat, now time.Time) {
	details := make([]backendReport, len(m.Backends))
	for i := range m.Backends {
		details[i] = backendReportOf(&m.Backends[i], now)
	}
	a.isPublished = true
	a.details.Store(&agentDetails{backends: details, state: AgentState{
		ID: a.id, Region: a.region, Version: m.Version, LastSeen: now,
		Interval: time.Duration(m.IntervalMillis) * time.Millisecond, MissedThreshold: int(m.MissedThreshold),
		Uptime: boundedUptime(m.UptimeSeconds), Backends: len(a.records), Refused: a.refused, Figures: m.Figures,
	}})
}

// boundedUptime returns an agent's uptime, bounded: more seconds than a Duration holds are a lie.
func boundedUptime(seconds uint64) time.Duration {
	const most = 1 << 33 // 272 years
	return time.Duration(min(seconds, most)) * time.Second
}

// publishTransition publishes the parts of a transition that change no decision.
func (a *agent) publishTransition(said *wire.Backend, now time.Time) {
	next := agentDetails{state: AgentState{ID: a.id, Region: a.region}}
	if last := a.details.Load(); last != nil {
		next = agentDetails{state: last.state, backends: slices.Clone(last.backends)}
	}
	next.state.LastSeen, next.state.LeftAt = now, time.Time{}
	next.state.Backends, next.state.Refused = len(a.records), a.refused
	news := backendReportOf(said, now)
	at := slices.IndexFunc(next.backends, func(d backendReport) bool { return d.id == news.id })
	switch {
	case at >= 0:
		next.backends[at] = news
	case len(next.backends) < wire.MaxBackends:
		next.backends = append(next.backends, news)
	}
	a.isPublished = true
	a.details.Store(&next)
}

// publishLastSeen publishes that the agent was heard. It must have been before.
func (a *agent) publishLastSeen(now time.Time) {
	next := *a.details.Load()
	next.state.LastSeen, next.state.LeftAt = now, time.Time{}
	a.details.Store(&next)
}

// publishGoodbye publishes that the agent said goodbye.
func (a *agent) publishGoodbye(now time.Time) {
	last := a.details.Load()
	if last == nil {
		return
	}
	state := last.state
	state.LastSeen, state.LeftAt = now, now
	state.Backends, state.Refused = 0, nil
	a.details.Store(&agentDetails{state: state})
	a.refused = nil
}

// checkTime returns when the last check of a backend ended, not later than now. Clocks have been compared before.
func checkTime(said *wire.Backend, now time.Time) time.Time {
	at := time.UnixMilli(int64(said.CheckedAtMillis))
	switch {
	case said.CheckedAtMillis != 0:
		return now.Add(min(at.Sub(now), 0))
	case said.Claim == wire.ClaimNone:
		return time.Time{}
	}
	return now // an agent of before 1.1
}

func backendReportOf(said *wire.Backend, now time.Time) backendReport {
	return backendReport{id: idOf(said), report: Report{
		At: now, CheckedAt: checkTime(said, now), Latency: time.Duration(said.LatencyMicros) * time.Microsecond,
		Failures: int(said.ConsecutiveFailures), Successes: int(said.ConsecutiveSuccesses), LastError: said.LastError,
	}}
}
