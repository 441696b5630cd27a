package registry

import "time"

// How much one agent may change. A backend that it says something else about costs one unit, one that is new here
// costs newCost, since it is then also checked. A sound agent changes all of its backends now and then, which the
// burst is for. One that changes them all the time, because it flaps or means ill, waits: its next heartbeat that
// is taken has its whole state, and nobody else waits for it.
const (
	changeRate  = 64   // units in a second, over time
	changeBurst = 1024 // units at once
	newCost     = 8
	// deferralsLogged is the least time between two lines about one agent that changes too much.
	deferralsLogged = 10 * time.Minute
)

// budget is what an agent may still change. The zero value has its whole burst.
type budget struct {
	spent  float64 // units of the burst; beyond changeBurst after one large message
	at     time.Time
	logged time.Time
}

// spare reports whether a message that changes something is taken now. What it costs is charged when it is known.
func (b *budget) spare(now time.Time) bool {
	b.spent = max(0, b.spent-changeRate*now.Sub(b.at).Seconds())
	b.at = now
	return b.spent < changeBurst
}

func (b *budget) charge(units int) { b.spent += float64(units) }

// deferred is the outcome of a message that is not taken since its agent changes too much. The agent was heard.
func (w *writer) deferred(a *agent, now time.Time) Outcome {
	w.heard(a, now)
	if a.listed {
		a.noteSeen(now)
	}
	if b := &a.budget; b.logged.IsZero() || now.Sub(b.logged) >= deferralsLogged {
		b.logged = now
		w.options.Logger.Warn().Str("agent_id", a.id).Int("claims", len(a.claims)).
			Msg("an agent changes its backends more often than is taken: they follow later, with one of its heartbeats")
	}
	return Outcome{Deferred: true}
}
