package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// plan holds the zones with their records and the domains with their rules for settings. It shares unchanged zones and
// domains with the previous plan; shared data is immutable except for domain.plan. Creating a plan does not affect the
// current view.
type plan struct {
	settings Settings
	places   places
	zones    []*zonePlan          // configured zones first, in the order of the configuration
	byApex   map[string]*zonePlan // by fqdn
	domains  []*domain            // in the order of the settings
	problems settings.Problems
	cautions []string // warnings about valid settings that are probably mistakes
	mixtures []string // reasons for signing zones with an unsigned domain

	changed  map[string]*domain // new or changed domains since the previous plan, by service
	stay     int                // number of domains of the previous plan that still exist, changed or not
	gone     []*domain          // removed domains of the previous plan
	edits    map[string]*edit   // by apex
	relaid   bool               // zones were added or removed since the previous plan
	resigned bool               // the signing of a zone started or ended
	lastRule *policy.Rules      // most domains share the rules of the previous domain
	lastFrom *config.Domain     // the domain of lastRule

	api apiRecords

	byPriority []string // regions in the order of their priorities; nil: equal priorities
}

// edit contains the load-balanced names of a zone that were added, removed or changed since the previous plan.
type edit struct {
	come, gone, renewed []string
	types               map[string][]*zone.Type // types of names with more than addresses
}

// zonePlan is the plan of a zone. After the creation of the plan, only sign and number change it; a current zonePlan
// is immutable.
type zonePlan struct {
	zone.Contents
	plan        *plan               // the plan that created it
	key         string              // configuration key of the zone; "" for the zone of an outside domain
	from        config.Zone         // empty for the zone of an outside domain
	nameservers []string            // fqdn
	elsewhere   bool                // a nameserver is not in this zone
	unsigned    bool                // unsigned even if the node signs
	mixed       bool                // the zone is signed, and some of its domains are configured as unsigned
	static      []dns.RR            // the records without DNSKEY, CDS and CDNSKEY
	types       map[string][]uint16 // of the static records, by fqdn
	aliases     map[string]string   // targets of the static CNAME records, by owner, both fqdn
	kept        bool                // the static records equal the records of the previous plan
	version     version
}

// has reports whether a name of the zone is load-balanced.
func (z *zonePlan) has(name string) bool {
	_, there := slices.BinarySearch(z.Balanced, name)
	return there
}

// domain is a load-balanced name with its rules.
type domain struct {
	plan     *plan  // the last plan with a domain of this name
	written  string // name in the settings
	service  string // name in the registry
	name     string // fqdn
	zone     string // apex, fqdn
	outside  bool   // the zone is not configured
	rules    *policy.Rules
	settings *config.Domain // settings of the domain; immutable
	answers  int            // distinct addresses per answer
	https    config.HTTPS
	types    []*zone.Type // nil means addresses only
	srv      []string     // names of SRV records (srvNames)

	unsigned bool // setting of the domain; the zone determines the result

	listed []string // regions in the settings of the domain
	placed bool     // decisions depend on the client's region or position

	outcome policy.Outcome // outcome of the last decision
	lost    bool           // the loss of its backends was logged
}

// smoothing returns the weight of the latest latency measurement.
func (d *domain) smoothing() float64 { return d.settings.LatencyConfig.SmoothingFactor }

// Check returns all problems of the settings, each with key, value and remedy. Settings.Addresses may be missing.
func Check(s Settings) settings.Problems {
	problems, _ := Examine(s)
	return problems
}

// Examine is Check, and also returns warnings: a sentence with the key of each valid setting that is probably a
// mistake.
func Examine(s Settings) (problems settings.Problems, cautions []string) {
	p := newPlan(s, nil, nil, false)
	return p.problems, p.cautions
}

// Apexes returns the apexes of the zones of settings, without unsigned zones. Check must have found no problems.
func Apexes(s Settings) []string {
	p := emptyPlan(s)
	p.takeDomains(nil, nil, false)
	p.layOut(nil)
	p.leaveUnsigned(&plan{})
	var apexes []string
	for _, z := range p.zones {
		if !z.unsigned {
			apexes = append(apexes, z.Apex)
		}
	}
	return apexes
}

func emptyPlan(s Settings) *plan {
	return &plan{
		settings: s,
		places:   newPlaces(s.Regions, s.Places),
		byApex:   make(map[string]*zonePlan),
		changed:  make(map[string]*domain),
		edits:    make(map[string]*edit),

		byPriority: byPriority(s.Regions),
	}
}

// newPlan creates the plan of settings. before is the previous plan, or nil; known contains its domains by service.
// moved reports that domains that use client positions need new decisions.
func newPlan(s Settings, before *plan, known map[string]*domain, moved bool) *plan {
	p := emptyPlan(s)
	if before == nil {
		before = &plan{}
	}
	p.takeDomains(before, known, moved)
	p.layOut(before)
	p.leaveUnsigned(before)
	p.checkAliases()
	p.checkSRV()
	p.compare(before, known)
	for i, z := range p.zones {
		p.zones[i] = p.planZone(z, before)
		p.byApex[z.Apex] = p.zones[i]
	}
	p.planRecords(before)
	for _, z := range p.zones {
		if z.plan == p || z.elsewhere || p.relaid {
			p.checkNameservers(z)
		}
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

// addZone adds a zone without records. For an invalid or duplicate name, it adds a problem and returns false.
func (p *plan) addZone(key string, from config.Zone) bool {
	apex := fqdn(from.Name)
	if _, ok := dns.IsDomainName(apex); !ok || from.Name == "" {
		p.wrong(key+".name", from.Name, "not a domain name; write a name such as gslb.example.com")
		return false
	}
	if p.byApex[apex] != nil {
		p.wrong(key+".name", from.Name, "this zone is there already; a zone may be listed once")
		return false
	}
	z := &zonePlan{plan: p, key: key, from: from}
	z.Apex = apex
	p.zones = append(p.zones, z)
	p.byApex[apex] = z
	return true
}

// enclosing returns the zone of a name; nil if the name is outside all zones.
func (p *plan) enclosing(name string) *zonePlan {
	for ; name != ""; name = parent(name) {
		if z := p.byApex[name]; z != nil {
			return z
		}
	}
	return nil
}

// validDomain reports whether a domain is valid on its own, and adds the first problem. name is its fqdn. It calls key
// only for a problem.
func (p *plan) validDomain(key func() string, name string, c *config.Domain) bool {
	if name == "." || !isName(name) {
		p.wrong(key()+".name", c.Name, "not a domain name; write a name such as app.example.com")
		return false
	}
	for _, problem := range c.RecordProblems() { // records of the API: the file may have changed since
		p.wrong(key()+"."+problem.Key, problem.Value, "%s", problem.Message)
		return false
	}
	if c.MaxAnswers > zone.MaxAnswers {
		p.wrong(
			key()+".max_answers",
			fmt.Sprint(c.MaxAnswers),
			"an answer has room for at most %d addresses",
			zone.MaxAnswers,
		)
		return false
	}
	return true
}

func isName(name string) bool {
	_, ok := dns.IsDomainName(name)
	return ok
}

// ownApex returns the apex of the zone that a domain outside all other zones creates.
func ownApex(name string) string { return strings.TrimPrefix(name, "*.") }

func (p *plan) rulesFrom(c *config.Domain, regions []string) *policy.Rules {
	rules := &policy.Rules{
		Algorithm:   policy.FindAlgorithm(c.RoutingAlgorithm),
		Regions:     regions,
		OnAllDown:   policy.OnAllDown(c.OnAllDown),
		TTL:         p.ttl(c.TTL),
		Fallback:    policy.FindAlgorithm(c.FallbackAlgorithm),
		Pools:       p.places.pools,
		Coordinates: p.places.coordinates,
		Bias:        p.places.bias,
		Domain:      c,
	}
	rules.AnswerNames, rules.WithPorts = c.AnswersNames(), len(c.SRV) > 0
	rules.MinHealthy, _ = policy.ParseMinimum(c.MinHealthy) // checked by package config
	if rules.OnAllDown == "" && p.settings.DNS.ReturnLastHealthy {
		rules.OnAllDown = policy.LastHealthy
	}
	return rules
}

// longestTTL returns the longest TTL of the plan's zones and domains, in seconds.
func (p *plan) longestTTL() uint32 {
	longest := max(p.settings.DNS.Apex(), uint32(max(p.settings.DNS.Negative(), 0)), p.api.longest())
	for _, d := range p.domains {
		longest = max(longest, d.rules.TTL)
	}
	for _, z := range p.zones {
		longest = max(longest, p.apexTTL(z), p.negativeTTL(z))
		for _, rr := range z.Records {
			longest = max(longest, rr.Header().Ttl)
		}
	}
	return longest
}

// ttl returns the TTL of a domain's answers in seconds: its own setting or the default.
func (p *plan) ttl(own int) uint32 { return uint32(max(p.settings.DNS.TTL(own), 0)) }
