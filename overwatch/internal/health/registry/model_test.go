package registry // inside: it uses stateOf

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// model is a simple version of the registry: it stores facts, and derives all state from them again after every event
// and every second. It only knows whole seconds.
type model struct {
	timing    Timing
	now       time.Time
	static    map[ID]Declaration
	leaving   map[ID]Declaration // removed declarations that serve until their successors have a result
	leavesBy  map[ID]time.Time
	api       map[ID]Declaration
	agents    map[string]*modelAgent
	backends  map[ID]*modelBackend // state that depends on history, while the backend is known
	overrides []AdminState
	drains    map[ID]time.Time // when the operator's drain began
	weights   map[ID]int       // weights of the operator
	suspended bool
	since     time.Time
}

// modelDrain is the length of the operator's drains.
const modelDrain = 40 * time.Second

type modelAgent struct {
	region string
	seen   time.Time
	said   map[ID]string // reported state
	drains map[ID]time.Time
}

type modelBackend struct {
	verdict     OwnCheck
	remembered  check.State
	lastHealthy time.Time
	wasFit      bool
	parting     *modelParting
}

// modelParting is the drain of an agent that has sent its leave message.
type modelParting struct{ since, at time.Time }

// seen is the state of one backend that the property test compares.
type seen struct {
	Status      api.EffectiveStatus
	MayServe    bool
	Reason      string
	Source      api.Source
	Weight      int
	Region      string
	AgentID     string
	Claim       string
	Share       float64
	Draining    bool
	State       check.State
	Failures    int
	Successes   int
	SetAside    bool
	LastHealthy time.Time
	Override    string
}

func newModel(timing Timing, now time.Time) *model {
	return &model{
		timing: timing, now: now, static: map[ID]Declaration{}, leaving: map[ID]Declaration{}, leavesBy: map[ID]time.Time{},
		api:    map[ID]Declaration{},
		agents: map[string]*modelAgent{}, backends: map[ID]*modelBackend{}, drains: map[ID]time.Time{}, weights: map[ID]int{},
	}
}

// advance lets time pass, one second at a time.
func (m *model) advance(d time.Duration) {
	for end := m.now.Add(d); m.now.Before(end); {
		m.now = m.now.Add(time.Second)
		m.settle()
	}
}

// claimant returns the agent that reports a backend, or "" if no agent does.
func (m *model) claimant(id ID) string {
	for name, a := range m.agents {
		if _, claims := a.said[id]; claims {
			return name
		}
	}
	return ""
}

func (m *model) silence(agent string) time.Duration { return m.now.Sub(m.agents[agent].seen) }

func (m *model) ids() []ID {
	return slices.DeleteFunc(slices.Clone(historyIDs), func(id ID) bool {
		_, static := m.static[id]
		_, leaving := m.leaving[id]
		_, api := m.api[id]
		return !static && !leaving && !api && m.claimant(id) == ""
	})
}

func (m *model) verdictCounts(b *modelBackend) bool {
	return m.timing.ValidationEnabled && b.verdict.State != check.StateUnknown &&
		m.now.Sub(b.verdict.At) < 3*m.timing.ValidationInterval
}

// settle removes abandoned backends, updates self-isolation, and updates all state that depends on history.
func (m *model) settle() {
	m.sweep()
	if m.judge() {
		m.sweep()
	}
	m.leave()
}

// declare replaces the declarations of the configuration.
func (m *model) declare(static map[ID]Declaration) {
	for id, d := range m.static {
		m.leaving[id], m.leavesBy[id] = d, m.now.Add(m.timing.ValidationInterval)
	}
	m.static = static
	for id := range static {
		delete(m.leaving, id)
	}
	m.sweep()
	m.leave()
}

// declareAhead adds declarations to the declarations of the configuration.
func (m *model) declareAhead(more map[ID]Declaration) {
	for id, d := range more {
		_, static := m.static[id]
		if _, leaving := m.leaving[id]; !static && !leaving {
			m.static[id] = d
		}
	}
	m.sweep()
	m.leave()
}

// awaited returns the services with a declared backend that has no check result.
func (m *model) awaited() map[string]bool {
	awaited := map[string]bool{}
	now := m.look()
	for id := range m.static {
		reason := now[id].Reason
		if reason == status.ReasonUnknown ||
			reason == status.ReasonRememberedUnhealthy && now[id].State == check.StateUnknown {
			awaited[id.Service] = true
		}
	}
	return awaited
}

// leave removes backends that are no longer declared. A backend that may serve stays while a declared backend of its
// service has no check result.
func (m *model) leave() {
	if len(m.leaving) == 0 {
		return
	}
	awaited, now := m.awaited(), m.look()
	for id := range m.leaving {
		if !awaited[id.Service] || !m.now.Before(m.leavesBy[id]) || !now[id].MayServe {
			delete(m.leaving, id)
		}
	}
	m.sweep()
}

func (m *model) sweep() {
	for name, a := range m.agents {
		if m.silence(name) >= m.timing.RemoveAfter { // the requests of a lost agent end
			clear(a.drains)
		}
	}
	for id, b := range m.backends {
		agent := m.claimant(id)
		_, static := m.static[id]
		_, leaving := m.leaving[id]
		static = static || leaving
		_, api := m.api[id]
		if !static && !api && agent != "" && m.silence(agent) >= m.timing.RemoveAfter &&
			!(m.verdictCounts(b) && !b.verdict.IsIgnored && b.verdict.State == check.StateHealthy) {
			delete(m.agents[agent].said, id)
			delete(m.agents[agent].drains, id)
			agent = ""
		}
		if !static && !api && agent == "" {
			delete(m.backends, id)
		}
	}
	for _, id := range m.ids() {
		b := m.backends[id]
		if b == nil {
			b = &modelBackend{}
			m.backends[id] = b
		}
		m.part(b)
		in := m.inputs(id, b)
		evidence := in
		evidence.Override = check.StateUnknown
		if in.Report != check.StateUnknown || in.Stale || in.Check != check.StateUnknown {
			b.remembered = stateOf(status.Conclude(evidence).MayServe)
		}
		fit := status.Conclude(m.inputs(id, b)).MayServe
		if fit != b.wasFit {
			b.lastHealthy = m.now
		}
		b.wasFit = fit
	}
}

// part ends the drains of an agent that has left as soon as the node's own check has a result.
func (m *model) part(b *modelBackend) {
	p := b.parting
	switch {
	case p == nil:
	case m.timing.ValidationEnabled && b.verdict.Successes > 0 && b.verdict.At.After(p.at),
		!m.timing.ValidationEnabled && m.now.Sub(p.at) >= m.timing.RemoveAfter:
		b.parting = nil
	}
}

func (m *model) inputs(id ID, b *modelBackend) status.Inputs {
	in := status.Inputs{LastKnown: b.remembered}
	if o := m.override(id); o != nil {
		in.Override = stateOf(o.Healthy)
	}
	switch {
	case !m.verdictCounts(b):
	case b.verdict.IsIgnored:
		in.Isolated = true
	default:
		in.Check = b.verdict.State
	}
	agent := m.claimant(id)
	if agent == "" {
		in.Unmonitored = !m.timing.ValidationEnabled
		return in
	}
	in.Stale, in.Unauthorized = m.silence(agent) >= m.timing.StaleThreshold, m.outsider(id)
	switch m.agents[agent].said[id] {
	case "healthy", "draining":
		in.Report = check.StateHealthy
	case "unhealthy":
		in.Report = check.StateUnhealthy
	}
	return in
}

func (m *model) override(id ID) *AdminState {
	m.overrides = slices.DeleteFunc(m.overrides,
		func(o AdminState) bool { return !o.ExpiresAt.IsZero() && !m.now.Before(o.ExpiresAt) })
	for _, port := range []uint16{id.Port, 0} {
		for i := range m.overrides {
			if o := &m.overrides[i]; o.Service == id.Service && o.Address == id.Address && o.Port == port {
				return o
			}
		}
	}
	return nil
}

// tally counts the evidence of a region or service.
type tally struct{ contradicting, succeeding int }

// judge applies the rules of self-isolation to all evidence, and reports whether self-isolation began or ended.
func (m *model) judge() (changed bool) {
	regions, services := map[string]*tally{}, map[string]*tally{}
	agents := map[string]bool{}
	for _, id := range m.ids() {
		b := m.backends[id]
		if b == nil || !m.verdictCounts(b) {
			continue
		}
		agent := m.claimant(id)
		contradicting := agent != "" && m.silence(agent) < m.timing.StaleThreshold &&
			(m.agents[agent].said[id] == "healthy" || m.agents[agent].said[id] == "draining")
		if b.verdict.Successes == 0 && !contradicting {
			continue
		}
		_, region, _ := m.declared(id)
		for key, sums := range map[string]map[string]*tally{region: regions, id.Service: services} {
			if sums[key] == nil {
				sums[key] = &tally{}
			}
			if b.verdict.Successes > 0 {
				sums[key].succeeding++
			} else {
				sums[key].contradicting++
			}
		}
		if b.verdict.Successes == 0 {
			agents[agent] = true
		}
	}
	dark, contradicted := 0, 0
	for _, t := range regions {
		if t.contradicting > t.succeeding {
			dark++
		}
	}
	for _, t := range services {
		if t.contradicting > 0 {
			contradicted++
		}
	}
	cut := (dark >= 2 || dark == 1 && len(regions) == 1) &&
		(contradicted >= 2 || contradicted == 1 && len(services) == 1) && len(agents) >= 2
	before := m.suspended
	switch {
	case cut && !m.suspended:
		m.suspended, m.since = true, m.now
		for _, b := range m.backends {
			b.verdict.IsIgnored = b.verdict.IsIgnored || b.verdict.State == check.StateUnhealthy
		}
	case !cut && m.suspended && m.now.Sub(m.since) >= m.timing.ValidationInterval:
		m.suspended = false
	}
	return m.suspended != before
}

// outsider reports whether the reporter of a declared backend is unauthorized: the declaration does not name the agent.
func (m *model) outsider(id ID) bool {
	agent, d := m.claimant(id), m.authority(id)
	return d != nil && agent != "" && d.Agent != agent
}

// authority returns the declaration with precedence, nil if there is none.
func (m *model) authority(id ID) *Declaration {
	for _, declarations := range []map[ID]Declaration{m.static, m.leaving, m.api} {
		if d, ok := declarations[id]; ok {
			return &d
		}
	}
	return nil
}

// declared returns the weight and region of the source with precedence, and the kind of this source.
func (m *model) declared(id ID) (weight int, region string, source api.Source) {
	if d, ok := m.static[id]; ok {
		return d.Weight, d.Region, api.SourceStatic
	}
	if d, ok := m.leaving[id]; ok {
		return d.Weight, d.Region, api.SourceStatic
	}
	if d, ok := m.api[id]; ok {
		return d.Weight, d.Region, api.SourceAPI
	}
	return 100, m.agents[m.claimant(id)].region, api.SourceAgent
}

// look returns the state that readers must receive.
func (m *model) look() map[ID]seen {
	all := map[ID]seen{}
	for _, id := range m.ids() {
		b := m.backends[id]
		in := m.inputs(id, b)
		c := status.Conclude(in)
		s := seen{
			Status: c.Status, MayServe: c.MayServe, Reason: c.Reason, AgentID: m.claimant(id), Share: 1,
			State: b.verdict.State, Failures: b.verdict.Failures, Successes: b.verdict.Successes, SetAside: b.verdict.IsIgnored,
		}
		s.Weight, s.Region, s.Source = m.declared(id)
		if s.AgentID != "" {
			s.Claim = strings.Replace(m.agents[s.AgentID].said[id], "draining", "healthy", 1)
			if from, drains := m.agents[s.AgentID].drains[id]; drains && !m.outsider(id) {
				s.drain(m.now.Sub(from), DefaultDrainTime)
			}
		}
		if b.parting != nil && (s.AgentID == "" || m.outsider(id)) {
			s.drain(m.now.Sub(b.parting.since), DefaultDrainTime)
		}
		if weight, ordered := m.weights[id]; ordered {
			s.Weight = weight
		}
		if from, drains := m.drains[id]; drains {
			s.drain(m.now.Sub(from), modelDrain)
		}
		if s.Share == 0 && s.MayServe {
			s.MayServe, s.Reason = false, status.ReasonDrained
			if m.override(id) != nil {
				s.Reason = status.ReasonDrainedAnyway
			}
		}
		if o := m.override(id); o != nil {
			s.Override = fmt.Sprint(o.Port, o.Healthy)
		}
		if !b.wasFit { // not compared while the backend is healthy
			s.LastHealthy = b.lastHealthy
		}
		all[id] = s
	}
	return all
}

func (s *seen) drain(elapsed, over time.Duration) {
	s.Draining = true
	left := status.DrainSteps - int(elapsed*status.DrainSteps/over)
	s.Share = min(s.Share, max(1-float64(status.DrainSteps-left)/status.DrainSteps, 0))
}

// lookAt returns the state of all backends as readers of a view receive it.
func lookAt(v *View) map[ID]seen {
	all := map[ID]seen{}
	for b := range v.Backends() {
		s := seen{
			Status: b.Status, MayServe: b.MayServe, Reason: b.Reason, Source: b.Source, Region: b.Region,
			Weight:  b.EffectiveWeight(),
			AgentID: b.AgentID, Share: b.Share, Draining: b.Draining, State: b.OwnCheck.State,
			Failures: b.OwnCheck.Failures, Successes: b.OwnCheck.Successes, SetAside: b.OwnCheck.IsIgnored,
		}
		if b.AgentID != "" {
			s.Claim = "none"
			if b.Reported != nil {
				s.Claim = stateOf(*b.Reported).String()
			}
		}
		if b.Override != nil {
			s.Override = fmt.Sprint(b.Override.Port, b.Override.Healthy)
		}
		if !b.isServable() {
			s.LastHealthy = b.LastHealthyAt
		}
		all[b.ID] = s
	}
	return all
}

// difference returns the first backend with different states in the two, or "" if they agree.
func difference(got, want map[ID]seen) string {
	var ids []ID
	for id := range got {
		ids = append(ids, id)
	}
	for id := range want {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, ID.Compare)
	for _, id := range ids {
		g, inGot := got[id]
		w, inWant := want[id]
		switch {
		case !inGot:
			return fmt.Sprintf("%s is missing, want %+v", id, w)
		case !inWant:
			return fmt.Sprintf("%s is there, and should not be: %+v", id, g)
		case !g.LastHealthy.Equal(w.LastHealthy):
			return fmt.Sprintf("%s was last healthy at %v, want %v", id, g.LastHealthy, w.LastHealthy)
		}
		g.LastHealthy = w.LastHealthy
		if g != w {
			return fmt.Sprintf("%s is\n%+v, want\n%+v", id, g, w)
		}
	}
	return ""
}
