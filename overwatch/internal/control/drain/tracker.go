package drain

import (
	"context"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

// lookEvery is the interval of comparisons of drains with the published answers.
const lookEvery = time.Second

// Options configures a Tracker. Now may be nil.
type Options struct {
	View    *registry.View
	DNSView func() *zone.View // the view of published answers
	Now     func() time.Time
}

// Tracker records when the published answers last contained each drained backend. Its methods may be called
// concurrently.
type Tracker struct {
	o     Options
	start time.Time

	mu     sync.Mutex
	drains map[registry.ID]*record // active drains
}

// record is the state of a drained backend.
type record struct {
	number   uint32 // number of the last compared decision input; 0 before the first
	answered bool
	last     time.Time     // last time at which the answers contained the backend
	ttl      time.Duration // longest TTL of the answers that resolvers may cache
}

// NewTracker returns a Tracker. It assumes that the previous answers contained all drained backends.
func NewTracker(o Options) *Tracker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Tracker{o: o, start: o.Now(), drains: make(map[registry.ID]*record)}
}

// Run compares the drains with the published answers until ctx ends. It returns nil.
func (t *Tracker) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			t.Look()
		}
	}
}

// Look compares all drains with the published answers, and removes ended drains.
func (t *Tracker) Look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	present := make(map[registry.ID]bool, len(t.drains))
	for _, o := range t.o.View.AdminStates() {
		if o.Kind != api.OrderDrain || !o.IsActive {
			continue
		}
		id := registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}
		if b := t.o.View.Get(id); b != nil && b.AdminDrain != nil {
			present[id] = true
			t.update(b)
		}
	}
	for id := range t.drains {
		if !present[id] {
			delete(t.drains, id)
		}
	}
}

// Stage returns the stage of an operator's active drain of a backend, and the time from which the backend is safe to
// stop, or zero if it is unknown.
func (t *Tracker) Stage(b *registry.Backend) (api.DrainStage, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.update(b)
	s := State{Share: b.DrainTo, EndsAt: b.DrainEndsAt, TTL: r.ttl, Answered: r.answered, LastAnswered: r.last}
	return s.Stage(t.o.Now())
}

// Planned returns the stage of a planned drain, and the time from which its backend will be safe to stop.
func (t *Tracker) Planned(o registry.AdminState) (api.DrainStage, time.Time) {
	s := State{Share: o.Share, StartsAt: o.StartsAt, EndsAt: o.StartsAt.Add(o.Duration)}
	family := policy.FamilyOf(o.Address)
	for _, group := range t.clientGroups(o.Service, family) {
		s.TTL = max(s.TTL, ttlOf(explain.AnswerOf(&group, family)))
	}
	return s.Stage(t.o.Now())
}

// update compares a drained backend with the published answers of its name.
func (t *Tracker) update(b *registry.Backend) *record {
	r := t.drains[b.ID]
	if r == nil {
		r = &record{last: t.start}
		t.drains[b.ID] = r
	}
	was := r.answered
	r.compare(b, t.clientGroups(b.Service, policy.FamilyOf(b.Address)))
	if was || r.answered { // until now, answers may have contained the backend
		r.last = t.o.Now()
	}
	return r
}

// clientGroups returns the groups of clients with equal answers for a name. It returns none if no domain has the name.
func (t *Tracker) clientGroups(name string, family policy.Family) []zone.ClientGroup {
	list, err := t.o.DNSView().ClientGroups(name, family)
	if err != nil { // the service is not a domain name
		return nil
	}
	return list
}

// compare records whether an answer contains the address or the target of a backend, and the TTL. If the decision input
// is unchanged since the previous call, it does nothing.
func (r *record) compare(b *registry.Backend, groups []zone.ClientGroup) {
	number := uint32(0)
	if len(groups) > 0 {
		number = groups[0].Input.Number
	}
	if number != 0 && number == r.number {
		return
	}
	first := r.number == 0
	r.number, r.answered = number, false
	for i := range groups {
		answer := explain.AnswerOf(&groups[i], policy.FamilyOf(b.Address))
		has := answer.Has(b.Address, b.Host().Name)
		r.answered = r.answered || has
		if has || first {
			r.ttl = max(r.ttl, ttlOf(answer))
		}
	}
}

func ttlOf(answer explain.RegionAnswer) time.Duration {
	return time.Duration(answer.Decision.TTL) * time.Second
}
