package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// plan is what settings come to: zones with their records, and domains with their rules. Making one touches nothing.
type plan struct {
	settings Settings
	zones    []*zonePlan          // those of the configuration first, in its order
	byApex   map[string]*zonePlan // by fqdn
	domains  map[string]*domain   // by service name; steer's
	earth    earth
	servers  map[string]int // nameservers of zones, by fqdn: how many zones have them
	problems settings.Problems
	cautions []string // what can be served and hardly is what was meant

	shared ruled // the rules made last, and what they were made from: most domains have those of the one before
}

// ruled is what rules are made from, beside the domain's regions and what holds for all domains.
type ruled struct {
	rules *policy.Rules
	from  ruling
}

type ruling struct {
	algorithm, fallback, onAllDown, minHealthy string
	threshold, ttl                             int
	proximity                                  config.Proximity
	clientHash                                 config.ClientHash
	latency                                    config.LatencyConfig
}

// zonePlan is one zone to be.
type zonePlan struct {
	zone.Contents
	key         string              // of the zone in the configuration; "" for a zone that a domain makes
	nameservers []string            // fqdn
	types       map[string][]uint16 // of the records, by fqdn
	steered     map[string]bool     // by fqdn
}

// domain is a steered name and how it is steered.
type domain struct {
	service string // as the registry spells it
	name    string // fqdn
	rules   *policy.Rules
	answers int // distinct addresses per answer

	smoothing float64  // latency: weight of the newest measurement
	clients   []string // the regions where clients can be, by geo.RegionID
	placed    bool     // it is decided apart for each of them, or for each of their spots

	outcome policy.Outcome // of the last decision
	lost    bool           // the log says that it lost its backends
}

// Check finds everything in the settings that cannot be served, with the key, the value and a remedy for each. The
// Addresses need not be known.
func Check(s Settings) settings.Problems {
	problems, _ := Examine(s)
	return problems
}

// Examine is Check, and finds what can be served but hardly is what was meant, one sentence each with its key.
func Examine(s Settings) (problems settings.Problems, cautions []string) {
	p := newPlan(s)
	return p.problems, p.cautions
}

// Apexes are those of the zones that settings make, in which Check finds nothing wrong.
func Apexes(s Settings) []string {
	p := &plan{settings: s, byApex: make(map[string]*zonePlan)}
	for _, z := range s.DNS.Zones {
		p.addZone("", z.Name, 0)
	}
	p.eachDomain(func(_ int, c *config.Domain) { p.zoneOf(fqdn(c.Name)) })
	var apexes []string
	for _, z := range p.zones {
		apexes = append(apexes, z.Apex)
	}
	return apexes
}

func newPlan(s Settings) *plan {
	p := &plan{settings: s, byApex: make(map[string]*zonePlan), earth: newEarth(s.Regions), servers: make(map[string]int)}
	configured := make([]config.Zone, 0, len(s.DNS.Zones))
	for i, z := range s.DNS.Zones {
		if p.addZone(fmt.Sprintf("dns.zones[%d]", i), z.Name, len(s.Domains)/len(s.DNS.Zones)) {
			configured = append(configured, z)
		}
	}
	p.eachDomain(p.addDomain)
	for i, z := range p.zones {
		var from config.Zone
		if i < len(configured) {
			from = configured[i]
		}
		p.authority(z, from)
		p.records(z, from.Records)
	}
	for _, z := range p.zones {
		p.checkNameservers(z)
		p.countServers(z, 1)
	}
	return p
}

func (p *plan) wrong(key, value, format string, args ...any) {
	p.problems = append(p.problems, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
}

// maxCautions bounds the cautions of a plan.
const maxCautions = 50

func (p *plan) caution(format string, args ...any) {
	if len(p.cautions) < maxCautions {
		p.cautions = append(p.cautions, fmt.Sprintf(format, args...))
	}
}

// addZone begins a zone of about so many names. It says whether that is possible.
func (p *plan) addZone(key, name string, names int) bool {
	apex := fqdn(name)
	if _, ok := dns.IsDomainName(apex); !ok || name == "" {
		p.wrong(key+".name", name, "not a domain name; write a name such as gslb.example.com")
		return false
	}
	if p.byApex[apex] != nil {
		p.wrong(key+".name", name, "this zone is there already; a zone may be listed once")
		return false
	}
	z := &zonePlan{key: key, types: make(map[string][]uint16), steered: make(map[string]bool, names)}
	z.Apex = apex
	p.zones = append(p.zones, z)
	p.byApex[apex] = z
	return true
}

// enclosing is the zone that a name belongs to, nil if it is outside all.
func (p *plan) enclosing(name string) *zonePlan {
	for ; name != ""; name = parent(name) {
		if z := p.byApex[name]; z != nil {
			return z
		}
	}
	return nil
}

// eachDomain visits the domains with their numbers. Short names go first, and wildcards before others, so that www.example.com
// comes to lie in the zone that example.com or *.example.com makes, in whatever order they are listed.
func (p *plan) eachDomain(visit func(number int, c *config.Domain)) {
	type turn struct{ domain, labels, other int }
	order := make([]turn, len(p.settings.Domains))
	for i := range order {
		name := p.settings.Domains[i].Name
		order[i] = turn{domain: i, labels: dns.CountLabel(name)}
		if !strings.HasPrefix(name, "*.") {
			order[i].other = 1
		}
	}
	slices.SortStableFunc(order, func(a, b turn) int { return cmp.Or(a.labels-b.labels, a.other-b.other) })
	for _, o := range order {
		visit(o.domain, &p.settings.Domains[o.domain])
	}
}

// zoneOf is the zone that a domain belongs to. One that is outside all gets a zone of its own: its parent is delegated to this
// node. It is nil where that is not possible.
func (p *plan) zoneOf(name string) *zonePlan {
	if z := p.enclosing(name); z != nil {
		return z
	}
	apex := ownApex(name)
	p.addZone("", apex, 1)
	return p.byApex[apex]
}

func (p *plan) addDomain(number int, c *config.Domain) {
	name := fqdn(c.Name)
	if !p.sound(func() string { return fmt.Sprintf("domains[%d]", number) }, name, c) {
		return
	}
	z := p.zoneOf(name)
	if z == nil {
		return
	}
	z.Steered = append(z.Steered, name)
	z.steered[name] = true
}

// steer adds how the domains of a plan without problems are steered. It returns each once, in the order of the settings.
func (p *plan) steer() (inOrder []*domain) {
	p.domains = make(map[string]*domain, len(p.settings.Domains))
	inOrder = make([]*domain, 0, len(p.settings.Domains))
	for i := range p.settings.Domains {
		if d := p.domain(&p.settings.Domains[i]); p.domains[d.service] == nil {
			p.domains[d.service] = d
			inOrder = append(inOrder, d)
		}
	}
	return inOrder
}

// sound finds what is wrong with a domain, whose name as zones use it is given, by itself. It asks for the domain's key only then.
func (p *plan) sound(key func() string, name string, c *config.Domain) bool {
	if name == "." || !isName(name) {
		p.wrong(key()+".name", c.Name, "not a domain name; write a name such as app.example.com")
		return false
	}
	if c.MaxAnswers > zone.MaxAnswers {
		p.wrong(key()+".max_answers", fmt.Sprint(c.MaxAnswers), "an answer has room for at most %d addresses", zone.MaxAnswers)
		return false
	}
	return true
}

func isName(name string) bool {
	_, ok := dns.IsDomainName(name)
	return ok
}

// ownApex is the apex of the zone that a domain makes which is outside all others.
func ownApex(name string) string { return strings.TrimPrefix(name, "*.") }

// domain is how a domain is steered.
func (p *plan) domain(c *config.Domain) *domain {
	d := &domain{service: wire.CanonicalService(c.Name), name: fqdn(c.Name), rules: p.rules(c), answers: max(c.MaxAnswers, 1),
		smoothing: c.LatencyConfig.SmoothingFactor, clients: p.earth.clients}
	d.placed = d.rules.NeedsRegion()
	return d
}

// countServers adds to how many zones have the nameservers of one.
func (p *plan) countServers(z *zonePlan, by int) {
	for _, name := range z.nameservers {
		if p.servers[name] += by; p.servers[name] == 0 {
			delete(p.servers, name)
		}
	}
}

func (p *plan) rules(c *config.Domain) *policy.Rules {
	from := ruling{
		algorithm: c.RoutingAlgorithm, fallback: c.FallbackAlgorithm, onAllDown: c.OnAllDown, minHealthy: c.MinHealthy,
		threshold: c.FailoverThreshold, ttl: c.TTL, proximity: c.Proximity, clientHash: c.ClientHash, latency: c.LatencyConfig,
	}
	if last := p.shared; last.rules == nil || last.from != from || !slices.Equal(last.rules.Regions, c.Regions) {
		p.shared = ruled{p.rulesFrom(from, c.Regions), from}
	}
	return p.shared.rules
}

func (p *plan) rulesFrom(c ruling, regions []string) *policy.Rules {
	rules := &policy.Rules{
		Algorithm:         policy.Named(c.algorithm),
		Regions:           regions,
		FailoverThreshold: c.threshold,
		OnAllDown:         policy.OnAllDown(c.onAllDown),
		TTL:               p.ttl(c.ttl),
		Fallback:          policy.Named(c.fallback),
		Pools:             p.earth.pools,
		Coordinates:       p.earth.coordinates,
		Bias:              p.earth.bias,
		Tolerance:         c.proximity.ToleranceKm,
		ClientBits:        policy.ClientBits{IPv4: uint8(c.clientHash.IPv4Prefix), IPv6: uint8(c.clientHash.IPv6Prefix)},
		MaxLatency:        time.Duration(c.latency.MaxLatencyMs) * time.Millisecond,
		MinSamples:        c.latency.MinSamples,
	}
	rules.MinHealthy, _ = policy.ParseMinimum(c.minHealthy) // checked by package config
	if rules.OnAllDown == "" && p.settings.DNS.ReturnLastHealthy {
		rules.OnAllDown = policy.LastHealthy
	}
	return rules
}

// ttl is a domain's TTL, or the default, in seconds.
func (p *plan) ttl(own int) uint32 {
	if own > 0 {
		return uint32(own)
	}
	return uint32(max(p.settings.DNS.DefaultTTL, 0))
}
