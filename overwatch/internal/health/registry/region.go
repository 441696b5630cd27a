package registry

import (
	"maps"
	"slices"
	"time"
)

// region holds the writer's sums of the backends of a region, for mass-failure protection. It exists while the
// region has a serving or an accused backend.
type region struct {
	id      string
	serving int
	accused map[*record]bool // records that their agents call unhealthy
	brake   brake
	waits   bool // for its brake to be judged
}

// regionShare is the contribution of a record to the sums of its region.
type regionShare struct{ serving, accused bool }

func (g *region) accusedRecords() []*record {
	return slices.SortedFunc(maps.Keys(g.accused), func(a, b *record) int { return a.id.Compare(b.id) })
}

func (g *region) setSubject(state *BrakeState) {
	state.Region = g.id
	if g.brake.keeps {
		state.Agent, _ = g.accuser()
	}
}

// others returns the number of serving backends of g without the backends in taken.
func (g *region) others(taken []*record) int {
	n := g.serving
	for _, r := range taken {
		if r.share.serving {
			n--
		}
	}
	return n
}

func (g *region) rejudge(w *writer) {
	if !g.waits {
		g.waits = true
		w.unjudged = append(w.unjudged, g)
	}
}

// accuser returns the only agent that accuses backends of g. ok reports whether its reports would leave no serving
// backend in g.
func (g *region) accuser() (id string, ok bool) {
	var taken []*record
	for r := range g.accused {
		switch a := r.accusation(ConcernIll); {
		case a == nil || a.final || !r.pub.wouldServe(ConcernIll):
			continue
		case id != "" && id != r.claim.agent.id:
			return "", false
		default:
			id = r.claim.agent.id
		}
		taken = append(taken, r)
	}
	return id, len(taken) >= leastKept && g.others(taken) == 0
}

// judge switches the brake of g on or off.
func (g *region) judge(w *writer, now time.Time) {
	g.waits = false
	settings := w.options.Brake("")
	before := g.brake.keeps
	_, alone := g.accuser()
	g.brake.keeps = alone && settings.Enabled && settings.KeepRegion
	w.judgeBrake(&g.brake, settings, now)
	if !g.brake.on() {
		g.brake.keeps = false
	} else if g.brake.keeps != before {
		w.showBrakes()
	}
	if g.serving == 0 && len(g.accused) == 0 && !g.brake.on() {
		delete(w.regions, g.id)
	}
}

// accusedRecords returns the backends that the agent reports as unhealthy.
func (a *agent) accusedRecords() []*record { return slices.Clone(a.claims) }
func (a *agent) setSubject(s *BrakeState)  { s.Agent = a.id }

func (a *agent) others(taken []*record) (n int) {
	for _, r := range a.claims {
		if r.pub.MayServe && !r.outsider() && !slices.Contains(taken, r) {
			n++
		}
	}
	return n
}

func (a *agent) rejudge(w *writer) {
	if !a.waits {
		a.waits = true
		w.unjudged = append(w.unjudged, a)
	}
}

// judge switches the brake of a on or off.
func (a *agent) judge(w *writer, now time.Time) {
	a.waits = false
	if a.brake == nil {
		a.brake = &brake{of: a}
	}
	w.judgeBrake(a.brake, w.options.Brake(""), now)
	if !a.brake.on() {
		a.brake = nil
	}
}

// endProtection ends the brake of an agent that is forgotten.
func (w *writer) endProtection(a *agent, now time.Time) {
	if a.brake != nil && a.brake.on() {
		w.endBrake(a.brake, nil, brakeNothingHeld, now)
	}
}

// countInRegion updates the sums of the region of r, and has the brakes of its agent and its region judged if an
// agent accuses a backend there.
func (w *writer) countInRegion(r *record) {
	next := regionShare{}
	to := r.region
	if !r.removed {
		next = regionShare{serving: r.pub.MayServe, accused: r.accusation(ConcernIll) != nil}
		to = r.pub.Region
	}
	if g := w.regions[r.region]; g != nil && (r.region != to || r.share != next) {
		g.count(r, regionShare{})
		w.rejudgeIfAccused(g)
	}
	if r.region != to || r.share != next {
		r.region = to
		if next != (regionShare{}) {
			g := w.regions[to]
			if g == nil {
				g = &region{id: to, accused: map[*record]bool{}}
				g.brake.of = g
				w.regions[to] = g
			}
			g.count(r, next)
		}
	}
	if next.accused {
		w.regions[to].rejudge(w)
		r.claim.agent.rejudge(w)
	}
}

// count replaces what r counts for in g, which is its region.
func (g *region) count(r *record, next regionShare) {
	if r.share.serving {
		g.serving--
	}
	if next.serving {
		g.serving++
	}
	delete(g.accused, r)
	if next.accused {
		g.accused[r] = true
	}
	r.share = next
}

// rejudgeIfAccused has the brake of g judged if agents accuse its backends, or did until now.
func (w *writer) rejudgeIfAccused(g *region) {
	if len(g.accused) > 0 || g.brake.on() || g.serving == 0 {
		g.rejudge(w)
	}
}

// judgeProtection judges the brakes of the agents and regions that changed.
func (w *writer) judgeProtection(now time.Time) {
	for len(w.unjudged) > 0 {
		next := w.unjudged[0]
		w.unjudged = w.unjudged[1:]
		next.judge(w, now)
	}
	w.unjudged = nil
}
