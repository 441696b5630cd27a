package notify

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/shared/api"
)

const (
	// maxQueued is the maximum number of waiting events of a target. maxEvents is the maximum number of listed events in a
	// message.
	maxQueued = 500
	maxEvents = 50
	// shortestTurn and longestTurn are the bounds of the delay that each rank adds before an event is sent (see rank).
	shortestTurn = 5 * time.Second
	longestTurn  = 15 * time.Second
)

// waiting is an event in the queue of a target.
type waiting struct {
	Event api.Event `json:"event"`
	Group string    `json:"group"`
	Own   bool      `json:"own"` // only this node sees the event and sends it
	Since time.Time `json:"since"`
}

// message is the message in transmission. It does not change until the target accepts it or permanently rejects it.
type message struct {
	Group   string             `json:"group"`
	Own     bool               `json:"own"`
	Message send.Message       `json:"message"`
	Tells   map[string]Telling `json:"tells"` // by key
}

// kept is the stored state of a target.
type kept struct {
	Position uint64    `json:"position"` // sequence of the last processed event
	Waiting  []waiting `json:"waiting"`  // oldest first
	Message  *message  `json:"message"`
	Told     tellings  `json:"told"`
	LastSent time.Time `json:"last_sent"`
}

// queueNewEvents queues the new events of the journal for the target. It reports whether it queued an event.
func (t *target) queueNewEvents() (taken bool) {
	events, _ := t.n.o.Journal.After(t.Position)
	now := time.Now()
	for i := range events {
		e := &events[i]
		t.Position = e.Sequence
		w := waiting{Event: *e, Group: groupOf(e, t.n.o.Node), Own: isOwn(e, t.n.o.Node), Since: now}
		state, phase := t.latest(w.Group, keyOf(e))
		if e.Phase == api.PhaseBegins && phase == api.PhaseBegins && state == e.State && e.Changes == 0 {
			continue // a repeated event
		}
		if t.selectsEvent(e) || e.Phase != api.PhaseOnce && phase == api.PhaseBegins {
			t.enqueue(w)
			taken = true
		}
	}
	return taken
}

// latest returns the latest sent or queued state of a key. If the state has started, the target also needs the
// notification of its end.
func (t *target) latest(group, key string) (state string, phase api.Phase) {
	for i := len(t.Waiting) - 1; i >= 0; i-- {
		if w := &t.Waiting[i]; w.Group == group && keyOf(&w.Event) == key {
			return w.Event.State, w.Event.Phase
		}
	}
	if t.Message != nil && t.Message.Group == group {
		if telling, told := t.Message.Tells[key]; told {
			return telling.State, telling.Phase
		}
	}
	return t.Told[group][key].State, t.Told[group][key].Phase
}

// enqueue adds an event. If the queue is full, enqueue drops the oldest event that has a later event with the same key,
// or else the oldest event.
func (t *target) enqueue(w waiting) {
	t.Waiting = append(t.Waiting, w)
	if len(t.Waiting) <= maxQueued {
		return
	}
	later := map[string]int{}
	for i := range t.Waiting {
		later[keyOf(&t.Waiting[i].Event)] = i
	}
	at := 0
	for i := range t.Waiting {
		if later[keyOf(&t.Waiting[i].Event)] > i {
			at = i
			break
		}
	}
	t.Waiting = slices.Delete(t.Waiting, at, at+1)
	t.dropped++
}

// first returns the group to send first, and the time to send it. A node of a rank above 0 adds a delay, because a node
// of a lower rank may be sending the group. The delay includes the time between the first and the latest event of the
// group, at most longestTurn.
func (t *target) first(peers []string) (group string, own bool, at time.Time) {
	seen, newest := map[string]bool{}, map[string]time.Time{}
	for i := range t.Waiting {
		newest[t.Waiting[i].Group] = t.Waiting[i].Since
	}
	turn := min(max(t.c.GroupWait, shortestTurn), longestTurn)
	for i := range t.Waiting {
		w := &t.Waiting[i]
		if seen[w.Group] {
			continue
		}
		seen[w.Group] = true
		due := w.Since.Add(t.c.GroupWait)
		if turns := rank(t.n.o.Node, peers, t.c.Name, w); !w.Own && turns > 0 {
			due = due.Add(time.Duration(turns)*turn + min(newest[w.Group].Sub(w.Since), longestTurn))
		}
		if group == "" || due.Before(at) {
			group, own, at = w.Group, w.Own, due
		}
	}
	return group, own, at
}

// compose creates a message from the waiting events of a group. It drops events that other nodes have sent. It also
// drops the end of a state if the target was never notified of its start. It returns nil if no event remains.
func (t *target) compose(group string, own bool) *message {
	var events []api.Event
	t.Waiting = slices.DeleteFunc(t.Waiting, func(w waiting) bool {
		if w.Group == group {
			events = append(events, w.Event)
		}
		return w.Group == group
	})
	now := time.Now()
	tells := map[string]Telling{}
	for i := range events {
		e := &events[i]
		tells[keyOf(e)] = Telling{State: e.State, Phase: e.Phase, Severity: e.Severity, Node: t.n.o.Node, At: now}
	}
	maps.DeleteFunc(tells, func(key string, telling Telling) bool {
		if telling.Phase == api.PhaseEnds && t.Told[group][key].Phase != api.PhaseBegins {
			return true
		}
		return t.Told.hasAllSent(group, t.n.o.Node, map[string]Telling{key: telling})
	})
	events = slices.DeleteFunc(events, func(e api.Event) bool { _, left := tells[keyOf(&e)]; return !left })
	if len(events) == 0 {
		return nil
	}
	after := tellings{}
	after.addNewer(group, t.Told[group])
	after.addNewer(group, tells)
	severity, open := after.open(group)
	last := events[len(events)-1].Time
	m := send.Message{ID: messageID(t.c.Name, group, tells, t.Told[group]), Key: group, Open: open,
		Severity: severity, Time: last, Node: t.n.o.Node}
	for i := range events {
		e := &events[i]
		m.Severity = worse(m.Severity, e.Severity)
		m.Resolved = m.Resolved || e.Phase == api.PhaseEnds && !open
	}
	m.Events, m.More = worstEvents(events)
	for key, telling := range tells {
		telling.ID = m.ID
		tells[key] = telling
	}
	return &message{Group: group, Own: own, Message: m, Tells: tells}
}

// worstEvents returns the events to list in a message, sorted by sequence, and the number of the other events. It
// selects the events of the highest severity.
func worstEvents(events []api.Event) (list []api.Event, more int) {
	if len(events) <= maxEvents {
		return events, 0
	}
	list = slices.Clone(events)
	slices.SortStableFunc(list, func(a, b api.Event) int {
		return cmp.Compare(b.Severity.Rank(), a.Severity.Rank())
	})
	list = list[:maxEvents]
	slices.SortFunc(list, func(a, b api.Event) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return list, len(events) - maxEvents
}
