package registry // inside: it counts deadlines

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/wire"
)

// An agent reports new backends continuously, each with a drain or a warning of one day. The memory contains only the
// backends of one minute.
func TestWatch_RemovedBackendsLeaveTheQueueWithinAMinute(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		const day = uint32(status.MaxRampTime / time.Millisecond)
		for round := range 30 {
			said := claims(everything("draining")...)
			for i := range said {
				said[i].Port = uint16(1 + round*wire.MaxBackends + i)
				if said[i].DrainMillis = day; i%2 == 0 {
					said[i].Draining, said[i].Warnings = false, wire.Warnings{CPUMillis: day}
				}
			}
			outcome, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Region: "eu", Backends: said})
			if w.must(err); outcome.Deferred || len(outcome.Refused) > 0 {
				t.Fatalf("round %d: %+v", round, outcome)
			}
			w.pass(10 * time.Second)
		}
		waiting, err := runCommand(w.ctx(), w.Registry, func(w *writer, _ time.Time) (int, error) {
			return len(w.deadlines),
				nil
		})
		if w.must(err); waiting > 8*wire.MaxBackends {
			t.Errorf("%d deadlines wait, of %d backends", waiting, len(w.View().Service("a.example")))
		}
	})
}

// A deadline without a change publishes nothing.
func TestWatch_ALongDrainPublishesItsStepsAlone(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		_, err := w.SetDrain(w.ctx(), id(a1), status.MaxRampTime)
		w.must(err)
		before, changed := w.View().Service("a.example"), w.changed.count()
		w.pass(status.MaxRampTime/status.DrainSteps - time.Second)
		if after := w.View().Service("a.example"); &before[0] != &after[0] || w.changed.count() != changed {
			t.Errorf("%d publications before the first step", w.changed.count()-changed)
		}
		w.pass(time.Second + tick)
		w.share(a1, 1-1./status.DrainSteps, true)
		if n := w.changed.count() - changed; n != 1 {
			t.Errorf("%d publications at the first step", n)
		}
	})
}
