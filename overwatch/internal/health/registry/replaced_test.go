package registry // inside: it uses smallService and tick

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gslb.internal/shared/check"
)

// If servers replace all previous servers, a backend of the service may serve at every time.
func TestSetStatic_ServersThatServeStayUntilThoseInTheirPlaceAreJudged(t *testing.T) {
	const a3 = "a.example:10.0.0.3:80"
	for _, test := range []struct {
		name  string
		then  func(w *world)
		stays bool
	}{
		{"no check result yet", func(*world) {}, true},
		{"a check that could not be made", func(w *world) { w.verdict(a3, check.Unknown) }, true},
		{"healthy", func(w *world) { w.verdict(a3, check.Success) }, false},
		{"unhealthy", func(w *world) { w.verdict(a3, check.Failure) }, false},
		{"nearly an interval", func(w *world) { w.pass(DefaultValidationInterval - time.Second) }, true},
		{"an interval", func(w *world) { w.pass(DefaultValidationInterval) }, false},
		{"what was to leave became unhealthy", func(w *world) { w.verdict(a1, check.Failure) }, false},
		{"the same declared again after a while", func(w *world) {
			w.pass(DefaultValidationInterval / 2)
			w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a3)}))
			w.pass(DefaultValidationInterval / 2)
		}, false},
		{"declared as before", func(w *world) {
			w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
			w.pass(2 * DefaultValidationInterval)
		}, true},
		{"nothing declared", func(w *world) { w.must(w.SetStaticDeclarations(w.ctx(), nil)) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, validating, func(w *world) {
				w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(a2)}))
				w.verdict(a1, check.Success)
				w.verdict(a2, check.Failure)
				w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a3)}))
				if w.View().Get(id(a2)) != nil {
					t.Error("one that might not serve stayed")
				}
				test.then(w)
				if stays := w.View().Get(id(a1)) != nil; stays != test.stays {
					t.Errorf("the server that was taken away is there: %v, want %v", stays, test.stays)
				}
			})
		})
	}
}

// Each removed server keeps its own interval: an earlier reload does not shorten it.
func TestSetStatic_TwoReloadsInARowLeaveNoMomentWithoutAServer(t *testing.T) {
	const a3, a4 = "a.example:10.0.0.3:80", "a.example:10.0.0.4:80"
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(a2)}))
		w.verdict(a1, check.Success)
		w.verdict(a2, check.Success)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(a3)}))
		w.pass(DefaultValidationInterval - time.Second)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a4)}))
		w.pass(2 * time.Second)
		w.seeNone(a2)
		w.seeNone(a3)
		if b := w.View().Get(id(a1)); b == nil || !b.MayServe {
			t.Fatal("the last server left before the one in its place was checked")
		}
		w.pass(DefaultValidationInterval - 2*time.Second - tick)
		if w.View().Get(id(a1)) == nil {
			t.Error("it left before its interval was over")
		}
		w.pass(tick)
		w.seeNone(a1)
	})
}

// A reader between two commands finds at least one backend that may serve, in a service of any size.
func TestSetStatic_AMoveOfAllServersLeavesNoMomentWithoutOne(t *testing.T) {
	for _, size := range []int{1, 3, 2 * smallService} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			inWorld(t, validating, func(w *world) {
				var before, after []Declaration
				for i := range size {
					before = append(before, static(fmt.Sprintf("a.example:10.0.%d.%d:80", i/250, i%250+1)))
					after = append(after, static(fmt.Sprintf("a.example:10.1.%d.%d:80", i/250, i%250+1)))
				}
				look := func() error {
					serving := 0
					for _, b := range w.View().Service("a.example") {
						if b.MayServe {
							serving++
						}
					}
					if serving < size {
						return fmt.Errorf("%d of %d serve", serving, size)
					}
					return nil
				}
				w.must(w.SetStaticDeclarations(w.ctx(), before))
				for _, d := range before {
					w.verdict(d.ID.String(), check.Success)
				}
				var gaps []error
				w.must(w.SetStaticDeclarations(w.ctx(), after))
				gaps = append(gaps, look())
				for _, d := range after {
					w.verdict(d.ID.String(), check.Success)
					gaps = append(gaps, look())
				}
				w.must(errors.Join(gaps...))
				w.pass(time.Second)
				if left := len(w.View().Service("a.example")); left != size {
					t.Errorf("%d backends are left, want %d", left, size)
				}
			})
		})
	}
}
