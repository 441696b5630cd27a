package metrics

import (
	"iter"
	"net/netip"
	"strings"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/shared/api"
)

// DomainSources holds the data sources of the metrics of domains and their backends. All are required.
type DomainSources struct {
	// Domains returns the load-balanced names, and Zones the names of the zones, all without the final dot.
	Domains func() []conditions.Domain
	Zones   func() []string
	// Answers yields the number of answers by domain, region and outcome, including removed domains.
	Answers func() iter.Seq2[decisions.AnswerKey, uint64]
	// Limit returns metrics.per_domain. If there are more domains, the metrics are per zone.
	Limit func() int
}

// isIncomplete reports whether a source is missing.
func (from DomainSources) isIncomplete() bool {
	return from.Domains == nil || from.Zones == nil || from.Answers == nil || from.Limit == nil
}

// Texts of the metrics that exist for domains and for zones.
const (
	domainAnswers = "Load-balanced answers, by the region of the first address, and by outcome."
	statusHelp    = "Effective status: 1 healthy, 0 unhealthy, -1 stale."
)

// collectDomains collects the metrics of domains and backends, or of zones.
func (from Sources) collectDomains(s scrape) {
	domains := from.PerDomain.Domains()
	s.gauge("overwatch_domains", "Domains that the node steers.", float64(len(domains)))
	limit := from.PerDomain.Limit()
	s.gauge("overwatch_domains_limit", "metrics.per_domain: with more domains, the metrics are per zone.", float64(limit))
	if len(domains) > limit {
		from.collectZones(s, domains)
		return
	}
	known := make(map[string]bool, len(domains))
	for _, d := range domains {
		known[d.Name] = true
		backends := from.View.Service(d.Name)
		serving, required := conditions.CountServing(d, backends)
		s.gauge("domain_serving", "Backends that may serve the domain.", float64(serving), "domain", d.Name)
		s.gauge("domain_required", "Backends that the domain requires.", float64(required), "domain", d.Name)
		for _, b := range backends {
			collectBackend(s, d.Name, b)
		}
	}
	for key, count := range from.PerDomain.Answers() {
		if known[key.Domain] {
			s.counter("domain_answers_total", domainAnswers, count,
				"domain", key.Domain, "region", key.Region, "outcome", string(key.Outcome))
		}
	}
}

// collectBackend collects the metrics of a backend of a domain.
func collectBackend(s scrape, domain string, b *registry.Backend) {
	labels := []string{"domain", domain, "region", b.Region, "backend", netip.AddrPortFrom(b.Address, b.Port).String()}
	status, share := float64(0), float64(0)
	switch b.Status {
	case api.EffectiveHealthy:
		status = 1
	case api.EffectiveStale:
		status = -1
	}
	if b.MayServe {
		share = b.Share
	}
	s.gauge("backend_status", statusHelp, status, labels...)
	s.gauge("backend_share", "Part of its weight with which the backend serves, from 0 to 1.", share, labels...)
	s.counter("backend_transitions_total", "Changes of the effective status, or between serving and not serving.",
		b.Transitions, labels...)
}

// collectZones collects the sums of the domains of each zone. A zone without domains has no metrics. The zone is empty
// for domains outside dns.zones.
func (from Sources) collectZones(s scrape, domains []conditions.Domain) {
	type sums struct{ domains, down int }
	zones := map[string]bool{}
	for _, zone := range from.PerDomain.Zones() {
		zones[zone] = true
	}
	byZone := map[string]sums{}
	for _, d := range domains {
		zone := zoneAbove(zones, d.Name)
		sum := byZone[zone]
		sum.domains++
		if serving, required := conditions.CountServing(d, from.View.Service(d.Name)); serving < required {
			sum.down++
		}
		byZone[zone] = sum
	}
	for zone, sum := range byZone {
		s.gauge("zone_domains", "Domains of the zone.", float64(sum.domains), "zone", zone)
		s.gauge("zone_domains_down", "Domains of the zone with fewer serving backends than required.",
			float64(sum.down), "zone", zone)
	}
	answers := map[decisions.AnswerKey]uint64{}
	for key, count := range from.PerDomain.Answers() {
		answers[decisions.AnswerKey{Domain: zoneAbove(zones, key.Domain), Region: key.Region, Outcome: key.Outcome}] += count
	}
	for key, count := range answers {
		s.counter("zone_answers_total", domainAnswers, count,
			"zone", key.Domain, "region", key.Region, "outcome", string(key.Outcome))
	}
}

// zoneAbove returns the longest zone that contains the domain; empty if the configuration has none.
func zoneAbove(zones map[string]bool, domain string) string {
	for name := domain; name != ""; _, name, _ = strings.Cut(name, ".") {
		if zones[name] {
			return name
		}
	}
	return ""
}
