package registry

import (
	"time"
	"unique"

	"gslb.internal/shared/api"
)

// restore takes over the state of before the restart. Agents' claims are there at once, as if their agents had been
// heard when this process began but had concluded nothing; the state of other backends waits until they are declared.
// Orders that have expired meanwhile are left out, and Expired is called for them. A bad record is left out and logged:
// it is no reason not to answer.
func (w *writer) restore(now time.Time) {
	m := &w.memory
	m.gone, m.waiting = make(map[ID]struct{}), make(map[ID]int, len(w.options.Restored))
	m.restored = w.options.Restored
	for _, o := range w.options.Orders {
		if err := o.normalise(); err != nil {
			w.options.Logger.Error().Err(err).Msg("a stored order is left out")
			continue
		}
		w.restoreOrder(o, now)
	}
	for i := range m.restored {
		id, err := NewID(m.restored[i].Service, m.restored[i].Address, m.restored[i].Port)
		if err != nil {
			w.options.Logger.Error().Err(err).Msg("a stored status is left out")
			continue
		}
		m.waiting[id] = i
	}
	for i := range m.restored {
		r := &m.restored[i]
		if id, err := NewID(r.Service, r.Address, r.Port); err == nil && r.AgentSourced && w.allowed(r.AgentID, id) {
			w.refresh(w.obtain(id, now), now)
		}
	}
	if len(m.waiting) > 0 {
		w.wake(&forgetting{}, new(deadlineAt), now.Add(w.timing.RemoveAfter))
	}
	w.options.Restored, w.options.Orders = nil, nil
	w.publish(now)
}

func (w *writer) allowed(agentID string, id ID) bool {
	return agentID != "" && w.options.Allowed(agentID, id)
}

// recall sets up a new record from the saved one of its id, if there is one.
func (w *writer) recall(r *record, now time.Time) {
	at, found := w.memory.waiting[r.id]
	if !found {
		return
	}
	delete(w.memory.waiting, r.id)
	m := &w.memory.restored[at]
	r.stored, r.savedAt = true, w.at(now)
	if !m.Unknown {
		r.remembered = stateOf(m.Healthy)
	}
	r.outdated = now.Sub(m.At).Abs() > latencyAge+w.timing.RemoveAfter
	r.pub.LastHealthyAt, r.pub.Validation.Latency = m.LastHealthyAt, m.Latency
	if !m.CreatedAt.IsZero() {
		r.pub.CreatedAt = restoredSince(m.CreatedAt, now)
	}
	w.recallBrake(r, ConcernIll, m.HeldSince, now)
	w.recallBrake(r, ConcernWarned, m.WarningHeldSince, now)
	drain := restoredDrain(m.AgentDrainSince, m.AgentDrainOver, m.AgentLeftAt, now)
	if drain != nil && !drain.leftAt.IsZero() {
		r.leftDrain, drain = drain, nil
	}
	if !w.allowed(m.AgentID, r.id) {
		return
	}
	a := w.agent(m.AgentID)
	if !a.listed {
		a.seen = now
		w.wake(a, &a.timer, now.Add(w.timing.StaleThreshold))
	}
	if m.HeardAt.IsValid() {
		a.address = m.HeardAt
	}
	r.claim = &claim{agent: a, weight: min(max(m.Weight, 0), api.MaxWeight), region: m.Region, asked: unique.Make(m.Check)}
	r.claim.drain = drain
	r.claim.warnings, r.claim.said.warnings = restoredWarnings(m.Bleeds, now)
	w.reduce(r)
	a.claims = append(a.claims, r)
}

// recallBrake goes on with a brake that held r before the restart. Until this node has checked r itself, the saved hold
// stands for a successful check.
func (w *writer) recallBrake(r *record, c Concern, since, now time.Time) {
	settings := w.options.Brake(r.service.name)
	if since.IsZero() || !settings.Enabled {
		return
	}
	r.heldBefore = true
	if now.Sub(since) >= settings.Hold { // by one without an end by time
		return
	}
	b := &w.brakesOf(r.service)[c]
	if !b.on() {
		b.since = restoredSince(since, now)
		w.mark(r.service, false)
		w.showBrakes()
	}
}

// forgetting is the deadline after which restored backends are forgotten that nothing has declared.
type forgetting struct{}

// due implements timed.
func (*forgetting) due(w *writer, _ deadlineAt, _ time.Time) {
	for id := range w.memory.waiting {
		w.forgetID(id)
	}
	w.memory.restored, w.memory.waiting = nil, nil
}
