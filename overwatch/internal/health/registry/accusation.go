package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// accusation is an agent's statement against a backend that this node's own check does not confirm: unhealthy, or an
// early warning. Silence, a goodbye, a drain and the end of a claim are no accusations, nor is anything that an
// outsider says.
type accusation struct {
	since time.Time // zero: none
	// believed tells that the brake does not hold it: the backend did not serve when it began, it is older than the window
	// in which the brake counts, or a brake has let it go.
	believed bool
	// final tells that nothing ever holds it: the backend did not serve when it began, or an operator released it.
	final bool
}

// accusation returns the accusation of r's agent of the kind c, nil for none.
func (r *record) accusation(c Concern) *accusation {
	if r.accused == nil || r.accused[c].since.IsZero() {
		return nil
	}
	return &r.accused[c]
}

// accuse updates the accusations of r from its claim and its verdict at now.
func (w *writer) accuse(r *record, now time.Time) {
	for c := range concerns {
		accused := w.accuses(r, c, now)
		switch before := r.accusation(c); {
		case accused == (before != nil):
			continue
		case !accused:
			*before = accusation{}
		default:
			if r.accused == nil {
				r.accused = new([concerns]accusation)
			}
			ill := r.remembered != check.StateHealthy
			r.accused[c] = accusation{since: now, believed: ill, final: ill}
			w.brakesOf(r.service)
		}
		w.mark(r.service, false)
	}
	if r.accused != nil && *r.accused == ([concerns]accusation{}) {
		r.accused = nil
	}
}

// accuses reports whether the agent of r, and nobody else, speaks against it.
func (w *writer) accuses(r *record, c Concern, now time.Time) bool {
	if r.claim == nil || r.outsider() || w.stale(r.claim.agent, now) {
		return false
	}
	if v := r.pub.Validation; w.validated(r, now) && !v.SetAside && v.Failures > 0 {
		return false
	}
	if c == ConcernIll {
		return r.claim.said.claim == wire.ClaimUnhealthy
	}
	return r.claim.said.warnings != wire.Warnings{}
}

// witnessed reports whether this node's own check of r succeeds, and is as complete as its agent's. After a restart,
// that a brake held r before it counts as a success until there is a verdict, but not after a failed check.
func (w *writer) witnessed(r *record, now time.Time) bool {
	v := r.pub.Validation
	if v.State == check.StateUnknown {
		return r.heldBefore && v.Failures == 0 && w.timing.ValidationEnabled
	}
	return w.validated(r, now) && v.State == check.StateHealthy && v.Failures == 0 && r.fullyChecked()
}

// fullyChecked reports whether this node checks r as its agent asks, or as the operator does.
func (r *record) fullyChecked() bool {
	d := r.authority()
	if d == nil {
		return r.claim.omitted == 0 || r.claim.omitted == reduce.ByPolicy
	}
	if own := d.check.Value(); own != (check.Spec{}) && own != (check.Spec{Type: check.TCP}) {
		return true
	}
	// Where the declaration says nothing of a check, the node only connects.
	asked, left := reduce.Check(r.claim.asked.Value(), true)
	return left == 0 && asked.Type == check.TCP
}

// holder returns the brake that holds the agent's accusation of the kind c against r, nil for none. The
// brake of the service has precedence over the region, and the region over the agent. Brakes of regions and agents hold
// no early warnings.
func (w *writer) holder(r *record, c Concern, now time.Time) *brake {
	a := r.accusation(c)
	if a == nil || a.final || !w.witnessed(r, now) {
		return nil
	}
	if s := r.service; !a.believed && s.brakes != nil && s.brakes[c].on() {
		return &s.brakes[c]
	}
	if c != ConcernIll || !w.options.Brake(r.service.name).Enabled {
		return nil
	}
	if g := w.regions[r.region]; g != nil && g.brake.on() && (!a.believed || g.brake.keeps) {
		return &g.brake
	}
	if b := r.claim.agent.brake; !a.believed && b != nil && b.on() {
		return b
	}
	return nil
}

// isHeldElsewhere reports whether a brake other than b holds r. A brake that protects a
// whole region may replace the brake of an agent.
func (w *writer) isHeldElsewhere(r *record, b *brake, now time.Time) bool {
	other := w.holder(r, b.concern, now)
	if other == nil {
		return false
	}
	_, ofAgent := other.of.(*agent)
	return !ofAgent || !b.keeps
}

// heldReason returns the reason of a backend that a brake holds.
func (b *brake) heldReason() string {
	switch b.of.(type) {
	case *agent:
		return status.ReasonHeldAgent
	case *region:
		return status.ReasonHeldRegion
	}
	return status.ReasonHeld
}

// HeldFor returns the concern whose brake holds b, which must be Held.
func (b *Backend) HeldFor() Concern {
	if b.Reason == status.ReasonWarningHeld {
		return ConcernWarned
	}
	return ConcernIll
}

// wouldServe reports whether b serves, or would serve without its agent's accusation of the kind c.
func (b *Backend) wouldServe(c Concern) bool {
	return b.Override == nil && (b.MayServe || c == ConcernIll && b.Share > 0)
}
