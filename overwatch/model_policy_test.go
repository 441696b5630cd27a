package overwatch // inside: it uses answer

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
)

// expected is the correct answer to a group of clients.
type expected struct {
	kind       string // zone.Kind in words
	ttl        int
	addresses  map[netip.Addr]int // addresses with their relative shares
	size       int                // addresses per answer
	hashed     bool               // each client has a fixed address
	placed     bool               // the answer may depend on the client's location
	lastResort bool

	group    string // group of clients with the same latency selection
	in, slow []registry.ID
}

// refCandidate is a backend with its properties for the policy.
type refCandidate struct {
	declared
	id         registry.ID
	address    netip.Addr
	fit        bool
	share      int  // in thousandths
	unknown    bool // no source has reported its health
	takenOut   bool
	lastServed time.Time
	never      bool // it has never served
}

// domainOf returns the domain for a name: the domain of the name, otherwise the matching wildcard (RFC 4592).
func (m *reference) domainOf(name string) string {
	_, below, _ := strings.Cut(name, ".")
	for _, domain := range []string{name, "*." + below} {
		if _, served := m.served[domain]; served {
			return domain
		}
	}
	return name
}

func (c *refCandidate) serves() bool { return c.fit && c.share > 0 }

// answer returns the correct answer to a client for a name with candidates.
func (m *reference) answer(name string, all []refCandidate, v6 bool, client refClient) expected {
	d, ok := m.served[name]
	if !ok && strings.HasSuffix(name, ".gslb.test") {
		return expected{kind: "NXDOMAIN"}
	}
	if !ok {
		return expected{kind: "REFUSED"}
	}
	e := expected{kind: "positive", ttl: d.ttl, addresses: map[netip.Addr]int{}}
	if e.ttl == 0 {
		e.ttl = m.defaultTTL()
	}
	for _, a := range []string{d.algorithm, d.fallback} {
		e.placed = e.placed || a == "geolocation" || a == "proximity"
	}
	// A name with candidates only of the other family has a NODATA answer.
	ofFamily := func(c refCandidate) bool { return c.address.Is6() == v6 }
	need := minimum(d.minHealthy, len(only(all, func(c refCandidate) bool { return !c.unknown })))
	in := only(all, func(c refCandidate) bool { return c.serves() })
	if len(in) < need {
		e.ttl, e.lastResort = min(e.ttl, 30), true
		in = m.lastResort(d, all, need)
		if len(in) == 0 && (len(all) == 0 || slices.ContainsFunc(all, ofFamily)) {
			return expected{kind: "SERVFAIL", placed: e.placed}
		}
	}
	if in = only(in, ofFamily); len(in) == 0 {
		return expected{kind: "no data", placed: e.placed}
	}
	// "Weights": weight 0 never serves unless all others are down.
	in = preferred(in, func(c refCandidate) bool { return c.weight > 0 })
	in = preferred(in, func(c refCandidate) bool { return c.share > 0 })
	in, inside := m.choose(d, in, client, &e)
	if inside == "latency" {
		in = m.fastest(d, in, &e)
	}
	for _, c := range in {
		e.in = append(e.in, c.id)
		weight := max(c.weight, 1)
		if inside == "round-robin" {
			weight = 1
		}
		e.addresses[c.address] += weight * max(c.share, 1)
	}
	e.size = min(max(d.maxAnswers, 1), len(e.addresses))
	e.hashed = inside == "client-hash" && len(e.addresses) > 1
	return e
}

// choose returns the candidates in the regions that the algorithm selects, and the algorithm inside a region ("Routing
// algorithms", and routing.md, "Composing").
func (m *reference) choose(d domainFacts, in []refCandidate, client refClient, e *expected) (_ []refCandidate,
	inside string) {
	algorithm := d.algorithm
	if d.fallback != "" && !m.knowsEnough(d, in, client) {
		algorithm = d.fallback
	}
	var regions []string // the selected region, and the regions that share with it
	switch {
	case algorithm == "failover":
		regions = []string{m.failover(d, in)}
	case algorithm == "proximity" && m.measurable(in, client):
		regions = m.near(d, in, client)
	case algorithm == "geolocation", algorithm == "proximity":
		regions = []string{m.nearest(d, in, client.region)}
	default:
		e.group = algorithm
		return in, algorithm
	}
	e.group = fmt.Sprint(algorithm, regions)
	in = only(in, func(c refCandidate) bool { return slices.Contains(regions, c.region) })
	if r := m.region(regions[0]); r != nil && r.pool != "" {
		return in, r.pool
	}
	return in, "weighted"
}

// knowsEnough reports whether the inputs of the domain's algorithm are known.
func (m *reference) knowsEnough(d domainFacts, in []refCandidate, client refClient) bool {
	switch d.algorithm {
	case "geolocation":
		return client.region != ""
	case "proximity":
		return m.measurable(in, client)
	case "latency":
		return slices.ContainsFunc(in, func(c refCandidate) bool { return m.qualifies(d, c) })
	}
	return true
}

func (m *reference) candidates(service string) (all []refCandidate) {
	for _, id := range m.ids() {
		if id.Service != service {
			continue
		}
		b, o := m.backends[id], m.order(id)
		c := refCandidate{
			declared: m.declared(id), id: id, address: id.Address, fit: m.fit(id), share: m.share(id), takenOut: o != nil &&
				!o.healthy,
			lastServed: b.lastHealthy, never: b.lastHealthy.IsZero(), unknown: m.unknown(id),
		}
		if c.fit && c.share == 0 {
			c.lastServed, c.never = m.drained(id), false
		}
		all = append(all, c)
	}
	return all
}

// minimum returns the number of backends that must serve, at least 1. text is a number, or a percentage of the backends
// with known health, rounded up.
func minimum(text string, all int) int {
	number, percent := strings.CutSuffix(text, "%")
	n, _ := strconv.Atoi(number)
	if percent {
		n = int(math.Ceil(float64(n*all) / 100))
	}
	return max(n, 1)
}

// lastResort returns the candidates of the fallback answer.
func (m *reference) lastResort(d domainFacts, all []refCandidate, need int) []refCandidate {
	in := only(all, func(c refCandidate) bool { return !c.takenOut })
	switch {
	case d.onAllDown == "all":
		return in
	case d.onAllDown == "last_healthy", d.onAllDown == "" && m.lastHealthyDefault():
	default:
		return nil
	}
	// Serving backends, and backends that served within the minute before the latest time with enough of them.
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

// failover returns the first of the domain's regions with enough candidates of in, otherwise the first region with a
// candidate. Regions outside the domain's list are last.
func (m *reference) failover(d domainFacts, in []refCandidate) string {
	order := m.regionsOf(d, in)
	for _, region := range order {
		if len(only(in, func(c refCandidate) bool { return c.region == region })) >= max(d.threshold, 1) {
			return region
		}
	}
	return order[0]
}

// regionsOf returns the regions of the candidates, in the order of the domain, then by name.
func (m *reference) regionsOf(d domainFacts, candidates []refCandidate) []string {
	var order, rest []string
	for _, c := range candidates {
		if !slices.Contains(d.regions, c.region) && !slices.Contains(rest, c.region) {
			rest = append(rest, c.region)
		}
	}
	for _, region := range d.regions {
		if slices.ContainsFunc(candidates, func(c refCandidate) bool { return c.region == region }) {
			order = append(order, region)
		}
	}
	slices.Sort(rest)
	return append(order, rest...)
}

// nearest returns the client's region, otherwise the nearest region, otherwise the first region.
func (m *reference) nearest(d domainFacts, in []refCandidate, client string) string {
	order := m.regionsOf(d, in)
	if slices.Contains(order, client) {
		return client
	}
	best, least := order[0], math.Inf(1)
	from := m.region(client)
	for _, region := range order {
		to := m.region(region)
		if from == nil || to == nil || from.at == nil || to.at == nil {
			continue
		}
		if way := angle(from.at, to.at); way < least {
			best, least = region, way
		}
	}
	return best
}

func only(list []refCandidate, keep func(refCandidate) bool) (kept []refCandidate) {
	for _, c := range list {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// preferred returns the candidates for which keep is true; all candidates if there are none.
func preferred(list []refCandidate, keep func(refCandidate) bool) []refCandidate {
	if kept := only(list, keep); len(kept) > 0 {
		return kept
	}
	return list
}
