// Package route53 converts hosted zones of Amazon Route 53 to a configuration for an overwatch node. The input is the
// JSON of `aws route53 list-resource-record-sets`. Package cli calls it (gslbctl import route53). It sends no request
// and writes no file.
package route53

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/imports"
)

const (
	unchecked = 80        // port of a server without a check
	aliasTTL  = 60        // TTL of an alias record in seconds; Route 53 uses the same TTL for its own services
	anyPlace  = "default" // the region of clients in a location without a set
)

// Importer converts hosted zones, all with one set of regions.
type Importer struct {
	checks map[string]healthCheck
	result imports.Result
}

// New returns an importer without zones. checks is the JSON of `aws route53 list-health-checks`, or nil.
func New(checks io.Reader) (*Importer, error) {
	i := &Importer{checks: map[string]healthCheck{}}
	if checks == nil {
		return i, nil
	}
	var known struct{ HealthChecks []healthCheck }
	if err := readJSON(checks, &known); err != nil {
		return nil, err
	}
	for _, h := range known.HealthChecks {
		i.checks[h.Id] = h
	}
	return i, nil
}

// Add converts the records of a zone. After an error, the caller must not use the importer.
func (i *Importer) Add(records io.Reader) error {
	var file struct{ ResourceRecordSets []*recordSet }
	if err := readJSON(records, &file); err != nil {
		return err
	}
	zone, err := newZone(file.ResourceRecordSets)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(zone.zone, ".")
	if slices.ContainsFunc(i.result.Config.DNS.Zones, func(z imports.Zone) bool { return z.Name == name }) {
		return fmt.Errorf("another file has the same zone %s: give each zone once", name)
	}
	return (&reader{zone: zone, checks: i.checks, result: &i.result}).convert()
}

// Result returns the conversion of all zones. The caller calls it once, after the last Add.
func (i *Importer) Result() *imports.Result {
	elsewhere(&i.result)
	i.result.Finish()
	return &i.result
}

// reader converts one zone.
type reader struct {
	zone   *zoneData
	checks map[string]healthCheck
	result *imports.Result
}

// convert adds the zone to the result.
func (r *reader) convert() error {
	zone := r.zone
	var records, copies []dns.RR
	steered := map[string]bool{} // by name, with the routed sets
	for _, s := range zone.sets {
		if _, done := steered[s.Name]; !done && s.routed() {
			var more []dns.RR
			more, steered[s.Name] = r.name(s.Name)
			copies = append(copies, more...)
		}
	}
	for _, s := range zone.sets {
		if s.routed() || s.hasAddresses() && steered[s.Name] {
			continue
		}
		more, err := s.records()
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		records = append(records, more...)
		if s.Type == "NS" && s.Name == zone.zone && len(more) > 0 && strings.Contains(more[0].String(), ".awsdns-") {
			r.result.Differs(s.String(), "they are still Amazon's servers: write the names of your nodes into the "+
				"zone file")
		}
	}
	return r.result.AddZone(zone.zone, append(records, copies...))
}

// elsewhere adds a note about names with a different answer for some clients. A node has one set of regions for all
// names, so a country of one name also affects the other names.
func elsewhere(r *imports.Result) {
	for _, d := range r.Config.Domains {
		if d.Algorithm != "geolocation" {
			continue
		}
		if d.Regions[0] != anyPlace {
			r.Differs(d.Name, "clients of no location get %s, not an empty answer", d.Regions[0])
		}
		if !slices.ContainsFunc(d.Regions, func(name string) bool { return strings.HasPrefix(name, "continent-") }) {
			continue
		}
		if countries := countriesChecked(r, d); len(countries) > 0 {
			r.Differs(d.Name, "when %s is down, clients there get the first of its regions that is up, not their "+
				"continent's answer", strings.Join(countries, " or "))
		}
		for _, region := range r.Config.Regions {
			if len(region.Countries) > 0 && !slices.Contains(d.Regions, region.Name) {
				r.Differs(d.Name, "clients in %s, which another name has, get %s, not their continent's answer",
					region.Name,
					d.Regions[0])
			}
		}
	}
}

// countriesChecked returns the countries of a domain's regions that have a server with a check.
func countriesChecked(r *imports.Result, d *imports.Domain) (countries []string) {
	for _, region := range r.Config.Regions {
		if len(region.Countries) > 0 && slices.ContainsFunc(region.Servers, func(s *imports.Server) bool {
			return s.Service == d.Name && checked(s)
		}) {
			countries = append(countries, region.Name)
		}
	}
	return countries
}

// name adds a domain for the load-balanced sets of a name, and omits the other address sets of the name. If it cannot
// add a domain, it returns false and the resolved records of the name's aliases.
func (r *reader) name(name string) (copies []dns.RR, steered bool) {
	b := &builder{reader: r, domain: &imports.Domain{Name: strings.TrimSuffix(name, "."), OnAllDown: "all"}}
	var others []*recordSet // sets with addresses and without routing
	for _, s := range r.zone.byName[name] {
		if !s.routed() {
			if s.hasAddresses() {
				others = append(others, s)
			}
			continue
		}
		more, err := b.set(s)
		switch {
		case err != nil:
			r.result.Leave(s.String(), "%s", err)
		case len(more) > 0:
			others, copies = append(others, s), append(copies, more...)
		}
	}
	if len(b.servers) == 0 {
		return copies, false
	}
	for _, s := range others {
		r.result.Leave(s.String(), "the other family of the name is load-balanced, so this family must be as well")
	}
	b.addDomain()
	return nil, true
}

// builder collects a domain and its servers. addDomain adds them to the result.
type builder struct {
	*reader
	domain  *imports.Domain
	servers []*placed
	counts  map[string]int // number of servers, by region and record type
	records int            // number of imported record sets
	// addresses is true if a set has addresses. Otherwise the domain answers with CNAME records.
	addresses bool
}

var errOnly = errors.New("only addresses, and names that lead to addresses, are load-balanced")

func (b *builder) set(s *recordSet) ([]dns.RR, error) {
	if !slices.Contains([]string{"A", "AAAA", "CNAME"}, s.Type) {
		return nil, errOnly
	}
	if s.TrafficPolicyInstanceId != "" {
		return nil, errors.New("a traffic policy makes it")
	}
	addresses, target, err := b.zone.values(s, 0)
	if err != nil {
		return nil, err
	}
	if s.SetIdentifier == "" && target == "" { // an alias of unrouted records
		return aliasRecords(s, addresses)
	}
	algorithm, region, err := b.place(s)
	switch {
	case err != nil:
		return nil, err
	case b.domain.Algorithm != "" && b.domain.Algorithm != algorithm:
		return nil, fmt.Errorf("others of the name are steered by %s", b.domain.Algorithm)
	case s.Weight != nil && len(addresses) > 1:
		return nil, errors.New("weights of sets with several addresses: give each its own set")
	}
	servers, err := b.serversOf(s, addresses, target)
	if err != nil {
		return nil, err
	}
	b.domain.Algorithm = algorithm
	if algorithm == "proximity" {
		b.domain.Proximity = &imports.Proximity{}
	}
	if !slices.Contains(b.domain.Regions, region) {
		b.domain.Regions = append(b.domain.Regions, region)
	}
	b.addresses = b.addresses || s.Type != "CNAME"
	for _, server := range servers {
		b.add(s, server, region)
	}
	if s.TTL > imports.MaxTTL {
		return nil, fmt.Errorf("its TTL %d is out of range (0 to %d)", s.TTL, imports.MaxTTL)
	}
	ttl := s.TTL
	if s.AliasTarget != nil {
		ttl = aliasTTL
	}
	if b.records++; b.records == 1 || ttl < b.domain.TTL {
		b.domain.TTL = ttl
	}
	return nil, nil
}

// aliasRecords returns address records with the addresses of an alias target, because zone files have no aliases. It
// returns an error for an alias of a CNAME record.
func aliasRecords(s *recordSet, addresses []string) (out []dns.RR, err error) {
	if !s.hasAddresses() {
		return nil, errors.New("it is an alias of a CNAME record: write a CNAME record for it")
	}
	for _, a := range addresses {
		rr, err := dns.NewRR(fmt.Sprintf("%s %d %s %s", s.Name, aliasTTL, s.Type, a))
		if err != nil {
			return nil, err
		}
		out = append(out, rr)
	}
	return out, nil
}
