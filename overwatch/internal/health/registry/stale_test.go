package registry // inside: it uses maxLateness and publishDelay

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

var (
	staleUnknown   = concluded(api.EffectiveStale, false, status.ReasonStale)
	staleValidated = concluded(api.EffectiveStale, true, status.ReasonStaleValidated)
	staleFailing   = concluded(api.EffectiveStale, false, status.ReasonStaleFailing)
	validated      = concluded(api.EffectiveHealthy, true, status.ReasonValidated)
	failing        = concluded(api.EffectiveUnhealthy, false, status.ReasonFailing)
	agreed         = concluded(api.EffectiveHealthy, true, status.ReasonAgreed)
	contradicted   = concluded(api.EffectiveUnhealthy, false, status.ReasonValidationUnhealthy)
)

// detectionBound is the additional time that invariant I3 permits after the stale threshold.
const detectionBound = time.Second

func TestSilence_StaleAfterTheThresholdAndRemovedAfterRemoveAfter(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.pass(30 * time.Millisecond) // not a multiple of the resolution of deadlines
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.pass(DefaultStaleThreshold - time.Millisecond)
		w.see(a1, agentHealthy)
		w.pass(detectionBound)
		w.see(a1, staleUnknown)
		w.pass(DefaultRemoveAfter - DefaultStaleThreshold - detectionBound)
		w.see(a1, staleUnknown)
		w.pass(detectionBound)
		w.seeNone(a1)
		if s, ok := w.View().Agent("one"); !ok || s.HasLeft() {
			t.Errorf("the silent agent is %+v, %v", s, ok)
		}
	})
}

// The time during which a node did not run, such as a stopped process or a moved virtual machine, does not count as
// silence of the agents, whatever the node checks first afterwards. All other silence counts.
func TestSilence_DoesNotCountWhileThisNodeStandsStill(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		var slept atomic.Int64
		w.restart(Options{Timing: notValidating, Now: func() time.Time {
			return time.Now().Add(
				time.Duration(slept.Load()))
		}})
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		for range 3 {
			slept.Add(int64(2 * DefaultStaleThreshold))
			w.verdict(a1, check.Unknown)
			w.see(a1, agentHealthy)
		}
		slept.Add(int64(DefaultRemoveAfter))
		w.pass(DefaultStaleThreshold - detectionBound - maxSleep)
		w.see(a1, agentHealthy)
		w.pass(2 * (detectionBound + maxSleep))
		w.see(a1, staleUnknown)
		slept.Add(int64(DefaultRemoveAfter)) // an agent that was silent before stays silent
		w.pass(maxSleep)
		w.see(a1, staleUnknown)
	})
}

// The same applies if the node stalls while it processes commands.
func TestSilence_DoesNotCountWhileThisNodeStandsStillAtWork(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		var slept atomic.Int64
		w.restart(Options{Timing: notValidating, Now: func() time.Time {
			return time.Now().Add(
				time.Duration(slept.Load()))
		}})
		w.beat(w.authority.agent("one", "eu", "a.example"), a1+" healthy")
		w.must(runChange(w.ctx(), w.Registry, func(*writer, time.Time) error {
			slept.Add(int64(2 * DefaultStaleThreshold))
			return nil
		}))
		w.pass(maxSleep)
		w.see(a1, agentHealthy)
		w.pass(DefaultStaleThreshold)
		w.see(a1, staleUnknown)
	})
}

// Frequent small delays do not count as a stall.
func TestSilence_CountsThoughThisNodeIsOftenALittleLate(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		var slept atomic.Int64
		w.restart(Options{Timing: notValidating, Now: func() time.Time {
			return time.Now().Add(
				time.Duration(slept.Load()))
		}})
		w.beat(w.authority.agent("one", "eu", "a.example"), a1+" healthy")
		for range DefaultStaleThreshold / (2 * maxSleep) {
			w.pass(maxSleep)
			slept.Add(int64(maxLateness) / 2)
			w.pass(maxSleep)
			slept.Add(int64(maxLateness) / 2)
		}
		w.see(a1, staleUnknown)
	})
}

func TestSilence_EndsWithTheNextMessage(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		for range 3 {
			w.pass(time.Minute)
			w.see(a1, staleUnknown)
			w.beat(agent, a1+" healthy", a2+" healthy")
			w.see(a1, agentHealthy)
			w.see(a2, agentHealthy)
		}
		w.beatFor(10*time.Minute, agent, a1+" healthy", a2+" healthy")
		w.see(a2, agentHealthy)
	})
}

func TestSilence_ValidationDecidesMeanwhile(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		agent := w.authority.agent("one", "eu", "a.example", "b.example")
		w.beat(agent, a1+" healthy", a2+" healthy", b1+" healthy")
		for range 12 { // six minutes: past remove_after
			w.pass(30 * time.Second)
			w.verdict(a1, check.Success)
			w.verdict(a2, check.Failure)
			w.verdict(b1, check.Failure)
		}
		w.see(a1, staleValidated)
		w.seeNone(a2)
		w.see(b1, staleFailing) // the configuration still declares the backend
		w.verdict(a1, check.Failure)
		w.seeNone(a1)
	})
}

func TestSilence_RemovalWaitsNoLongerThanTheVerdictCounts(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.pass(DefaultRemoveAfter - 10*time.Second)
		w.verdict(a1, check.Success)
		w.pass(3*DefaultValidationInterval - time.Second)
		w.see(a1, staleValidated)
		w.pass(2 * time.Second)
		w.seeNone(a1)
	})
}

func TestVerdict_CountsForThreeIntervals(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.verdict(a1, check.Failure)
		w.see(a1, contradicted)
		w.beatFor(3*DefaultValidationInterval-time.Second, agent, a1+" healthy")
		w.see(a1, contradicted)
		w.beatFor(2*time.Second, agent, a1+" healthy")
		w.see(a1, agentHealthy)
	})
}

// If the check of a server has a longer interval than the node's other checks, its results are valid for longer.
func TestVerdict_CountsForThreeOfItsOwnIntervals(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		rare := static(a1)
		spec := tcp
		spec.Interval = 3 * DefaultValidationInterval
		rare.Check = unique.Make(spec)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{rare}))
		if got := w.View().CheckTargets(); len(got) != 1 || got[0].Spec != spec {
			t.Errorf("targets are %+v", got)
		}
		w.verdict(a1, check.Failure)
		w.pass(9*DefaultValidationInterval - time.Second)
		w.see(a1, failing)
		w.pass(2 * time.Second)
		w.see(a1, concluded(api.EffectiveUnhealthy, false, status.ReasonRememberedUnhealthy))
	})
}

func TestVerdict_OwnTroubleIsNotBackendTrouble(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.see(a1, unknown)
		w.verdict(a1, check.Success)
		w.see(a1, validated)
		for range 10 {
			w.pass(30 * time.Second)
			w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: id(a1), State: check.StateHealthy, Outcome: check.Unknown,
				Err: "no file descriptors"}))
		}
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonRemembered))
		if v := w.View().Get(id(a1)).OwnCheck; v.LastError != "no file descriptors" || v.Successes != 1 {
			t.Errorf("validation is %+v", v)
		}
		w.verdict(a1, check.Failure)
		w.see(a1, failing)
	})
}

func TestVerdict_OnWhatIsNotKnownChangesNothing(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.verdict(a1, check.Success)
		w.seeNone(a1)
		if w.changed.count() > 0 {
			t.Errorf("told %v", w.changed.sorted())
		}
	})
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.verdict(a1, check.Failure)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
	})
}

func TestVerdict_ThatConfirmsTellsNobody(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.verdict(a1, check.Success)
		told, updated := w.changed.count(), w.View().Get(id(a1)).UpdatedAt
		w.pass(30 * time.Second)
		w.verdict(a1, check.Success)
		b := w.View().Get(id(a1))
		if w.changed.count() != told || !b.UpdatedAt.Equal(updated) {
			t.Error("a verdict that only confirms counts as a change")
		}
		if b.OwnCheck.Successes != 2 || !b.OwnCheck.At.Equal(time.Now()) {
			t.Errorf("validation is %+v", b.OwnCheck)
		}
	})
}

func TestVerdict_ThatConfirmsInALargeServiceIsShownSoon(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		var list []Declaration
		for i := range smallService + 1 {
			list = append(list, static(fmt.Sprintf("a.example:10.0.%d.%d:80", i/200, i%200+1)))
		}
		w.must(w.SetStaticDeclarations(w.ctx(), list))
		one := list[0].ID.String()
		w.verdict(one, check.Success)
		w.see(one, validated) // a changed status is published immediately
		w.verdict(one, check.Success)
		before := w.View().Service("a.example")
		w.verdict(one, check.Success)
		if after := w.View().Service("a.example"); &after[0] != &before[0] {
			t.Error("the list was published for a verdict that only confirms")
		}
		w.pass(publishDelay + tick)
		if n := w.View().Get(id(one)).OwnCheck.Successes; n != 3 {
			t.Errorf("%d successes are shown, want 3", n)
		}
	})
}

func TestRetime_AppliesToWhatIsKnown(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.verdict(a1, check.Failure)
		w.verdict(b1, check.Failure)
		w.pass(10 * time.Second)
		w.see(a1, contradicted)
		t1 := Timing{StaleThreshold: 5 * time.Second, RemoveAfter: 20 * time.Second}
		w.must(w.SetTiming(w.ctx(), t1))
		w.see(a1, staleUnknown)
		w.see(b1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		w.pass(11 * time.Second)
		w.seeNone(a1)
		if err := w.SetTiming(w.ctx(), Timing{StaleThreshold: time.Minute, RemoveAfter: time.Second}); err == nil {
			t.Error("remove after below the stale threshold was taken")
		}
	})
}

// The next check is earlier, but not immediate. Until then, the results of the previous interval are valid.
func TestRetime_AShorterIntervalMakesNoVerdictTooOld(t *testing.T) {
	shorter := validating
	shorter.ValidationInterval = DefaultValidationInterval / 10
	inWorld(t, validating, func(w *world) {
		w.beat(w.authority.agent("one", "eu", "a.example"), a1+" healthy")
		w.pass(DefaultRemoveAfter - 20*time.Second)
		w.verdict(a1, check.Success)
		w.pass(29 * time.Second)
		w.see(a1, staleValidated)
		w.must(w.SetTiming(w.ctx(), shorter))
		w.see(a1, staleValidated)
		w.verdict(a1, check.Success) // expires after three new intervals
		w.pass(3*shorter.ValidationInterval - time.Second)
		w.see(a1, staleValidated)
		w.pass(2 * time.Second)
		w.seeNone(a1)
	})
	inWorld(t, validating, func(w *world) { // without further checks, results expire as before the change
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.verdict(a1, check.Failure)
		w.must(w.SetTiming(w.ctx(), shorter))
		w.beatFor(3*DefaultValidationInterval-time.Second, agent, a1+" healthy")
		w.see(a1, contradicted)
		w.beatFor(2*time.Second, agent, a1+" healthy")
		w.see(a1, agentHealthy)
	})
}

// Newly enabled checks remove no backend from the answers before their first results.
func TestRetime_ChecksThatAreSwitchedOn(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(b1)}))
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		w.must(w.SetTiming(w.ctx(), validating))
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonRemembered))
		w.verdict(a1, check.Success)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonValidated))
		w.verdict(b1, check.Failure)
		if b := w.View().Get(id(b1)); b.MayServe {
			t.Errorf("after a failed check: %s", b.Reason)
		}
		w.must(w.SetTiming(w.ctx(), notValidating))
		w.see(b1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
	})
}

func TestLastHealthyAt_IsTheLastMomentOfBeingFit(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(a2)}))
		if b := w.View().Get(id(a1)); !b.LastHealthyAt.IsZero() {
			t.Errorf("never healthy, and yet %v", b.LastHealthyAt)
		}
		w.verdict(a1, check.Success)
		w.pass(20 * time.Second)
		w.verdict(a1, check.Failure)
		at := time.Now()
		w.pass(20 * time.Second)
		w.verdict(a1, check.Failure)
		if got := w.View().Get(id(a1)).LastHealthyAt; !got.Equal(at) {
			t.Errorf("last healthy at %v, want %v", got, at)
		}
	})
}

// A heartbeat is late after 1.2 times its interval. The node then checks the backends of the agent once, and again
// after the next late heartbeat.
func TestSilence_LateHeartbeatAsksForOwnChecks(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		var asked lateBackends
		w.restart(Options{Timing: validating, AgentLate: asked.add})
		agent, other := w.authority.agent("one", "eu", "a.example"), w.authority.agent("two", "eu", "b.example")
		for range 5 {
			w.beat(agent, a1+" healthy", a2+" healthy")
			w.beat(other, b1+" healthy")
			w.pass(11 * time.Second) // not late
		}
		if got := asked.take(); got != "" {
			t.Fatalf("asked for %s in spite of heartbeats", got)
		}
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.beat(other, b1+" healthy")
		w.pass(10 * time.Second)
		w.beat(other, b1+" healthy")
		w.pass(2*time.Second + 2*tick)
		if got := asked.take(); got != a1+" "+a2 {
			t.Errorf("asked for %q", got)
		}
		for range 3 {
			w.beat(other, b1+" healthy")
			w.pass(10 * time.Second)
		}
		if got := asked.take(); got != "" { // once per late heartbeat
			t.Errorf("asked again for %q", got)
		}
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.pass(12*time.Second + 2*tick)
		if got := asked.take(); got != a1+" "+a2+" "+b1 {
			t.Errorf("after the next silence: asked for %q", got)
		}
	})
}

// An agent states the interval of its heartbeats. With a short interval and late heartbeats it cannot raise the rate of
// own checks: the node reports a late heartbeat at most once per stale threshold.
func TestSilence_ShortIntervalsDoNotRaiseTheRateOfChecks(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		var asked lateBackends
		w.restart(Options{Timing: validating, AgentLate: asked.add})
		agent := w.authority.agent("one", "eu", "a.example")
		beat := func() {
			t.Helper()
			m := &wire.Heartbeat{Version: "test", IntervalMillis: 1, MissedThreshold: 3, Backends: claims(a1 + " healthy")}
			_, err := w.ApplyHeartbeat(w.ctx(), agent, m)
			w.must(err)
		}
		for range 50 {
			beat()
			w.pass(1200 * time.Millisecond)
		}
		if got := asked.take(); got != a1+" "+a1 {
			t.Errorf("in 60 s, asked for %q", got)
		}
		w.pass(DefaultStaleThreshold) // the last silence was not reported yet
		if got := asked.take(); got != a1 {
			t.Errorf("after the last heartbeat, asked for %q", got)
		}
	})
}

// lateBackends are the backends that AgentLate was called for.
type lateBackends struct {
	mu  sync.Mutex
	ids []string
}

func (l *lateBackends) add(id ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, id.String())
}

func (l *lateBackends) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.ids)
	taken := strings.Join(l.ids, " ")
	l.ids = nil
	return taken
}

// If all checks have failed since the last heartbeat of a silent agent, the backend is removed at the stale threshold,
// with fewer failures than failure_threshold. A success after the last heartbeat restores the failure threshold.
func TestSilence_WithFailedChecksOnlyEndsServiceAtTheStaleThreshold(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		failsOnce := func(s string) { // the threshold is not reached
			w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: id(s), Outcome: check.Failure,
				State: check.StateHealthy, Err: "timeout"}))
		}
		w.verdict(a1, check.Success)
		w.verdict(a2, check.Success)
		w.pass(10 * time.Second)
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.pass(15 * time.Second)
		w.verdict(a2, check.Success)
		failsOnce(a1)
		failsOnce(a2)
		w.see(a1, agreed)
		w.pass(DefaultStaleThreshold - 15*time.Second + detectionBound)
		w.see(a1, staleFailing)
		w.see(a2, staleValidated)
		w.verdict(a1, check.Success)
		w.see(a1, staleValidated)
		failsOnce(a1)
		w.see(a1, staleValidated)
	})
}
