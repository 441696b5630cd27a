package registry // inside: it uses tick

import (
	"math"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// weigh returns the admin state of a weight.
func weigh(s string, weight int) AdminState {
	at := id(s)
	return AdminState{Kind: api.OrderWeight, Service: at.Service, Address: at.Address, Port: at.Port, Weight: weight,
		Reason: "test", CreatedAt: time.Now()}
}

func (w *world) weight(s string, want int) {
	w.t.Helper()
	if b := w.View().Get(id(s)); b == nil || b.EffectiveWeight() != want || b.Weight != 100 {
		w.t.Errorf("%s: %+v, want the weight %d over the declared 100", s, b, want)
	}
}

func TestWeight_CountsOverEachSourceAndEndsByItself(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		const static1, ofAPI = "b.example:10.0.0.1:80", "c.example:10.0.0.1:80"
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(static1)}))
		w.must(w.ChangeDeclarations(w.ctx(), []Declaration{static(ofAPI)}, nil))
		for _, s := range []string{a1, static1, ofAPI} {
			before := w.changed.count()
			o := weigh(s, 7)
			o.ExpiresAt = time.Now().Add(20 * time.Second)
			w.must(w.SetAdminState(w.ctx(), o))
			w.weight(s, 7)
			if w.changed.count() == before {
				t.Errorf("nobody was told that %s has another weight", s)
			}
			w.beat(agent, a1+" healthy") // the report still has the weight 100
			w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(static1)}))
			w.weight(s, 7)
		}
		w.beatFor(21*time.Second, agent, a1+" healthy")
		for _, s := range []string{a1, static1, ofAPI} {
			w.weight(s, 100)
		}
		if e := w.ended(); len(e) != 3 || e[0].Kind != api.OrderWeight {
			t.Errorf("told of what has expired: %+v", e)
		}
	})
}

func TestDrain_ToAShareEndsThereAndServesOn(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		o := weigh(a1, 0)
		o.Kind, o.Share, o.Duration = api.OrderDrain, 0.25, 100*time.Second
		w.must(w.SetAdminState(w.ctx(), o))
		for _, want := range []float64{1, 0.8125, 0.625, 0.4375, 0.25, 0.25} {
			if b := w.View().Get(id(a1)); math.Abs(b.Share-want) > 1e-9 || !b.MayServe || !b.Draining || b.DrainTo != 0.25 {
				t.Errorf("want the share %v: %+v", want, b)
			}
			w.pass(25 * time.Second)
		}
		w.must(w.ClearDrain(w.ctx(), id(a1)))
		w.share(a1, 1, true)
	})
}

// The drain of an agent to a share of 0 takes precedence over the drain of an operator to a higher share.
func TestDrain_ToNothingIsFurtherThanToAShare(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" draining")
		o := weigh(a1, 0)
		o.Kind, o.Share, o.Duration = api.OrderDrain, 0.5, time.Second
		w.must(w.SetAdminState(w.ctx(), o))
		w.pass(2 * time.Second)
		w.share(a1, 0.5, true)
		if b := w.View().Get(id(a1)); b.DrainTo != 0 {
			t.Errorf("it drains to %v", b.DrainTo)
		}
		w.beatFor(DefaultDrainTime, agent, a1+" draining")
		w.share(a1, 0, false)
	})
}

func TestWindow_BeginsAndEndsByItselfAlsoAfterARestart(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		for name, restarts := range map[string]bool{"running": false, "restarted": true} {
			w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
			told := len(w.begun())
			o := weigh(a1, 5)
			o.StartsAt = time.Now().Add(10 * time.Minute).Round(0)
			o.ExpiresAt = o.StartsAt.Add(time.Hour)
			w.must(w.SetAdminState(w.ctx(), o))
			w.keep(o)
			restart := func() {
				if restarts {
					w.restart(Options{Timing: notValidating})
					w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
				}
			}
			restart()
			w.weight(a1, 100)
			if list := w.View().AdminStates(); len(list) != 1 || list[0].IsActive || w.View().CountActive(api.OrderWeight) != 0 {
				t.Errorf("%s: before it begins: %+v", name, list)
			}
			w.pass(10*time.Minute - time.Second)
			w.weight(a1, 100)
			w.pass(time.Second + tick)
			w.weight(a1, 5)
			if b := w.begun(); len(b) != told+1 || !b[told].IsActive || w.View().CountActive(api.OrderWeight) != 1 {
				t.Errorf("%s: told of what began: %+v", name, b)
			}
			o.IsActive = true
			w.keep(o) // as the receiver of the call does
			restart()
			w.weight(a1, 5)
			if b := w.begun(); len(b) != told+1 {
				t.Errorf("%s: told once more of what began: %+v", name, b)
			}
			w.pass(time.Hour)
			w.weight(a1, 100)
			if e := w.ended(); len(e) == 0 || !e[len(e)-1].IsActive {
				t.Errorf("%s: told of what ended: %+v", name, e)
			}
			w.kept = nil
		}
	})
}

// A node that was down at the start of a window reports the start when it starts. The drain has the same state as on
// other nodes.
func TestWindow_ThatBeganWhileTheNodeWasDown(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		o := weigh(a1, 0)
		o.Kind, o.Duration, o.StartsAt = api.OrderDrain, 100*time.Second, time.Now().Add(time.Minute).Round(0)
		w.must(w.SetAdminState(w.ctx(), o))
		w.keep(o)
		w.stop()
		w.pass(time.Minute + 25*time.Second)
		w.restart(Options{Timing: notValidating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.share(a1, 0.75, true)
		if b := w.begun(); len(b) != 1 {
			t.Errorf("told of what began: %+v", b)
		}
		w.pass(75*time.Second + tick)
		w.share(a1, 0, false)
	})
}

func TestOrder_ThatMakesNoSenseIsRefused(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		for name, spoil := range map[string]func(*AdminState){
			"no kind":               func(o *AdminState) { o.Kind = "" },
			"a weight of all ports": func(o *AdminState) { o.Port = 0 },
			"a weight below zero":   func(o *AdminState) { o.Weight = -1 },
			"a weight beyond all":   func(o *AdminState) { o.Weight = 1001 },
			"a drain to all":        func(o *AdminState) { o.Kind, o.Share = api.OrderDrain, 1 },
			"a drain to no number":  func(o *AdminState) { o.Kind, o.Share = api.OrderDrain, math.NaN() },
			"a drain of two days":   func(o *AdminState) { o.Kind, o.Duration = api.OrderDrain, 48*time.Hour },
			"an end before its beginning": func(o *AdminState) {
				o.StartsAt, o.ExpiresAt = time.Now().Add(time.Hour), time.Now().Add(time.Minute)
			},
		} {
			o := weigh(a1, 5)
			spoil(&o)
			if err := w.SetAdminState(w.ctx(), o); err == nil {
				t.Errorf("%s was taken", name)
			}
		}
	})
}
