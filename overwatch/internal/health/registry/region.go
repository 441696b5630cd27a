package registry

import (
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
)

// region counts the backends of a region for mass-failure protection. It exists while the region has a serving backend
// or an unconfirmed report of unhealthy.
type region struct {
	id       string
	serving  int
	reported map[*record]bool // records with an unconfirmed report of unhealthy
	hold     hold
	isQueued bool // for an update of its hold
}

// contribution is the part of a record in the counts of its region.
type contribution struct{ serving, reported bool }

func (g *region) reportedRecords() []*record {
	return slices.SortedFunc(maps.Keys(g.reported), func(a, b *record) int { return a.id.Compare(b.id) })
}

func (g *region) nameIn(state *HoldState) {
	state.Region = g.id
	if g.hold.KeepsRegion {
		state.Agent, _ = g.soleReporter()
	}
}

func (g *region) servingWithout(stopped []*record) int {
	n := g.serving
	for _, r := range stopped {
		if r.contribution.serving {
			n--
		}
	}
	return n
}

func (g *region) queueHoldUpdate(w *writer) {
	if !g.isQueued {
		g.isQueued = true
		w.queuedHolds = append(w.queuedHolds, g)
	}
}

// soleReporter returns the agent of all unconfirmed reports about g, or "" if there are several agents. emptiesRegion
// reports whether its reports would stop all serving backends of g.
func (g *region) soleReporter() (id string, emptiesRegion bool) {
	var stopped []*record
	for r := range g.reported {
		switch report := r.unconfirmedReport(status.ReportUnhealthy); {
		case report == nil || report.Final || !r.published.wouldServeWithout(status.ReportUnhealthy):
			continue
		case id != "" && id != r.report.agent.id:
			return "", false
		default:
			id = r.report.agent.id
		}
		stopped = append(stopped, r)
	}
	return id, status.EmptiesRegion(len(stopped), g.servingWithout(stopped))
}

// updateHold starts or ends the hold of g.
func (g *region) updateHold(w *writer, now time.Time) {
	g.isQueued = false
	settings := w.options.Protection("")
	before := g.hold.KeepsRegion
	_, emptiesRegion := g.soleReporter()
	g.hold.KeepsRegion = emptiesRegion && settings.Enabled && settings.KeepRegion
	w.updateHold(&g.hold, settings, now)
	if !g.hold.IsActive() {
		g.hold.KeepsRegion = false
	} else if g.hold.KeepsRegion != before {
		w.publishHolds()
	}
	if g.serving == 0 && len(g.reported) == 0 && !g.hold.IsActive() {
		delete(w.regions, g.id)
	}
}

func (a *agent) reportedRecords() []*record { return slices.Clone(a.records) }
func (a *agent) nameIn(s *HoldState)        { s.Agent = a.id }

func (a *agent) servingWithout(stopped []*record) (n int) {
	for _, r := range a.records {
		if r.published.MayServe && !r.hasUnauthorizedReporter() && !slices.Contains(stopped, r) {
			n++
		}
	}
	return n
}

func (a *agent) queueHoldUpdate(w *writer) {
	if !a.isQueued {
		a.isQueued = true
		w.queuedHolds = append(w.queuedHolds, a)
	}
}

// updateHold starts or ends the hold of a.
func (a *agent) updateHold(w *writer, now time.Time) {
	a.isQueued = false
	if a.hold == nil {
		a.hold = &hold{subject: a}
	}
	w.updateHold(a.hold, w.options.Protection(""), now)
	if !a.hold.IsActive() {
		a.hold = nil
	}
}

// endAgentHold ends the hold of an agent that is removed.
func (w *writer) endAgentHold(a *agent, now time.Time) {
	if a.hold != nil && a.hold.IsActive() {
		w.endHold(a.hold, nil, status.HoldEmpty, now)
	}
}

// updateContribution updates the counts of the region of r. It queues updates of the holds of the agent and the region
// if the region has unconfirmed reports.
func (w *writer) updateContribution(r *record) {
	next := contribution{}
	to := r.region
	if !r.isRemoved {
		next = contribution{serving: r.published.MayServe, reported: r.unconfirmedReport(status.ReportUnhealthy) != nil}
		to = r.published.Region
	}
	if g := w.regions[r.region]; g != nil && (r.region != to || r.contribution != next) {
		g.setContribution(r, contribution{})
		w.queueRegionUpdate(g)
	}
	if r.region != to || r.contribution != next {
		r.region = to
		if next != (contribution{}) {
			g := w.regions[to]
			if g == nil {
				g = &region{id: to, reported: map[*record]bool{}}
				g.hold.subject = g
				w.regions[to] = g
			}
			g.setContribution(r, next)
		}
	}
	if next.reported {
		w.regions[to].queueHoldUpdate(w)
		r.report.agent.queueHoldUpdate(w)
	}
}

// setContribution replaces the contribution of r, which is in g.
func (g *region) setContribution(r *record, next contribution) {
	if r.contribution.serving {
		g.serving--
	}
	if next.serving {
		g.serving++
	}
	delete(g.reported, r)
	if next.reported {
		g.reported[r] = true
	}
	r.contribution = next
}

// queueRegionUpdate queues an update of g if its hold may change, or if g may be removed.
func (w *writer) queueRegionUpdate(g *region) {
	if len(g.reported) > 0 || g.hold.IsActive() || g.serving == 0 {
		g.queueHoldUpdate(w)
	}
}
