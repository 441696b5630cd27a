package registry

import (
	"net/netip"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/tokenbucket"
	"gslb.internal/shared/wire"
)

// admit returns the ID of a reported backend, or the code of its rejection with the rule of agent_policies:
//
//	not_enrolled       the agent has not proved the service, or is no longer pinned
//	policy             agent_policies or the rules of IDs forbid the address, port, weight or service name
//	conflicting_claim  another agent reports the backend and is not lost, and the declaration does not give
//	                   precedence to this agent; or the message contains the backend twice
//	limit              the agent reports the maximum number of backends
func (w *writer) admit(a *agent, from trust.Agent, said *wire.Backend, now time.Time) (ID, wire.RejectCode, wire.Rule) {
	if !from.MaySpeakFor(said.Service) {
		return ID{}, wire.CodeNotEnrolled, 0
	}
	if rule := from.ForbiddenBy(said.Service, netip.AddrPortFrom(said.Address.Unmap(), said.Port)); rule != 0 {
		return ID{}, wire.CodePolicy, rule
	}
	id, err := NewID(said.Service, said.Address, said.Port)
	if err != nil {
		return ID{}, wire.CodePolicy, wire.RuleName
	}
	if said.Weight > api.MaxWeight {
		return ID{}, wire.CodePolicy, wire.RuleWeight
	}
	rec := w.lookupRecord(id)
	if rec != nil && rec.report != nil {
		c := rec.report
		if c.agent != a && !w.isLost(c.agent, now) && !rec.canTakeOver(a) || c.agent == a && c.round == w.reportRound {
			return ID{}, wire.CodeConflictingClaim, 0
		}
	}
	if len(a.records) >= wire.MaxBackends && (rec == nil || rec.report == nil || rec.report.agent != a) {
		return ID{}, wire.CodeLimit, 0
	}
	return id, 0, 0
}

// idOf returns the ID of a reported backend without validation.
func idOf(said *wire.Backend) ID {
	return ID{Service: said.Service, Address: said.Address.Unmap(), Port: said.Port}
}

// statementOf returns the part of a wire.Backend that decisions use.
func statementOf(said *wire.Backend, region string) statement {
	return statement{
		state: said.Claim, weight: said.Weight, draining: said.Draining, drainMillis: said.DrainMillis,
		warnings: said.Warnings, check: said.Check, region: region,
	}
}

// setStatement replaces the statement, and reports whether the stored part of the report has changed.
func (c *report) setStatement(words statement) (worthKeeping bool) {
	weight, region, asked := c.weight, c.region, c.requestedCheck
	if c.requestedCheck == (unique.Handle[check.Spec]{}) || c.statement.check != words.check {
		c.requestedCheck = unique.Make(specOf(words.check))
	}
	c.statement, c.weight, c.region = words, int(words.weight), words.region
	return c.weight != weight || c.region != region || c.requestedCheck != asked
}

// specOf returns the check that an agent requests. Package reduce derives the own check from it.
func specOf(c wire.Check) check.Spec {
	spec := check.Spec{
		Type: check.Type(c.Type), Path: c.Path, Host: c.Host,
		Interval:         orDefault(c.IntervalMillis, check.DefaultInterval),
		Timeout:          orDefault(c.TimeoutMillis, check.DefaultTimeout),
		FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold,
		ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify,
		Detail: c.Detail.Details(),
	}
	if c.FailureThreshold > 0 {
		spec.FailureThreshold = int(c.FailureThreshold)
	}
	if c.SuccessThreshold > 0 {
		spec.SuccessThreshold = int(c.SuccessThreshold)
	}
	return spec
}

func orDefault(millis uint32, def time.Duration) time.Duration {
	if millis == 0 {
		return def
	}
	return time.Duration(millis) * time.Millisecond
}

// Limits of the changes by an agent. A changed backend costs one token. A new backend costs newCost tokens, because
// the node checks it. The burst lets an agent change all of its backends in one report. Changes beyond the limits are
// deferred: the next accepted heartbeat has the complete state of the agent.
const (
	changeRate  = 64 // tokens per second
	changeBurst = 1024
	newCost     = 8
	// deferralsLogged is the minimum time between two log lines about the deferred changes of an agent.
	deferralsLogged = 10 * time.Minute
)

// newBudget returns the budget of a new agent.
func newBudget() tokenbucket.Bucket {
	return tokenbucket.New(tokenbucket.PerSecond(changeRate, changeBurst))
}

// newFailureBudget returns the budget of a new agent for calls of Options.FailureSeen or Options.ReportContradicts:
// once for each backend, and then one call per second.
func newFailureBudget() tokenbucket.Bucket {
	return tokenbucket.New(tokenbucket.PerSecond(1, wire.MaxBackends))
}

// deferred returns the outcome of a message with deferred changes. The message updates only the last-seen time of the
// agent.
func (w *writer) deferred(a *agent, now time.Time) Outcome {
	w.updateLastSeen(a, now)
	if a.isPublished {
		a.publishLastSeen(now)
	}
	if a.deferralLogged.IsZero() || now.Sub(a.deferralLogged) >= deferralsLogged {
		a.deferralLogged = now
		w.options.Logger.Warn().Str("agent_id", a.id).Int("claims", len(a.records)).
			Msg("an agent changes its backends more often than is taken: they follow later, with one of its heartbeats")
	}
	return Outcome{Deferred: true}
}
