package registry

import (
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// suspension is the judgement whether this node itself is cut off: then its own verdicts are set aside and claims
// decide.
//
// The evidence is every backend whose last conclusive check is recent. A backend whose check succeeded speaks for the
// node. One whose check failed while its agent freshly says healthy contradicts the node. Others say nothing:
// where agent and node agree that a backend is down, or no agent watches it, either may be cut off. A region is dark
// when more of its backends contradict than succeed.
//
//	state      suspended when                                                       decided
//	counting   two regions are dark, or the only one is; and at least two agents,   at once
//	           and two services unless there is only one, contradict
//	suspended  the same                                                             not before one validation interval
//
// The agents and services are counted because regions are what agents say they are: nobody who holds one service's
// token, and no single agent, can switch off what protects the others from a lie.
type suspension struct {
	active bool
	since  time.Time
	timer  deadlineAt

	regions map[string]*tally
	// lit and dark count the regions with evidence, and those of them that are dark.
	lit, dark int
	// judged and contradicted count services with evidence, and with a contradiction; agents counts contradicting ones.
	judged, contradicted, agents int
}

// tally counts the evidence of one region or service.
type tally struct{ contradicting, succeeding int }

func (t tally) any() bool  { return t.contradicting+t.succeeding > 0 }
func (t tally) dark() bool { return t.contradicting > t.succeeding }

// evidence is one backend's sign that this node is cut off, or that it is not.
type evidence uint8

const (
	evidenceNone evidence = iota
	evidenceSucceeding
	evidenceContradicting
)

// side is the evidence that one backend gives, and the sums that it is counted in.
type side struct {
	evidence evidence
	region   string
	agent    *agent // of a contradicting one
}

// sideOf returns the evidence that r gives at now.
func (w *writer) sideOf(r *record, now time.Time) side {
	if !w.validated(r, now) {
		return side{}
	}
	_, region, _ := r.declaration()
	region = w.options.RegionName(region)
	if r.pub.Validation.Successes > 0 {
		return side{evidence: evidenceSucceeding, region: region}
	}
	if r.claim == nil || w.stale(r.claim.agent, now) || r.claim.said.claim != wire.ClaimHealthy {
		return side{}
	}
	return side{evidence: evidenceContradicting, region: region, agent: r.claim.agent}
}

// setSide replaces the evidence that r gives, and the sums that it counts in.
func (w *writer) setSide(r *record, next side) {
	if r.side == next {
		return
	}
	w.count(r, r.side, -1)
	w.count(r, next, +1)
	r.side = next
}

// count adds by, which is 1 or -1, to every sum that s is in.
func (w *writer) count(r *record, s side, by int) {
	if s.evidence == evidenceNone {
		return
	}
	u := &w.suspension
	region := u.regions[s.region]
	if region == nil {
		region = &tally{}
		u.regions[s.region] = region
	}
	service := &r.service.evidence
	regionBefore, serviceBefore := *region, *service
	region.add(s.evidence, by)
	service.add(s.evidence, by)
	u.lit += step(regionBefore.any(), region.any())
	u.dark += step(regionBefore.dark(), region.dark())
	u.judged += step(serviceBefore.any(), service.any())
	u.contradicted += step(serviceBefore.contradicting > 0, service.contradicting > 0)
	if !region.any() {
		delete(u.regions, s.region)
	}
	if s.agent != nil {
		before := s.agent.contradicted > 0
		s.agent.contradicted += by
		u.agents += step(before, s.agent.contradicted > 0)
	}
}

func (t *tally) add(e evidence, by int) {
	if e == evidenceContradicting {
		t.contradicting += by
	} else {
		t.succeeding += by
	}
}

// step returns the change of a count of things for which a condition holds.
func step(before, after bool) int {
	switch {
	case before == after:
		return 0
	case after:
		return 1
	default:
		return -1
	}
}

// cutOff reports whether the condition of suspension's table holds.
func (u *suspension) cutOff() bool {
	regions := u.dark >= 2 || u.dark == 1 && u.lit == 1
	services := u.contradicted >= 2 || u.contradicted == 1 && u.judged == 1
	return regions && services && u.agents >= 2
}

// judgeSuspension begins or ends a suspension, as the table says. Servers of which some are already in another region,
// or gone, and some not yet are no evidence.
func (w *writer) judgeSuspension(now time.Time) {
	if w.declaring {
		return
	}
	u := &w.suspension
	cut := u.cutOff()
	if cut == u.active {
		return
	}
	if ends := u.since.Add(w.timing.ValidationInterval); u.active && now.Before(ends) {
		w.wake(u, &u.timer, ends)
		return
	}
	u.active = cut
	w.view.suspended.Store(cut)
	if !cut {
		w.options.Logger.Info().Msg("this node's own checks succeed again: its verdicts count again")
		return
	}
	u.since = now
	w.options.Logger.Warn().Int("regions", u.dark).Int("agents", u.agents).
		Msg("this node's own checks fail for most backends while their agents say healthy: this node is cut off, its own " +
			"verdicts are set aside and claims decide until checks succeed; look at this node's own network")
	w.setAllAside(now)
}

// due implements timed: publish, which follows, decides.
func (u *suspension) due(_ *writer, at deadlineAt, _ time.Time) {
	if u.timer == at {
		u.timer = 0
	}
}

// setAllAside sets every bad verdict aside that was made before the suspension was noticed.
func (w *writer) setAllAside(now time.Time) {
	for r := range w.records() {
		if v := r.pub.Validation; v.State == check.StateUnhealthy && !v.SetAside {
			v.SetAside = true
			w.setValidation(r, v, now)
			w.refresh(r, now)
		}
	}
}

// setAside reports whether the verdict next is set aside. During a suspension every bad one is. Afterwards a bad
// verdict made during it stays set aside while checks begin to succeed; a check that fails now makes it count.
func (w *writer) setAside(before, next Validation) bool {
	if next.State != check.StateUnhealthy {
		return false
	}
	if w.suspension.active {
		return true
	}
	return before.SetAside && next.Failures == 0
}

// ValidationSuspended reports whether this node has set its own verdicts aside because it seems to be cut off.
func (v *View) ValidationSuspended() bool { return v.suspended.Load() }
