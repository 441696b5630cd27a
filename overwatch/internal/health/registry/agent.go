package registry

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/tokenbucket"
	"gslb.internal/shared/wire"
)

// AgentState describes an agent that this process has seen.
type AgentState struct {
	ID, Region, Version string
	// LastSeen is the time at which the agent's last message was applied.
	LastSeen time.Time
	// Interval is the time between its heartbeats. The agent is stale after MissedThreshold missing heartbeats.
	Interval        time.Duration
	MissedThreshold int
	Uptime          time.Duration
	// Backends is the number of the agent's reported backends.
	Backends int
	// Refused lists the backends that this node rejected.
	Refused []wire.RefusedClaim
	Figures wire.Figures
	// LeftAt is the time of its leave message. It is zero before the leave message, and after a later message.
	LeftAt time.Time
}

// HasLeft reports whether the last message of the agent was its leave message.
func (a *AgentState) HasLeft() bool { return !a.LeftAt.IsZero() }

// Report is the result of an agent's checks of a backend in its last message.
type Report struct {
	// At is the time of the message. CheckedAt is the time of the last check according to the clock of this node, or zero
	// without a check.
	At, CheckedAt time.Time
	// Latency is the duration of the last check, 0 if it is unknown.
	Latency time.Duration
	// Failures and Successes count consecutive checks with this outcome.
	Failures, Successes int
	// LastError is the error of the last failed check.
	LastError string
}

// agent is the writer's state of an agent. Readers, with a pointer from the view or a *Backend, may use only id and
// details.
type agent struct {
	id string
	// details are published without a new Backend, so that an unchanged heartbeat is cheap.
	details atomic.Pointer[agentDetails]

	// lastSeen is the time of the agent's last message, at least the start of this process.
	lastSeen time.Time
	// wasLate is true after the report of a late heartbeat to Options.AgentLate, and lateReported is the time of the last
	// report. wasStale and wasLost are the states at the last refresh of its records. writer.isLate, writer.isStale and
	// writer.isLost return the current states.
	wasLate, wasStale, wasLost bool
	lateReported               time.Time
	// isPublished is true if the view contains the agent.
	isPublished bool
	timer       deadlineAt
	region      string
	// address is the proved source address of the agent's last message, or invalid.
	address netip.Addr
	// records are in the order of the agent's last heartbeat.
	records []*record
	refused []wire.RefusedClaim
	// budget limits the changes by the agent. A message is accepted while the budget has a token, and then costs as many
	// tokens as it has changes. deferralLogged is the time of the last log line about a deferred message.
	budget         tokenbucket.Bucket
	deferralLogged time.Time
	// failures limits the calls of Options.FailureSeen for reports of the agent, and contradictions those of
	// Options.ReportContradicts.
	failures, contradictions tokenbucket.Bucket
	// refusalsLogged is the time of the last log line about rejected reports.
	refusalsLogged time.Time
	// evidence is the number of backends that the agent reports healthy while own checks fail.
	evidence status.Tally
	// hold is the active mass-failure hold of the agent, or nil. isQueued reports whether the agent is in queuedHolds.
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

// getOrCreateAgent returns the agent of an id.
func (w *writer) getOrCreateAgent(id string) *agent {
	a := w.agents[id]
	if a == nil {
		a = &agent{id: id, budget: newBudget(), failures: newFailureBudget(), contradictions: newFailureBudget()}
		w.agents[id] = a
	}
	return a
}

// isUnchanged reports whether m requires the same decisions as the last heartbeat, and the agent may still report all
// its backends.
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

// removeRecord removes rec from the agent's records.
func (a *agent) removeRecord(rec *record) {
	if at := slices.Index(a.records, rec); at >= 0 {
		a.records = slices.Delete(a.records, at, at+1)
	}
}

// publishHeartbeat publishes the details of a heartbeat.
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

// boundedUptime returns an uptime, at most the largest Duration.
func boundedUptime(seconds uint64) time.Duration {
	const maxSeconds = 1 << 33 // 272 years
	return time.Duration(min(seconds, maxSeconds)) * time.Second
}

// publishTransition publishes the details of a transition.
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

// publishLastSeen publishes the last-seen time. The agent must have published details.
func (a *agent) publishLastSeen(now time.Time) {
	next := *a.details.Load()
	next.state.LastSeen, next.state.LeftAt = now, time.Time{}
	a.details.Store(&next)
}

// publishGoodbye publishes that the agent has left.
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

// checkTime returns the end of the last check of a backend, at most now. The caller has verified that the clocks agree.
func checkTime(said *wire.Backend, now time.Time) time.Time {
	at := time.UnixMilli(int64(said.CheckedAtMillis))
	switch {
	case said.CheckedAtMillis != 0:
		return now.Add(min(at.Sub(now), 0))
	case said.Claim == wire.ClaimNone:
		return time.Time{}
	}
	return now // agents older than 1.1 send no time
}

func backendReportOf(said *wire.Backend, now time.Time) backendReport {
	return backendReport{id: idOf(said), report: Report{
		At: now, CheckedAt: checkTime(said, now), Latency: time.Duration(said.LatencyMicros) * time.Microsecond,
		Failures: int(said.ConsecutiveFailures), Successes: int(said.ConsecutiveSuccesses), LastError: said.LastError,
	}}
}
