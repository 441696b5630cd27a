package registry // inside: it uses idOf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// TestRegistry_SeesWhatTheModelSees applies random histories to the registry, which updates changed state, and to the
// model, which derives all state again. It compares all state that readers receive after each event.
func TestRegistry_SeesWhatTheModelSees(t *testing.T) {
	histories, events := 120, 250
	if testing.Short() {
		histories = 25
	}
	suspensions := 0
	for seed := range uint64(histories) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			timing := validating
			if seed%4 == 3 {
				timing = notValidating
			}
			inWorld(t, timing, func(w *world) {
				h := newHistory(w, timing, seed)
				h.log = append(h.log, h.declareStatic())
				for range events {
					event := h.next()
					synctest.Wait()
					if d := difference(lookAt(w.View()), h.model.look()); d != "" {
						w.t.Fatalf("after %s:\n%s\nhistory:\n%s", event, d, h)
					}
					for _, status := range api.EffectiveStatuses() {
						counted := 0
						for b := range w.View().Backends() {
							if b.Status == status {
								counted++
							}
						}
						if got := w.View().Count(status); got != counted {
							w.t.Fatalf("after %s: %d backends are counted %s, want %d\nhistory:\n%s", event, got, status, counted, h)
						}
					}
					if h.model.suspended {
						suspensions++
					}
					if got := w.View().IsIsolated(); got != h.model.suspended {
						w.t.Fatalf("after %s: suspended %v, want %v\nhistory:\n%s", event, got, h.model.suspended, h)
					}
				}
			})
		})
	}
	if suspensions == 0 {
		t.Error("no history led to a suspension: the events are too tame")
	}
}

// history generates events and applies them to both.
type history struct {
	*world
	model  *model
	random *rand.Rand
	agents []historian
	log    []string
}

type historian struct {
	name, region string
	agent        trust.Agent
}

// The number of addresses is small, so that several sources declare the same backend.
var historyIDs = func() (ids []ID) {
	for _, service := range []string{"a.example", "b.example", "c.example"} {
		for i := range 4 {
			ids = append(ids, id(fmt.Sprintf("%s:10.0.0.%d:%d", service, i/2+1, 80+i%2)))
		}
	}
	return ids
}()

func newHistory(w *world, timing Timing, seed uint64) *history {
	h := &history{world: w, model: newModel(timing, time.Now()), random: rand.New(rand.NewPCG(seed, 1))}
	for i, region := range []string{"eu", "eu", "us", "ap"} {
		name := fmt.Sprintf("agent%d", i)
		h.agents = append(h.agents, historian{name, region,
			w.authority.agent(name, region, "a.example", "b.example", "c.example")})
	}
	return h
}

func (h *history) String() string {
	text := ""
	for _, line := range h.log[max(0, len(h.log)-40):] {
		text += line + "\n"
	}
	return text
}

func (h *history) id() ID { return historyIDs[h.random.IntN(len(historyIDs))] }

// next applies one event and describes it.
func (h *history) next() string {
	var event string
	switch n := h.random.IntN(100); {
	case n < 30:
		event = h.heartbeat()
	case n < 40:
		event = h.transition()
	case n < 62:
		event = h.check()
	case n < 80:
		event = h.time()
	case n < 83:
		event = h.declareStatic()
	case n < 84:
		event = h.addStatic()
	case n < 87:
		event = h.declareAPI()
	case n < 92:
		event = h.override()
	case n < 94:
		event = h.drain()
	case n < 96:
		event = h.weigh()
	default:
		event = h.leave()
	}
	h.model.settle()
	h.log = append(h.log, fmt.Sprintf("%s %s", h.model.now.Format("15:04:05"), event))
	return event
}

func (h *history) time() string {
	d := []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 10 * time.Second, 31 * time.Second,
		95 * time.Second, 6 * time.Minute}[h.random.IntN(7)]
	h.pass(d)
	h.model.advance(d)
	return d.String() + " pass"
}

func (h *history) word() string {
	return []string{"healthy", "healthy", "healthy", "healthy", "unhealthy", "none", "draining"}[h.random.IntN(7)]
}

func (h *history) heartbeat() string {
	who := h.agents[h.random.IntN(len(h.agents))]
	var said []string
	old := h.model.agents[who.name]
	if old != nil && h.random.IntN(2) == 0 { // repeat the previous event
		for id, word := range old.said {
			said = append(said, id.String()+" "+word)
		}
		slices.Sort(said)
	} else {
		for _, id := range historyIDs {
			if h.random.IntN(3) == 0 {
				said = append(said, id.String()+" "+h.word())
			}
		}
	}
	h.beat(who.agent, said...)
	h.model.heartbeat(who, said)
	return fmt.Sprintf("%s says %v", who.name, said)
}

func (h *history) transition() string {
	who := h.agents[h.random.IntN(len(h.agents))]
	said := h.id().String() + " " + h.word()
	_, err := h.ApplyTransition(h.ctx(), who.agent, &wire.Transition{Backend: claims(said)[0]})
	h.must(err)
	h.model.hear(who).say(h.model, who.name, said)
	return fmt.Sprintf("%s says at once %s", who.name, said)
}

func (h *history) check() string {
	outcome := []check.Outcome{check.Success, check.Failure, check.Failure, check.Unknown}[h.random.IntN(4)]
	ids := []ID{h.id()}
	if h.random.IntN(4) == 0 {
		ids = historyIDs
	}
	for _, id := range ids {
		h.verdict(id.String(), outcome)
		h.model.verdict(id, outcome)
		h.model.settle()
	}
	return fmt.Sprintf("%s of %v", outcome, ids)
}

// declarations returns declarations that a file may have.
func (h *history) declarations() (list []Declaration, byID map[ID]Declaration) {
	byID = map[ID]Declaration{}
	for _, id := range historyIDs {
		if h.random.IntN(4) == 0 {
			d := Declaration{
				ID: id, Weight: h.random.IntN(5), Region: []string{"eu", "eu", "us", "ap"}[h.random.IntN(4)],
				Check: unique.Make(tcp), Agent: h.named(),
			}
			list = append(list, d)
			byID[id] = d
		}
	}
	return list, byID
}

// named returns the agent that a declaration names, or "" in most cases.
func (h *history) named() string {
	return []string{"", "", "agent0", "agent1", "agent2", "agent9"}[h.random.IntN(6)]
}

func (h *history) declareStatic() string {
	list, static := h.declarations()
	before := lookAt(h.View())
	h.must(h.SetStaticDeclarations(h.ctx(), list))
	h.model.declare(static)
	h.keepsServing(before, static)
	return fmt.Sprintf("static %v", list)
}

// keepsServing fails if a service lost a serving backend while the node makes checks and no declared backend of the
// service has a check result.
func (h *history) keepsServing(before map[ID]seen, static map[ID]Declaration) {
	after, judged := lookAt(h.View()), map[string]bool{}
	declared := map[string]bool{}
	for id := range static {
		declared[id.Service] = true
		judged[id.Service] = judged[id.Service] || after[id].Reason != status.ReasonUnknown
	}
	for id, b := range before {
		if h.model.timing.ValidationEnabled && b.MayServe && declared[id.Service] && !judged[id.Service] &&
			!after[id].MayServe {
			h.t.Errorf("%s was %+v, and is %+v, while those in its place wait for their first verdict; history:\n%s", id, b,
				after[id], h)
		}
	}
}

func (h *history) addStatic() string {
	list, static := h.declarations()
	h.must(h.AddStaticDeclarations(h.ctx(), list))
	h.model.declareAhead(static)
	return fmt.Sprintf("static ahead %v", list)
}

func (h *history) declareAPI() string {
	d := Declaration{ID: h.id(), Weight: 7, Region: "us", Check: unique.Make(tcp), Agent: h.named()}
	if _, there := h.model.api[d.ID]; there {
		delete(h.model.api, d.ID)
		h.must(h.ChangeDeclarations(h.ctx(), nil, []ID{d.ID}))
		return "withdraw " + d.ID.String()
	}
	h.model.api[d.ID] = d
	h.must(h.ChangeDeclarations(h.ctx(), []Declaration{d}, nil))
	return "declare " + d.ID.String()
}

func (h *history) override() string {
	target := h.id()
	o := AdminState{Kind: api.OrderOverride, Service: target.Service, Address: target.Address, Port: target.Port,
		Healthy: h.random.IntN(2) == 0}
	if h.random.IntN(3) == 0 {
		o.Port = 0
	}
	if h.random.IntN(2) == 0 {
		o.ExpiresAt = time.Now().Add(40 * time.Second)
	}
	same := func(other AdminState) bool { return other.HasSameObject(&o) }
	if h.random.IntN(2) == 0 {
		cleared := h.ClearAdminState(h.ctx(), api.OrderOverride, o.Service, o.Address, o.Port) == nil
		if cleared != slices.ContainsFunc(h.model.overrides, same) {
			h.t.Errorf("cleared %v", cleared)
		}
		h.model.overrides = slices.DeleteFunc(h.model.overrides, same)
		return "clear " + o.subject()
	}
	if h.SetAdminState(h.ctx(), o) == nil {
		h.model.overrides = append(slices.DeleteFunc(h.model.overrides, same), o)
	}
	return fmt.Sprintf("override %s %v", o.subject(), o.Healthy)
}

func (h *history) drain() string {
	target := h.id()
	_, drains := h.model.drains[target]
	if h.random.IntN(3) == 0 {
		if err := h.ClearDrain(h.ctx(), target); (err == nil) != drains {
			h.t.Errorf("ending the drain of %s: %v", target, err)
		}
		delete(h.model.drains, target)
		return "end the drain of " + target.String()
	}
	if _, err := h.SetDrain(h.ctx(), target, modelDrain); err != nil {
		h.t.Errorf("draining %s: %v", target, err)
	}
	begins := h.model.now
	if drains { // the drain continues at the share of the previous drain
		done := min(h.model.now.Sub(h.model.drains[target]), modelDrain)
		begins = begins.Add(-done.Truncate(modelDrain / status.DrainSteps))
	}
	h.model.drains[target] = begins
	return "drain " + target.String()
}

func (h *history) weigh() string {
	o := AdminState{Kind: api.OrderWeight, Weight: h.random.IntN(3)}
	target := h.id()
	o.Service, o.Address, o.Port = target.Service, target.Address, target.Port
	if h.random.IntN(2) == 0 {
		_, ordered := h.model.weights[target]
		if err := h.ClearAdminState(h.ctx(), o.Kind, o.Service, o.Address, o.Port); (err == nil) != ordered {
			h.t.Errorf("clearing the weight of %s: %v", target, err)
		}
		delete(h.model.weights, target)
		return "clear the weight of " + target.String()
	}
	if h.SetAdminState(h.ctx(), o) == nil {
		h.model.weights[target] = o.Weight
	}
	return fmt.Sprintf("weigh %s %d", target, o.Weight)
}

func (h *history) leave() string {
	who := h.agents[h.random.IntN(len(h.agents))]
	left := h.model.agents[who.name]
	if h.random.IntN(2) == 0 {
		if left != nil {
			for id, since := range left.drains {
				if h.model.authority(id) != nil && !h.model.outsider(id) {
					h.model.backends[id].parting = &modelParting{since, h.model.now}
				}
			}
		}
		delete(h.model.agents, who.name)
		h.must(h.ApplyGoodbye(h.ctx(), who.agent))
		return who.name + " leaves"
	}
	delete(h.model.agents, who.name)
	h.must(h.RemoveAgent(h.ctx(), who.name))
	return who.name + " is dropped"
}

// hear updates the last-seen time of an agent.
func (m *model) hear(who historian) *modelAgent {
	a := m.agents[who.name]
	if a == nil {
		a = &modelAgent{said: map[ID]string{}, drains: map[ID]time.Time{}}
		m.agents[who.name] = a
	}
	a.region, a.seen = who.region, m.now
	return a
}

func (m *model) heartbeat(who historian, said []string) {
	a := m.hear(who)
	before := a.said
	a.said = map[ID]string{}
	for id, word := range before { // so that no other agent can report these backends meanwhile
		a.said[id] = word
	}
	kept := map[ID]bool{}
	for _, s := range said {
		if taken, ok := a.say(m, who.name, s); ok {
			kept[taken] = true
		}
	}
	for id := range before {
		if !kept[id] {
			delete(a.said, id)
			delete(a.drains, id)
		}
	}
}

// say makes a report of an agent, unless another active agent already reports the backend.
func (a *modelAgent) say(m *model, name, said string) (ID, bool) {
	backend := claims(said)[0]
	target := idOf(&backend)
	if other := m.claimant(target); other != "" && other != name {
		if m.silence(other) < m.timing.RemoveAfter && (!m.outsider(target) || m.authority(target).Agent != name) {
			return ID{}, false
		}
		delete(m.agents[other].said, target)
		delete(m.agents[other].drains, target)
	}
	word := said[len(target.String())+1:]
	a.said[target] = word
	if b := m.backends[target]; b != nil && !m.outsider(target) {
		b.parting = nil
	}
	if _, draining := a.drains[target]; word == "draining" && !draining {
		a.drains[target] = m.now
	} else if word != "draining" {
		delete(a.drains, target)
	}
	return target, true
}

func (m *model) verdict(id ID, outcome check.Outcome) {
	b := m.backends[id]
	if b == nil || !m.timing.ValidationEnabled || outcome == check.Unknown {
		return
	}
	v := &b.verdict
	v.At = m.now
	if outcome == check.Success {
		v.State, v.Failures, v.Successes, v.IsIgnored = check.StateHealthy, 0, v.Successes+1, false
	} else {
		v.State, v.Failures, v.Successes, v.IsIgnored = check.StateUnhealthy, v.Failures+1, 0, m.suspended
	}
}
