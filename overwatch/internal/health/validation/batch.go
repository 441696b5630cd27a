package validation

import "gslb.internal/overwatch/internal/health/registry"

// batch is one call of CheckNow. Run's goroutine fills it and then closes done; the caller reads it afterwards.
type batch struct {
	wants    func(registry.ID) bool
	missing  int
	verdicts []registry.Verdict
	done     chan struct{}
}

func (b *batch) finishIfComplete() {
	if b.missing == 0 {
		close(b.done)
	}
}

// release gives the entry's verdict to everyone who waits for it; nil if there will be none.
func (e *entry) release(v *registry.Verdict) {
	for _, b := range e.waiting {
		if v != nil {
			b.verdicts = append(b.verdicts, *v)
		}
		b.missing--
		b.finishIfComplete()
	}
	e.waiting = nil
}
