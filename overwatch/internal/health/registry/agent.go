package registry

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

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

// Left reports whether the agent has said goodbye and was not heard since.
func (a *AgentState) Left() bool { return !a.LeftAt.IsZero() }

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
	// report makes a heartbeat that changes nothing cheap: no backend is touched to show that its claim is fresh.
	report atomic.Pointer[report]

	// seen is the time when the agent was last heard, or of this process's start if it was last heard before that.
	seen time.Time
	// wasStale and wasGone are the states in which its claims were last judged. writer.stale and writer.gone compute the
	// present ones.
	wasStale, wasGone bool
	// listed tells that the view has it.
	listed bool
	timer  deadlineAt
	region string
	// address is the one that the agent was last heard from, not valid where that is not proved.
	address netip.Addr
	// claims are in the order of its last heartbeat.
	claims  []*record
	refused []wire.RefusedClaim
	// budget counts the changes that the agent may still make.
	budget budget
	// refusalsLogged is the time of the last line about refused changes.
	refusalsLogged time.Time
	// contradicted counts the agent's claims of health that this node's own checks contradict.
	contradicted int
	// brake is its mass-failure protection, nil while it is off; waits tells that it is to be judged.
	brake *brake
	waits bool
}

// report is the part of an agent's messages that changes no decision. It is immutable.
type report struct {
	state   AgentState
	details []detail
}

type detail struct {
	id     ID
	report Report
}

// agent returns the agent of that id, a new one if there is none.
func (w *writer) agent(id string) *agent {
	a := w.agents[id]
	if a == nil {
		a = &agent{id: id}
		w.agents[id] = a
	}
	return a
}

// repeats reports whether m says the same as the last heartbeat, as far as decisions depend on it, and all of it may
// still be claimed.
func (a *agent) repeats(from trust.Agent, m *wire.Heartbeat, region string) bool {
	if !a.listed || region != a.region || a.hasMoved(from) || len(a.refused) > 0 || len(m.Backends) != len(a.claims) {
		return false
	}
	for i := range m.Backends {
		said, rec := &m.Backends[i], a.claims[i]
		if rec.id.Port != said.Port || rec.id.Address != said.Address || rec.id.Service != said.Service ||
			rec.claim.said != statementOf(said, region) ||
			!from.Allowed(rec.id.Service, netip.AddrPortFrom(rec.id.Address, rec.id.Port)) {
			return false
		}
	}
	return true
}

// forget takes rec out of the agent's claims.
func (a *agent) forget(rec *record) {
	if at := slices.Index(a.claims, rec); at >= 0 {
		a.claims = slices.Delete(a.claims, at, at+1)
	}
}

// note publishes the parts of a heartbeat that change no decision.
func (a *agent) note(m *wire.Heartbeat, now time.Time) {
	details := make([]detail, len(m.Backends))
	for i := range m.Backends {
		details[i] = detailOf(&m.Backends[i], now)
	}
	a.listed = true
	a.report.Store(&report{details: details, state: AgentState{
		ID: a.id, Region: a.region, Version: m.Version, LastSeen: now,
		Interval: time.Duration(m.IntervalMillis) * time.Millisecond, MissedThreshold: int(m.MissedThreshold),
		Uptime: uptime(m.UptimeSeconds), Backends: len(a.claims), Refused: a.refused, Figures: m.Figures,
	}})
}

// uptime returns an agent's uptime, bounded: more seconds than a Duration holds are a lie.
func uptime(seconds uint64) time.Duration {
	const most = 1 << 33 // 272 years
	return time.Duration(min(seconds, most)) * time.Second
}

// noteTransition publishes the parts of a transition that change no decision.
func (a *agent) noteTransition(said *wire.Backend, now time.Time) {
	next := report{state: AgentState{ID: a.id, Region: a.region}}
	if last := a.report.Load(); last != nil {
		next = report{state: last.state, details: slices.Clone(last.details)}
	}
	next.state.LastSeen, next.state.LeftAt = now, time.Time{}
	next.state.Backends, next.state.Refused = len(a.claims), a.refused
	news := detailOf(said, now)
	at := slices.IndexFunc(next.details, func(d detail) bool { return d.id == news.id })
	switch {
	case at >= 0:
		next.details[at] = news
	case len(next.details) < wire.MaxBackends:
		next.details = append(next.details, news)
	}
	a.listed = true
	a.report.Store(&next)
}

// noteSeen publishes that the agent was heard. It must have been before.
func (a *agent) noteSeen(now time.Time) {
	next := *a.report.Load()
	next.state.LastSeen, next.state.LeftAt = now, time.Time{}
	a.report.Store(&next)
}

// farewell publishes that the agent said goodbye.
func (a *agent) farewell(now time.Time) {
	last := a.report.Load()
	if last == nil {
		return
	}
	state := last.state
	state.LastSeen, state.LeftAt = now, now
	state.Backends, state.Refused = 0, nil
	a.report.Store(&report{state: state})
	a.refused = nil
}

// checkedAt returns when the last check of a backend ended, not later than now. Clocks have been compared before.
func checkedAt(said *wire.Backend, now time.Time) time.Time {
	at := time.UnixMilli(int64(said.CheckedAtMillis))
	switch {
	case said.CheckedAtMillis != 0:
		return now.Add(min(at.Sub(now), 0))
	case said.Claim == wire.ClaimNone:
		return time.Time{}
	}
	return now // an agent of before 1.1
}

func detailOf(said *wire.Backend, now time.Time) detail {
	return detail{id: idOf(said), report: Report{
		At: now, CheckedAt: checkedAt(said, now), Latency: time.Duration(said.LatencyMicros) * time.Microsecond,
		Failures: int(said.ConsecutiveFailures), Successes: int(said.ConsecutiveSuccesses), LastError: said.LastError,
	}}
}
