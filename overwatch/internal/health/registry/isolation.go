package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// isolation is the self-isolation of this node: status.Isolation with its start and end. It lasts at least a validation
// interval.
type isolation struct {
	status.Isolation
	isActive bool
	since    time.Time
	timer    deadlineAt
}

// evidenceOf returns the evidence of r.
func (w *writer) evidenceOf(r *record, now time.Time) status.Evidence {
	if !w.hasCurrentCheck(r, now) {
		return status.Evidence{}
	}
	_, region, _ := r.effectiveSettings()
	e := status.Evidence{Kind: status.EvidenceSucceeding, Region: w.options.RegionName(region),
		Service: &r.service.evidence}
	if r.published.OwnCheck.Successes > 0 {
		return e
	}
	if c := r.report; c == nil || w.isStale(c.agent, now) || c.statement.state != wire.ClaimHealthy {
		return status.Evidence{}
	}
	e.Kind, e.Agent = status.EvidenceContradicting, &r.report.agent.evidence
	return e
}

// setEvidence replaces the evidence of r.
func (w *writer) setEvidence(r *record, next status.Evidence) {
	w.isolation.Replace(r.evidence, next)
	r.evidence = next
}

// updateIsolation starts or ends self-isolation. During SetStaticDeclarations it has no effect: if only some servers
// have moved to another region, the evidence is incomplete.
func (w *writer) updateIsolation(now time.Time) {
	if w.isDeclaring {
		return
	}
	i := &w.isolation
	isCutOff := i.IsCutOff()
	if isCutOff == i.isActive {
		return
	}
	if end := i.since.Add(w.timing.ValidationInterval); i.isActive && now.Before(end) {
		w.setDeadline(i, &i.timer, end)
		return
	}
	i.isActive = isCutOff
	w.view.isIsolated.Store(isCutOff)
	if !isCutOff {
		w.options.Logger.Info().Msg("self-isolation ended: own checks succeed")
		return
	}
	i.since = now
	w.options.Logger.Warn().Int("regions", i.DarkRegions()).Int("agents", i.ContradictingAgents()).
		Msg("self-isolation began: own checks of most backends fail and their agents report healthy; this node ignores " +
			"failed own checks until they succeed; check the network of this node")
	w.ignoreFailedChecks(now)
}

// handleDeadline implements deadlineHandler: publishChanges, which follows, decides.
func (i *isolation) handleDeadline(_ *writer, at deadlineAt, _ time.Time) {
	if i.timer == at {
		i.timer = 0
	}
}

// ignoreFailedChecks ignores the failed own checks from before the start of self-isolation.
func (w *writer) ignoreFailedChecks(now time.Time) {
	for r := range w.records() {
		if v := r.published.OwnCheck; v.State == check.StateUnhealthy && !v.IsIgnored {
			v.IsIgnored = true
			w.publishOwnCheck(r, v, now)
			w.refreshBackend(r, now)
		}
	}
}

// isIgnored reports whether the failed own check next is ignored. During self-isolation, each failed check is ignored.
// After self-isolation, an ignored check remains ignored until the next check; if that check fails, it takes effect.
func (w *writer) isIgnored(previous, next OwnCheck) bool {
	if next.State != check.StateUnhealthy {
		return false
	}
	if w.isolation.isActive {
		return true
	}
	return previous.IsIgnored && next.Failures == 0
}

// IsIsolated reports whether this node ignores failed own checks because it has lost the connection to most backends.
func (v *View) IsIsolated() bool { return v.isIsolated.Load() }
