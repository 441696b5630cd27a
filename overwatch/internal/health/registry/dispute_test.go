package registry // inside: it shares world_test.go

import (
	"sync"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// agreeing is the timing of tests with agreement of two nodes.
var agreeing = Timing{StaleThreshold: DefaultStaleThreshold, RemoveAfter: DefaultRemoveAfter, ValidationEnabled: true,
	ValidationInterval: DefaultValidationInterval, Agreement: status.Agreement{Nodes: 2, Within: 5 * time.Second}}

// vote applies a vote of a node.
func (w *world) vote(s, node string, state check.State) {
	w.t.Helper()
	w.must(w.ApplyVotes(w.ctx(), []NodeVote{{ID: id(s), Vote: status.Vote{Node: node, State: state, At: time.Now()}}}))
}

// startAgreeing restarts the registry with agreement of two nodes. disputed returns the number of disputes.
func (w *world) startAgreeing() (disputed func() int) {
	var mu sync.Mutex
	count := 0
	w.restart(Options{Timing: agreeing, FailureDisputed: func(ID) {
		mu.Lock()
		defer mu.Unlock()
		count++
	}})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}

// A failed own check of a serving backend waits for a second node, and the vote of a second node ends the wait. A
// decision is final until the own check succeeds.
func TestAgreement_ASecondNodeConfirmsAFailure(t *testing.T) {
	inWorld(t, agreeing, func(w *world) {
		disputed := w.startAgreeing()
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.vote(a1, "b", check.StateUnhealthy) // before the failure
		w.verdict(a1, check.Success)
		w.verdict(a1, check.Failure)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonDisputed))
		w.vote(a1, "b", check.StateHealthy)
		w.vote(a1, "c", check.StateUnknown)
		w.verdict(a1, check.Failure)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonDisputed))
		w.vote(a1, "c", check.StateUnhealthy)
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
		w.vote(a1, "c", check.StateHealthy)
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
		if d := w.View().Get(id(a1)).Dispute; d == nil || d.Decision != status.DecisionAgreed || len(d.Votes) != 2 {
			t.Errorf("dispute %v", d)
		}
		w.verdict(a1, check.Success)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonValidated))
		if b := w.View().Get(id(a1)); b.Dispute != nil || disputed() != 1 {
			t.Errorf("dispute %v, %d disputes", b.Dispute, disputed())
		}
	})
}

// Peers repeat their votes ten times per second. Only the first vote of a peer and a changed vote reach the explanation
// of the name, and no vote changes updated_at.
func TestAgreement_RepeatedVotesPublishNothing(t *testing.T) {
	inWorld(t, agreeing, func(w *world) {
		w.startAgreeing()
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.verdict(a1, check.Success)
		w.verdict(a1, check.Failure)
		failed := w.View().Get(id(a1))
		w.pass(time.Second)
		w.vote(a1, "b", check.StateHealthy)
		w.vote(a1, "c", check.StateUnknown)
		voted := w.View().Get(id(a1))
		if len(voted.Dispute.Votes) != 2 || !voted.UpdatedAt.Equal(failed.UpdatedAt) {
			t.Errorf("%v, updated at %v, want %v", voted.Dispute, voted.UpdatedAt, failed.UpdatedAt)
		}
		w.changed.forget()
		for range 30 {
			w.pass(100 * time.Millisecond)
			w.vote(a1, "b", check.StateHealthy)
			w.vote(a1, "c", check.StateUnknown)
		}
		if b := w.View().Get(id(a1)); b != voted || w.changed.count() > 0 {
			t.Errorf("published again: %v, decisions: %d", b != voted, w.changed.count())
		}
		w.vote(a1, "c", check.StateHealthy)
		if w.changed.count() != 1 {
			t.Errorf("%d decisions after a changed vote", w.changed.count())
		}
	})
}

// Without a second node, the node decides alone after agree_within. A success meanwhile ends the dispute.
func TestAgreement_TheNodeDecidesAloneAfterAgreeWithin(t *testing.T) {
	inWorld(t, agreeing, func(w *world) {
		w.startAgreeing()
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(a2)}))
		for _, s := range []string{a1, a2} {
			w.verdict(s, check.Success)
			w.verdict(s, check.Failure)
		}
		w.pass(agreeing.Agreement.Within - tick)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonDisputed))
		w.verdict(a2, check.Success)
		w.pass(2 * tick)
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
		w.see(a2, concluded(api.EffectiveHealthy, true, status.ReasonValidated))
	})
}

// Agreement delays only failures of own checks: with a report of unhealthy, the backend stops immediately. The report
// of a silent agent does not confirm anything.
func TestAgreement_DoesNotDelayAgentReports(t *testing.T) {
	inWorld(t, agreeing, func(w *world) {
		w.startAgreeing()
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		for _, s := range []string{a1, a2} {
			w.verdict(s, check.Success)
		}
		w.beat(agent, a1+" unhealthy", a2+" healthy")
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonAgentUnhealthy))
		w.verdict(a2, check.Failure)
		w.see(a2, concluded(api.EffectiveHealthy, true, status.ReasonAgentDisputed))
		w.beat(agent, a1+" unhealthy", a2+" unhealthy")
		w.see(a2, concluded(api.EffectiveUnhealthy, false, status.ReasonAgentUnhealthy))
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.see(a2, concluded(api.EffectiveHealthy, true, status.ReasonAgentDisputed)) // the dispute is still open
		w.pass(agreeing.Agreement.Within + tick)
		w.see(a2, concluded(api.EffectiveUnhealthy, false, status.ReasonValidationUnhealthy))
	})
}

// If the agent is silent and the own check fails, the failure waits for a second node, even if the agent becomes lost
// in the meantime.
func TestAgreement_OfASilentAgent(t *testing.T) {
	inWorld(t, agreeing, func(w *world) {
		w.startAgreeing()
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		for past := time.Duration(0); past < DefaultRemoveAfter; past += 20 * time.Second {
			w.verdict(a1, check.Success)
			w.pass(20 * time.Second)
		}
		w.verdict(a1, check.Failure)
		w.see(a1, concluded(api.EffectiveStale, true, status.ReasonStaleDisputed))
		w.pass(agreeing.Agreement.Within + tick)
		w.seeNone(a1)
	})
}

// After a restart, a failure of a backend with a last known state of healthy also waits for agreement, at any age of
// the state.
func TestAgreement_OfARememberedBackend(t *testing.T) {
	inWorld(t, agreeing, func(w *world) {
		w.startAgreeing()
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.verdict(a1, check.Success)
		w.stop()
		time.Sleep(24 * time.Hour) // virtual
		w.startAgreeing()
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: id(a1), Outcome: check.Failure}))
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonRemembered))
		w.verdict(a1, check.Failure)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonDisputed))
		w.vote(a1, "b", check.StateUnhealthy)
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
	})
}

// A reload that disables agreement ends the wait.
func TestAgreement_AReloadDisablesIt(t *testing.T) {
	inWorld(t, agreeing, func(w *world) {
		w.startAgreeing()
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.verdict(a1, check.Success)
		w.verdict(a1, check.Failure)
		w.must(w.SetTiming(w.ctx(), validating))
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
		w.must(w.SetTiming(w.ctx(), agreeing))
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
	})
}
