package overwatch

import (
	"maps"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/registry"
)

// reference is what a node believes and answers, without any cleverness: plain facts, from which everything is derived anew
// after every event and every second, with nothing of the node's own code. It knows whole seconds only.
type reference struct {
	now      time.Time
	file     fileFacts
	domains  map[string]domainFacts // of the API
	mappings map[int]string         // of the API: client to region
	servers  map[registry.ID]declared
	agents   map[string]*refAgent
	backends map[registry.ID]*refBackend // what history left behind, for as long as the backend is known
	orders   []refOrder

	suspended bool
	since     time.Time
}

// The timing of all that follows: the specification's reference values.
const (
	refStale    = 30 * time.Second
	refRemove   = 5 * time.Minute
	refInterval = 30 * time.Second
	refTTL      = 20 // seconds, where a domain says nothing
)

// fileFacts is the configuration file.
type fileFacts struct {
	regions           []regionFacts
	domains           []domainFacts
	mappings          map[int]string // client to region
	defaultRegion     string
	returnLastHealthy bool
}

type regionFacts struct {
	name      string
	placed    bool
	latitude  float64
	longitude float64
	pool      string // routing_algorithm
	servers   []serverFacts
}

type serverFacts struct {
	service string // "": one of every domain that lists the region
	address string
	port    uint16
	weight  int
}

type domainFacts struct {
	name, algorithm, fallback, onAllDown, minHealthy string

	regions                    []string
	ttl, threshold, maxAnswers int
	disabled                   bool // of the API
}

// declared is a server of the file or the API.
type declared struct {
	weight int
	region string
}

type refAgent struct {
	region string
	seen   time.Time
	said   map[registry.ID]refClaim
}

type refClaim struct {
	word   string // healthy, unhealthy or none
	weight int
	drain  *refDrain
}

type refDrain struct {
	since time.Time
	over  time.Duration
}

type refBackend struct {
	verdict     string // healthy, unhealthy or "" for none
	verdictAt   time.Time
	succeeding  bool // the last conclusive check
	setAside    bool
	remembered  string
	lastHealthy time.Time
	wasFit      bool
	drain       *refDrain // an operator's
}

type refOrder struct {
	service string
	address netip.Addr
	port    uint16 // 0: all
	healthy bool
	expires time.Time // zero: never
}

func (o refOrder) about(other refOrder) bool {
	return o.service == other.service && o.address == other.address && o.port == other.port
}

// joined is the domains that are served, by name: where the file and the API have one of a name, the file's.
func (m *reference) joined() map[string]domainFacts {
	all := map[string]domainFacts{}
	for name, d := range m.domains {
		if !d.disabled {
			d.regions = slices.DeleteFunc(slices.Clone(d.regions), func(r string) bool { return m.region(r) == nil })
			all[name] = d
		}
	}
	for _, d := range m.file.domains {
		all[d.name] = d
	}
	return all
}

func (m *reference) region(name string) *regionFacts {
	for i := range m.file.regions {
		if m.file.regions[i].name == name {
			return &m.file.regions[i]
		}
	}
	return nil
}

// static is the servers of the file, by backend.
func (m *reference) static() map[registry.ID]declared {
	all := map[registry.ID]declared{}
	for _, named := range []bool{false, true} { // a named one wins
		for _, r := range m.file.regions {
			for _, s := range r.servers {
				switch {
				case named && s.service != "":
					all[backendID(s.service, s.address, s.port)] = declared{s.weight, r.name}
				case !named && s.service == "":
					for name, d := range m.joined() {
						if slices.Contains(d.regions, r.name) {
							all[backendID(name, s.address, s.port)] = declared{s.weight, r.name}
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

// advance lets seconds pass, one by one.
func (m *reference) advance(d time.Duration) {
	for end := m.now.Add(d); m.now.Before(end); {
		m.now = m.now.Add(time.Second)
		m.settle()
	}
}

// settle removes what is abandoned, judges the suspension and brings what history leaves behind up to date.
func (m *reference) settle() {
	m.orders = slices.DeleteFunc(m.orders, func(o refOrder) bool { return !o.expires.IsZero() && !m.now.Before(o.expires) })
	m.sweep()
	m.judge()
	m.sweep()
}

func (m *reference) sweep() {
	static := m.static()
	for id, b := range m.backends {
		_, inFile := static[id]
		_, inAPI := m.servers[id]
		agent := m.claimant(id)
		if !inFile && !inAPI && agent != "" && m.silence(agent) >= refRemove && m.verdict(b) != "healthy" {
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

// ids is every backend that somebody declares or claims, in order.
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

// claimant is the agent that claims a backend, "" for none.
func (m *reference) claimant(id registry.ID) string {
	for name, a := range m.agents {
		if _, claims := a.said[id]; claims {
			return name
		}
	}
	return ""
}

func (m *reference) silence(agent string) time.Duration { return m.now.Sub(m.agents[agent].seen) }

// verdict is what this node's own checks say, as far as that counts.
func (m *reference) verdict(b *refBackend) string {
	if b.setAside || b.verdict == "" || m.now.Sub(b.verdictAt) >= 3*refInterval {
		return ""
	}
	return b.verdict
}

// evidence is what agent and checks say of a backend; any is false where neither says anything.
func (m *reference) evidence(id registry.ID) (healthy, any bool) {
	verdict := m.verdict(m.backends[id])
	claim, stale := "", false
	if agent := m.claimant(id); agent != "" {
		claim, stale = m.agents[agent].said[id].word, m.silence(agent) >= refStale
	}
	switch {
	case stale:
		return verdict == "healthy", true
	case claim == "unhealthy":
		return false, true
	case claim == "healthy":
		return verdict != "unhealthy", true
	}
	return verdict == "healthy", verdict != ""
}

// order is the operator's order about a backend, nil for none. One about the port outweighs one about the address.
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

// fit is whether a backend may serve but for its drain.
func (m *reference) fit(id registry.ID) bool {
	if o := m.order(id); o != nil {
		return o.healthy
	}
	if said, any := m.evidence(id); any {
		return said
	}
	return m.backends[id].remembered == "healthy"
}

// share is what drains leave of a backend, in twentieths.
func (m *reference) share(id registry.ID) int {
	left := 20
	for _, d := range m.drains(id) {
		left = min(left, max(20-int(20*m.now.Sub(d.since)/d.over), 0))
	}
	return left
}

// drained is when the first drain of a backend ends.
func (m *reference) drained(id registry.ID) (first time.Time) {
	for _, d := range m.drains(id) {
		if end := d.since.Add(d.over); first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

// drains is the operator's drain of a backend and its agent's, as far as there are any.
func (m *reference) drains(id registry.ID) (all []*refDrain) {
	if d := m.backends[id].drain; d != nil {
		all = append(all, d)
	}
	if agent := m.claimant(id); agent != "" && m.agents[agent].said[id].drain != nil {
		all = append(all, m.agents[agent].said[id].drain)
	}
	return all
}

// judge decides whether this node is cut off: then its own bad verdicts are set aside.
func (m *reference) judge() {
	type sums struct{ good, bad int }
	regions, services, agents := map[string]*sums{}, map[string]*sums{}, map[string]bool{}
	for _, id := range m.ids() {
		b := m.backends[id]
		if b == nil || b.verdict == "" || m.now.Sub(b.verdictAt) >= 3*refInterval {
			continue
		}
		agent := m.claimant(id)
		if !b.succeeding && (agent == "" || m.silence(agent) >= refStale || m.agents[agent].said[id].word != "healthy") {
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
	cut := len(agents) >= 2 && (dark >= 2 || dark == 1 && len(regions) == 1) && (contradicted >= 2 || contradicted == 1 && len(services) == 1)
	switch {
	case cut && !m.suspended:
		m.suspended, m.since = true, m.now
		for _, b := range m.backends {
			b.setAside = b.setAside || b.verdict == "unhealthy"
		}
	case !cut && m.suspended && m.now.Sub(m.since) >= refInterval:
		m.suspended = false
	}
}

// declared is weight and region as the source says that counts: the file, then the API, then the agent.
func (m *reference) declared(id registry.ID) declared {
	if d, ok := m.static()[id]; ok {
		return d
	}
	if d, ok := m.servers[id]; ok {
		return d
	}
	a := m.agents[m.claimant(id)]
	return declared{a.said[id].weight, a.region}
}

// expected is what clients of one kind are answered.
type expected struct {
	kind      string // as zone.Kind, in words
	ttl       int
	addresses map[netip.Addr]int // and their parts of the answers
	size      int                // addresses per answer
	hashed    bool               // a client is always answered the same one
}

// refCandidate is a backend as the policy sees it.
type refCandidate struct {
	declared
	address    netip.Addr
	fit        bool
	share      int // in twentieths
	takenOut   bool
	lastServed time.Time
	never      bool // has it served
}

func (c *refCandidate) serves() bool { return c.fit && c.share > 0 }

// answer is what a client in a region is answered for a name with candidates.
func (m *reference) answer(name string, all []refCandidate, v6 bool, client string) expected {
	d, ok := m.joined()[name]
	if !ok && strings.HasSuffix(name, ".gslb.test") {
		return expected{kind: "NXDOMAIN"}
	}
	if !ok {
		return expected{kind: "REFUSED"}
	}
	e := expected{kind: "positive", ttl: d.ttl, addresses: map[netip.Addr]int{}}
	if e.ttl == 0 {
		e.ttl = refTTL
	}
	ofFamily := func(c refCandidate) bool { return c.address.Is6() == v6 }
	need := minimum(d.minHealthy, len(all))
	in := only(all, func(c refCandidate) bool { return c.serves() })
	if len(in) < need {
		e.ttl = min(e.ttl, 30)
		in = m.lastResort(d, all, need)
		if len(in) == 0 && (len(all) == 0 || slices.ContainsFunc(all, ofFamily)) {
			return expected{kind: "SERVFAIL"}
		}
	}
	if in = only(in, ofFamily); len(in) == 0 {
		return expected{kind: "no data"}
	}
	in = preferred(in, func(c refCandidate) bool { return c.weight > 0 })
	in = preferred(in, func(c refCandidate) bool { return c.share > 0 })
	algorithm := d.algorithm
	if algorithm == "geolocation" && client == "" && d.fallback != "" {
		algorithm = d.fallback
	}
	if algorithm == "failover" || algorithm == "geolocation" {
		region := m.failover(d, in)
		if algorithm == "geolocation" {
			region = m.nearest(d, in, client)
		}
		in = only(in, func(c refCandidate) bool { return c.region == region })
		algorithm = "weighted"
		if r := m.region(region); r != nil && r.pool != "" {
			algorithm = r.pool
		}
	}
	for _, c := range in {
		weight := max(c.weight, 1)
		if algorithm == "round-robin" {
			weight = 1
		}
		e.addresses[c.address] += weight * max(5*c.share, 1) // in hundredths
	}
	e.size = min(max(d.maxAnswers, 1), len(e.addresses))
	e.hashed = algorithm == "client-hash" && len(e.addresses) > 1
	return e
}

func (m *reference) candidates(service string) (all []refCandidate) {
	for _, id := range m.ids() {
		if id.Service != service {
			continue
		}
		b, o := m.backends[id], m.order(id)
		c := refCandidate{
			declared: m.declared(id), address: id.Address, fit: m.fit(id), share: m.share(id), takenOut: o != nil && !o.healthy,
			lastServed: b.lastHealthy, never: b.lastHealthy.IsZero(),
		}
		if c.fit && c.share == 0 {
			c.lastServed, c.never = m.drained(id), false
		}
		all = append(all, c)
	}
	return all
}

// minimum is how many backends must serve: a number, or a part of all, rounded up.
func minimum(text string, all int) int {
	number, percent := strings.CutSuffix(text, "%")
	n, _ := strconv.Atoi(number)
	if percent {
		n = int(math.Ceil(float64(n*all) / 100))
	}
	return max(n, 1)
}

// lastResort is who answers when too few may serve.
func (m *reference) lastResort(d domainFacts, all []refCandidate, need int) []refCandidate {
	in := only(all, func(c refCandidate) bool { return !c.takenOut })
	switch {
	case d.onAllDown == "all":
		return in
	case d.onAllDown == "last_healthy", d.onAllDown == "" && m.file.returnLastHealthy:
	default:
		return nil
	}
	// Those that serve, and those that did until a minute before the latest moment at which enough did.
	served := func(c refCandidate, at time.Time) bool { return c.serves() || !c.never && !c.lastServed.Before(at) }
	var enough time.Time
	for _, c := range in {
		at := c.lastServed
		if c.serves() || c.never {
			continue
		}
		then := len(only(in, func(c refCandidate) bool { return served(c, at) }))
		if then >= need && at.After(enough) {
			enough = at
		}
	}
	return only(in, func(c refCandidate) bool { return served(c, enough.Add(-time.Minute)) })
}

// failover is the first region of the domain's with enough of in, else with any; regions that it does not list come last.
func (m *reference) failover(d domainFacts, in []refCandidate) string {
	order := m.regionsOf(d, in)
	for _, region := range order {
		if len(only(in, func(c refCandidate) bool { return c.region == region })) >= max(d.threshold, 1) {
			return region
		}
	}
	return order[0]
}

// regionsOf is the regions of in, in the order of the domain's, then by name.
func (m *reference) regionsOf(d domainFacts, in []refCandidate) []string {
	var order, rest []string
	for _, c := range in {
		if !slices.Contains(d.regions, c.region) && !slices.Contains(rest, c.region) {
			rest = append(rest, c.region)
		}
	}
	for _, region := range d.regions {
		if slices.ContainsFunc(in, func(c refCandidate) bool { return c.region == region }) {
			order = append(order, region)
		}
	}
	slices.Sort(rest)
	return append(order, rest...)
}

// nearest is the client's region, else the nearest to it, else the first in order.
func (m *reference) nearest(d domainFacts, in []refCandidate, client string) string {
	order := m.regionsOf(d, in)
	if slices.Contains(order, client) {
		return client
	}
	best, least := order[0], math.Inf(1)
	from := m.region(client)
	for _, region := range order {
		to := m.region(region)
		if from == nil || to == nil || !from.placed || !to.placed {
			continue
		}
		if way := angle(from, to); way < least {
			best, least = region, way
		}
	}
	return best
}

// angle is how far apart two regions are (spherical law of cosines).
func angle(a, b *regionFacts) float64 {
	const radian = math.Pi / 180
	return math.Acos(math.Sin(a.latitude*radian)*math.Sin(b.latitude*radian) +
		math.Cos(a.latitude*radian)*math.Cos(b.latitude*radian)*math.Cos((a.longitude-b.longitude)*radian))
}

// clientRegion is where a client is.
func (m *reference) clientRegion(client int) string {
	if region, ok := m.file.mappings[client]; ok {
		return region
	}
	if region, ok := m.mappings[client]; ok && m.region(region) != nil {
		return region
	}
	return m.file.defaultRegion
}

func only(list []refCandidate, keep func(refCandidate) bool) (kept []refCandidate) {
	for _, c := range list {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// preferred is those that keep says, or all if it says none.
func preferred(list []refCandidate, keep func(refCandidate) bool) []refCandidate {
	if kept := only(list, keep); len(kept) > 0 {
		return kept
	}
	return list
}
