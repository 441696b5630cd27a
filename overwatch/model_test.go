package overwatch // inside: it shares model_agent_test.go

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
)

// reference is a simple model of a node: its state and its answers. It stores plain facts, and derives all other data
// after every event and every second, without code of the node. Its times are whole seconds.
type reference struct {
	now      time.Time
	file     fileFacts
	over     layerFacts             // settings of the API
	domains  map[string]domainFacts // of the API
	places   map[string]regionFacts // of the API
	mappings map[int]string         // of the API: client to region
	database [historyClients]placeFacts
	servers  map[registry.ID]declared
	agents   map[string]*refAgent
	backends map[registry.ID]*refBackend // remaining state of known backends
	ordered  map[registry.ID]*refDrain   // drains of operators
	orders   []refOrder
	measured map[registry.ID]*refMeasured
	samples  []refSample // unused measurements

	regions []regionFacts          // of the file and the API
	served  map[string]domainFacts // by name

	suspended bool
	since     time.Time
}

// fileFacts is the configuration file.
type fileFacts struct {
	regions           []regionFacts
	domains           []domainFacts
	mappings          map[int]string // client to region
	defaultRegion     string
	returnLastHealthy bool
	ttl               int // default in seconds
	hashed            bool

	stale, remove, interval time.Duration
}

// layerFacts contains the settings of the API that replace settings of the file, nil for unset settings.
type layerFacts struct {
	ttl               *int
	returnLastHealthy *bool
	interval          *time.Duration
}

// under returns the target of over if it is set, otherwise the setting of the file.
func under[T any](over *T, file T) T {
	if over != nil {
		return *over
	}
	return file
}

func (m *reference) defaultTTL() int         { return under(m.over.ttl, m.file.ttl) }
func (m *reference) interval() time.Duration { return under(m.over.interval, m.file.interval) }
func (m *reference) lastHealthyDefault() bool {
	return under(m.over.returnLastHealthy, m.file.returnLastHealthy)
}

type regionFacts struct {
	name      string
	at        *refPlace
	countries []string
	continent string
	bias      int
	pool      string // routing_algorithm
	servers   []serverFacts

	priority int  // of the API
	disabled bool // of the API
}

type serverFacts struct {
	service string // "": the service of each domain that lists the region
	address string
	port    uint16
	weight  int
	agent   string // declared agent; "": none
}

type domainFacts struct {
	name, algorithm, fallback, onAllDown, minHealthy string

	regions                    []string
	ttl, threshold, maxAnswers int
	tolerance                  float64 // kilometres
	smoothing                  float64
	slowest                    time.Duration
	samples                    int
	disabled                   bool // of the API
}

// declared is a server of the file or the API.
type declared struct {
	weight int
	region string
	agent  string // declared agent
}

type refAgent struct {
	region string
	seen   time.Time
	heard  bool // this process has received a report
	said   map[registry.ID]*refClaim
}

type refClaim struct {
	said
	drain    *refDrain
	warnings [3]refWarning
}

type refDrain struct {
	since time.Time
	over  time.Duration
}

type refBackend struct {
	verdict     string // healthy, unhealthy or ""
	verdictAt   time.Time
	checkedEach time.Duration // the interval of checks at that time
	succeeding  bool          // the last conclusive check
	setAside    bool
	remembered  string
	lastHealthy time.Time
	wasFit      bool
}

type refOrder struct {
	service string
	address netip.Addr
	port    uint16 // 0: all
	healthy bool
	expires time.Time // zero: never
}

// endpoint returns the address, or the address and port, of an admin state in the store's format.
func (o refOrder) endpoint() string {
	if o.port == 0 {
		return o.address.String()
	}
	return netip.AddrPortFrom(o.address, o.port).String()
}

func (o refOrder) about(other refOrder) bool {
	return o.service == other.service && o.address == other.address && o.port == other.port
}

// join derives the regions and the served domains. An object of the file hides the API object of the same name. A
// domain of the API lists only existing regions.
func (m *reference) join() {
	m.regions = slices.Clone(m.file.regions)
	added := slices.SortedFunc(maps.Values(m.places), func(a, b regionFacts) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), strings.Compare(a.name, b.name))
	})
	for _, r := range added {
		if !r.disabled && m.region(r.name) == nil {
			m.regions = append(m.regions, r)
		}
	}
	m.served = map[string]domainFacts{}
	for name, d := range m.domains {
		if !d.disabled {
			d.regions = slices.DeleteFunc(slices.Clone(d.regions), func(r string) bool { return m.region(r) == nil })
			m.served[name] = d
		}
	}
	for _, d := range m.file.domains {
		m.served[d.name] = d
	}
}

// static returns the servers of the file, by backend.
func (m *reference) static() map[registry.ID]declared {
	all := map[registry.ID]declared{}
	for _, named := range []bool{false, true} { // servers with a service have precedence
		for _, r := range m.file.regions {
			for _, s := range r.servers {
				switch {
				case named && s.service != "":
					all[backendID(s.service, s.address, s.port)] = declared{s.weight, r.name, s.agent}
				case !named && s.service == "":
					for name, d := range m.served {
						if slices.Contains(d.regions, r.name) {
							all[backendID(name, s.address, s.port)] = declared{s.weight, r.name, s.agent}
						}
					}
				}
			}
		}
	}
	return all
}

func backendID(service, address string, port uint16) registry.ID {
	return registry.ID{Service: service, Address: netip.MustParseAddr(address), Port: port}
}

// advance advances the clock second by second.
func (m *reference) advance(d time.Duration) {
	for end := m.now.Add(d); m.now.Before(end); {
		m.takeSamples()
		m.now = m.now.Add(time.Second)
		m.settle()
	}
}

// settle removes expired data, derives self-isolation and updates the remaining state.
func (m *reference) settle() {
	m.join()
	m.orders = slices.DeleteFunc(m.orders, func(o refOrder) bool {
		return !o.expires.IsZero() &&
			!m.now.Before(o.expires)
	})
	m.sweep()
	m.judge()
	m.sweep()
	for _, a := range m.agents {
		for _, c := range a.said {
			c.followWarnings(m.now, m.now.Sub(a.seen) >= m.file.stale)
			if m.now.Sub(a.seen) >= m.file.remove { // a removed agent has no drain
				c.drain, c.draining = nil, false
			}
		}
	}
	m.forgetMeasured()
	m.hold()
}

func (m *reference) sweep() {
	static := m.static()
	for id, b := range m.backends {
		_, inFile := static[id]
		_, inAPI := m.servers[id]
		agent := m.claimant(id)
		if !inFile && !inAPI && agent != "" && m.silence(agent) >= m.file.remove && m.verdict(b) != "healthy" {
			delete(m.agents[agent].said, id)
			agent = ""
		}
		if !inFile && !inAPI && agent == "" {
			delete(m.backends, id)
		}
	}
	for _, id := range m.ids() {
		if m.backends[id] == nil {
			m.backends[id] = &refBackend{}
		}
		b := m.backends[id]
		if said, any := m.evidence(id); any {
			b.remembered = map[bool]string{true: "healthy", false: "unhealthy"}[said]
		}
		fit := m.fit(id)
		if fit != b.wasFit {
			b.lastHealthy = m.now
		}
		b.wasFit = fit
	}
}

// ids returns all declared and reported backends, in order.
func (m *reference) ids() []registry.ID {
	all := map[registry.ID]bool{}
	for id := range m.static() {
		all[id] = true
	}
	for id := range m.servers {
		all[id] = true
	}
	for _, a := range m.agents {
		for id := range a.said {
			all[id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), registry.ID.Compare)
}

// claimant returns the agent that reports a backend, or "" if no agent does.
func (m *reference) claimant(id registry.ID) string {
	for name, a := range m.agents {
		if _, claims := a.said[id]; claims {
			return name
		}
	}
	return ""
}

func (m *reference) silence(agent string) time.Duration { return m.now.Sub(m.agents[agent].seen) }

// verdictEnds returns the expiry of a check result, from the longer of the previous and the current interval.
func (m *reference) verdictEnds(b *refBackend) time.Time {
	return b.verdictAt.Add(3 * max(b.checkedEach, m.interval()))
}

// verdict returns the current result of own checks, or "" if there is none.
func (m *reference) verdict(b *refBackend) string {
	if b.setAside || b.verdict == "" || !m.now.Before(m.verdictEnds(b)) {
		return ""
	}
	return b.verdict
}

// evidence combines the agent report and the own check of a backend. any is false without either of them.
func (m *reference) evidence(id registry.ID) (healthy, any bool) {
	verdict := m.verdict(m.backends[id])
	claim, stale := "", false
	if agent := m.claimant(id); agent != "" {
		claim, stale = m.agents[agent].said[id].word, m.silence(agent) >= m.file.stale
	}
	switch {
	case stale:
		return verdict == "healthy", true
	case claim == "unhealthy":
		return verdict == "healthy" && m.outsider(id), true
	case claim == "healthy":
		return verdict != "unhealthy", true
	}
	return verdict == "healthy", verdict != ""
}

// outsider reports whether the reporter of a declared backend is unauthorized: the declaration does not name the agent.
func (m *reference) outsider(id registry.ID) bool { return m.declared(id).agent != m.claimant(id) }

// order returns the admin state of a backend, or nil if there is none. The state of a port has precedence over the
// state of an address.
func (m *reference) order(id registry.ID) *refOrder {
	for _, port := range []uint16{id.Port, 0} {
		for i := range m.orders {
			if o := &m.orders[i]; o.service == id.Service && o.address == id.Address && o.port == port {
				return o
			}
		}
	}
	return nil
}

// fit reports whether a backend may serve, without regard to its drain.
func (m *reference) fit(id registry.ID) bool {
	if o := m.order(id); o != nil {
		return o.healthy
	}
	if said, any := m.evidence(id); any {
		return said
	}
	return m.backends[id].remembered == "healthy"
}

// unknown reports whether no source has reported the health of a backend.
func (m *reference) unknown(id registry.ID) bool {
	_, said := m.evidence(id)
	return !said && m.order(id) == nil && m.backends[id].remembered == ""
}

// share returns the share of a backend in thousandths, with its drains and early warnings. A drain lowers the share to
// 0 in steps of a twentieth. The lowest share applies.
func (m *reference) share(id registry.ID) int {
	left := 1000
	for _, d := range m.drains(id) {
		left = min(left, max(1000-50*int(20*m.now.Sub(d.since)/d.over), 0))
	}
	if agent := m.claimant(id); agent != "" && !m.outsider(id) {
		for _, w := range m.agents[agent].said[id].warnings {
			left = min(left, w.share(m.now))
		}
	}
	return left
}

// warned reports whether early warnings reduce the share of a backend.
func (m *reference) warned(id registry.ID) bool {
	agent := m.claimant(id)
	return agent != "" && !m.outsider(id) && slices.ContainsFunc(m.agents[agent].said[id].warnings[:],
		func(w refWarning) bool { return w.share(m.now) < 1000 })
}

// drained returns the time of the first end of a drain of a backend, or zero without a drain.
func (m *reference) drained(id registry.ID) (first time.Time) {
	for _, d := range m.drains(id) {
		if end := d.since.Add(d.over); first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

// drains returns the drains of a backend by the operator and by its agent.
func (m *reference) drains(id registry.ID) (all []*refDrain) {
	if d := m.ordered[id]; d != nil {
		all = append(all, d)
	}
	if agent := m.claimant(id); agent != "" && m.agents[agent].said[id].drain != nil && !m.outsider(id) {
		all = append(all, m.agents[agent].said[id].drain)
	}
	return all
}

// judge determines self-isolation: the node then ignores its own failed checks.
func (m *reference) judge() {
	type sums struct{ good, bad int }
	regions, services, agents := map[string]*sums{}, map[string]*sums{}, map[string]bool{}
	for _, id := range m.ids() {
		b := m.backends[id]
		if b == nil || b.verdict == "" || !m.now.Before(m.verdictEnds(b)) {
			continue
		}
		agent := m.claimant(id)
		if !b.succeeding && (agent == "" || m.silence(agent) >= m.file.stale || m.agents[agent].said[id].word != "healthy") {
			continue
		}
		for _, s := range []struct {
			of  map[string]*sums
			key string
		}{{regions, m.declared(id).region}, {services, id.Service}} {
			if s.of[s.key] == nil {
				s.of[s.key] = &sums{}
			}
			if b.succeeding {
				s.of[s.key].good++
			} else {
				s.of[s.key].bad++
				agents[agent] = true
			}
		}
	}
	dark, contradicted := 0, 0
	for _, s := range regions {
		if s.bad > s.good {
			dark++
		}
	}
	for _, s := range services {
		if s.bad > 0 {
			contradicted++
		}
	}
	cut := len(agents) >= 2 && (dark >= 2 || dark == 1 && len(regions) == 1) &&
		(contradicted >= 2 || contradicted == 1 && len(services) == 1)
	switch {
	case cut && !m.suspended:
		m.suspended, m.since = true, m.now
		for _, b := range m.backends {
			b.setAside = b.setAside || b.verdict == "unhealthy"
		}
	case !cut && m.suspended && m.now.Sub(m.since) >= m.interval():
		m.suspended = false
	}
}

// declared returns the weight, region and agent of a backend from the first source with the backend: file, API, agent.
func (m *reference) declared(id registry.ID) declared {
	if d, ok := m.static()[id]; ok {
		return d
	}
	if d, ok := m.servers[id]; ok {
		return d
	}
	a := m.agents[m.claimant(id)]
	return declared{a.said[id].weight, a.region, m.claimant(id)}
}
