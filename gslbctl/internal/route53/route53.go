// Package route53 owns the conversion of a hosted zone of Amazon Route 53, in the JSON that `aws route53
// list-resource-record-sets` writes, into a configuration for an overwatch node. Package cli calls it (gslbctl import
// route53). It makes no request and writes nothing.
package route53

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/imports"
)

const (
	unchecked = 80        // the port of a server without a check
	aliasTTL  = 60        // the TTL of an alias record, in seconds; Route 53 has the same for its own services
	anyPlace  = "default" // the region of clients whose place has no set
)

// reader reads one zone.
type reader struct {
	zone   *zoneData
	checks map[string]healthCheck
	result imports.Result
}

// Read converts the records of one zone. checks is the JSON of `aws route53 list-health-checks`, nil if there is none.
func Read(records, checks io.Reader) (*imports.Result, error) {
	var file struct{ ResourceRecordSets []*recordSet }
	if err := readJSON(records, &file); err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	zone, err := newZone(file.ResourceRecordSets)
	if err != nil {
		return nil, err
	}
	var known struct{ HealthChecks []healthCheck }
	if checks != nil {
		if err := readJSON(checks, &known); err != nil {
			return nil, fmt.Errorf("health checks: %w", err)
		}
	}
	return convert(zone, known.HealthChecks)
}

func convert(zone *zoneData, checks []healthCheck) (*imports.Result, error) {
	r := &reader{zone: zone, checks: map[string]healthCheck{}}
	for _, h := range checks {
		r.checks[h.Id] = h
	}
	var records []dns.RR
	var names []string
	for _, s := range zone.sets {
		if s.routed() {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
			continue
		}
		more, err := s.records()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		records = append(records, more...)
		if s.Type == "NS" && s.Name == zone.zone && len(more) > 0 && strings.Contains(more[0].String(), ".awsdns-") {
			r.result.Differs(s.String(), "they are still Amazon's servers: write the names of your nodes into the zone file")
		}
	}
	for _, name := range names {
		records = append(records, r.name(name)...)
	}
	r.elsewhere()
	return &r.result, r.result.AddZone(zone.zone, records)
}

// elsewhere notes names for which some clients get another answer than before. A node has one set of regions for all
// names, so a country that only one name has counts for the others too.
func (r *reader) elsewhere() {
	for _, d := range r.result.Config.Domains {
		if d.Algorithm != "geolocation" {
			continue
		}
		if d.Regions[0] != anyPlace {
			r.result.Differs(d.Name, "clients of no location get %s, not an empty answer", d.Regions[0])
		}
		if !slices.ContainsFunc(d.Regions, func(name string) bool { return strings.HasPrefix(name, "continent-") }) {
			continue
		}
		for _, region := range r.result.Config.Regions {
			if len(region.Countries) > 0 && !slices.Contains(d.Regions, region.Name) {
				r.result.Differs(d.Name, "clients in %s, which another name has, get %s, not their continent's answer", region.Name,
					d.Regions[0])
			}
		}
	}
}

// name adds a domain for the steered sets of a name. For aliases of records that are not steered it returns copies of
// these records.
func (r *reader) name(name string) (records []dns.RR) {
	b := &builder{reader: r, domain: &imports.Domain{Name: strings.TrimSuffix(name, "."), OnAllDown: "all"}}
	for _, s := range r.zone.byName[name] {
		if !s.routed() {
			if slices.Contains([]string{"A", "AAAA"}, s.Type) {
				r.result.Leave(s.String(), "the other family of the name is steered, so this would have to be too")
			}
			continue
		}
		more, err := b.set(s)
		if err != nil {
			r.result.Leave(s.String(), "%s", err)
			continue
		}
		records = append(records, more...)
	}
	if len(b.servers) > 0 {
		b.keep()
	}
	return records
}

// builder collects a domain and its servers. They enter the result with keep.
type builder struct {
	*reader
	domain  *imports.Domain
	servers []*imports.Server
	regions []string       // regions[i] is the region of servers[i]
	counts  map[string]int // number of servers, by region and record type
	records int            // number of record sets that were taken
	// addresses is true if a set answers with addresses. Otherwise the domain answers with CNAME records.
	addresses bool
}

var errOnly = errors.New("addresses are steered, and names that lead to some; nothing else is")

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
	if s.SetIdentifier == "" && target == "" { // an alias of records that do not change
		return copied(s, addresses)
	}
	algorithm, region, err := b.place(s)
	switch {
	case err != nil:
		return nil, err
	case b.domain.Algorithm != "" && b.domain.Algorithm != algorithm:
		return nil, fmt.Errorf("others of the name are steered by %s", b.domain.Algorithm)
	case algorithm == "weighted" && len(addresses) > 1:
		return nil, errors.New("weights of sets with several addresses: give each a set of its own")
	case algorithm == "weighted" && *s.Weight == 0:
		return nil, errors.New("its weight is 0: it gets no client unless all others are down")
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
	ttl := s.TTL
	if s.AliasTarget != nil {
		ttl = aliasTTL
	}
	if b.records++; b.records == 1 || ttl < b.domain.TTL {
		b.domain.TTL = ttl
	}
	return nil, nil
}

func copied(s *recordSet, addresses []string) (out []dns.RR, err error) {
	for _, a := range addresses {
		rr, err := dns.NewRR(fmt.Sprintf("%s %d %s %s", s.Name, aliasTTL, s.Type, a))
		if err != nil {
			return nil, err
		}
		out = append(out, rr)
	}
	return out, nil
}

func (b *builder) serversOf(s *recordSet, addresses []string, target string) (out []*imports.Server, err error) {
	tells := []string{}
	if target != "" {
		addresses = []string{target}
	}
	for _, text := range addresses {
		server := &imports.Server{Service: b.domain.Name, Target: target}
		var at netip.Addr
		if target == "" {
			if at, err = netip.ParseAddr(text); err != nil {
				return nil, fmt.Errorf("%q is no address", text)
			}
			server.Address = at.String()
		}
		tell := ""
		server.Check, server.Port, tell = b.check(s.HealthCheckId, at)
		if s.Weight != nil {
			server.Weight = *s.Weight
		}
		if tell != "" && !slices.Contains(tells, tell) {
			tells = append(tells, tell)
		}
		out = append(out, server)
	}
	switch {
	case target != "" && s.Type == "CNAME":
		tells = append(tells, "answered only once this node finds an address of "+target)
	case target != "":
		tells = append(tells, "answered with the IPv4 and IPv6 addresses of "+target+", whose health is not asked for")
	}
	for _, tell := range tells {
		b.result.Differs(s.String(), "%s", tell)
	}
	return out, nil
}

func (b *builder) add(s *recordSet, server *imports.Server, region string) {
	for _, other := range b.servers {
		if other.Address == server.Address && other.Target == server.Target {
			if server.Target == "" || s.Type == "A" {
				b.result.Differs(s.String(), "%s is there already, in another set", server.Address+server.Target)
			}
			return
		}
	}
	b.servers, b.regions = append(b.servers, server), append(b.regions, region)
	if b.counts == nil {
		b.counts = map[string]int{}
	}
	b.counts[region+s.Type]++
}

// keep adds the domain and its servers to the result.
func (b *builder) keep() {
	c := &b.result.Config
	for i, s := range b.servers {
		region := c.Region(b.regions[i])
		region.Servers = append(region.Servers, s)
		b.addresses = b.addresses || s.Target == ""
		if s.Target != "" {
			b.domain.MaxAnswers = 8
		}
	}
	for _, count := range b.counts {
		b.domain.MaxAnswers = max(b.domain.MaxAnswers, min(count, 8))
	}
	switch {
	case !b.addresses:
		b.domain.Answer, b.domain.MaxAnswers = "cname", 0
		for i, s := range b.servers { // targets may share an address, as with a CDN, but no two may share a port there
			if s.Check.Enabled != nil {
				s.Port = unchecked + i
			}
		}
	case b.domain.Algorithm == "weighted":
		b.domain.MaxAnswers = 1
	}
	if i := slices.Index(b.domain.Regions, anyPlace); i >= 0 { // first: it answers clients whose own region is down
		b.domain.Regions = append([]string{anyPlace}, slices.Delete(b.domain.Regions, i, i+1)...)
	}
	slices.SortStableFunc(b.domain.Regions, func(x, y string) int { // "primary" before "secondary"
		if b.domain.Algorithm != "failover" {
			return 0
		}
		return strings.Compare(x, y)
	})
	c.Domains = append(c.Domains, b.domain)
	b.result.Taken += b.records
}

// place returns the routing algorithm that matches the policy of a set, and the region for its servers.
func (b *builder) place(s *recordSet) (algorithm, region string, err error) {
	switch {
	case s.Weight != nil:
		return "weighted", "main", nil
	case s.MultiValueAnswer, s.SetIdentifier == "":
		return "round-robin", "main", nil
	case s.Failover != "":
		return "failover", strings.ToLower(s.Failover), nil
	case s.Region != "":
		if !b.located(s.Region, s.Region, 0) {
			return "", "", fmt.Errorf("where %s is, is not known", s.Region)
		}
		b.result.Differs(s.String(), "the nearest region answers, not the one that AWS measures as the fastest")
		return "proximity", s.Region, nil
	case s.GeoLocation != nil:
		region, err = b.geoLocation(s)
		return "geolocation", region, err
	case s.GeoProximityLocation != nil:
		region, err = b.geoProximity(s)
		return "proximity", region, err
	case s.CidrRoutingConfig != nil:
		return "", "", errors.New("the networks of its CIDR collection are not in the file")
	}
	return "", "", errors.New("how it is chosen is not known")
}

func (b *builder) geoLocation(s *recordSet) (string, error) {
	g := b.clients()
	switch l := s.GeoLocation; {
	case l.SubdivisionCode != "":
		return "", errors.New("a node tells countries apart, not what is in them")
	case l.CountryCode == "*":
		g.Default = anyPlace
		return anyPlace, nil
	case l.CountryCode != "":
		b.result.Config.Region(l.CountryCode).Countries = []string{l.CountryCode}
		return l.CountryCode, nil
	case l.ContinentCode != "":
		name := "continent-" + l.ContinentCode
		b.result.Config.Region(name).Continents = []string{l.ContinentCode}
		return name, nil
	}
	return "", errors.New("its location is empty")
}

func (b *builder) geoProximity(s *recordSet) (string, error) {
	l := s.GeoProximityLocation
	name := l.AWSRegion
	if l.Bias != 0 {
		name += "-bias" + strconv.Itoa(l.Bias)
	}
	switch {
	case l.Coordinates != nil:
		north, err := strconv.ParseFloat(l.Coordinates.Latitude, 64)
		if err != nil {
			return "", err
		}
		east, err := strconv.ParseFloat(l.Coordinates.Longitude, 64)
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("at%+g%+g", north, east) + name
		name = strings.ReplaceAll(name, "+", "_")
		region := b.result.Config.Region(name)
		region.Latitude, region.Longitude, region.Bias = &north, &east, l.Bias
	case l.AWSRegion == "" || !b.located(name, l.AWSRegion, l.Bias):
		return "", fmt.Errorf("where %q is, is not known", l.AWSRegion)
	}
	b.clients()
	return name, nil
}

// located adds the region name at the position of an AWS region. It returns false if the position is not known.
func (b *builder) located(name, aws string, bias int) bool {
	at, known := awsRegions()[aws]
	if known {
		region := b.result.Config.Region(name)
		region.Latitude, region.Longitude, region.Bias = &at[0], &at[1], bias
		b.clients()
	}
	return known
}

// clients returns the geolocation settings of the result. The first call adds them, with a note that they lack a
// database.
func (b *builder) clients() *imports.Geolocation {
	c := &b.result.Config
	if c.Overwatch == nil {
		c.Overwatch = &imports.Overwatch{Geolocation: imports.Geolocation{ECS: true}}
		b.result.Differs("the places of clients", "AWS' database is not at hand: give one in "+
			"overwatch.geolocation.database_path, with cities where the nearest region is to answer")
	}
	return &c.Overwatch.Geolocation
}

// awsRegions returns the approximate latitude and longitude of each region of AWS, in degrees.
func awsRegions() map[string][2]float64 {
	return map[string][2]float64{
		"us-east-1": {38.9, -77.4}, "us-east-2": {40, -83}, "us-west-1": {37.4, -122}, "us-west-2": {45.8, -119.7},
		"us-gov-east-1": {40, -83}, "us-gov-west-1": {45.8, -119.7}, "mx-central-1": {20.6, -100.4},
		"ca-central-1": {45.5, -73.6}, "ca-west-1": {51, -114.1}, "sa-east-1": {-23.5, -46.6}, "af-south-1": {-33.9, 18.4},
		"eu-west-1": {53.3, -6.3}, "eu-west-2": {51.5, -0.1}, "eu-west-3": {48.9, 2.4}, "eu-central-1": {50.1, 8.7},
		"eu-central-2": {47.4, 8.5}, "eu-north-1": {59.3, 18.1}, "eu-south-1": {45.5, 9.2}, "eu-south-2": {41.7, -0.9},
		"ap-east-1": {22.3, 114.2}, "ap-south-1": {19.1, 72.9}, "ap-south-2": {17.4, 78.5}, "ap-northeast-1": {35.7, 139.7},
		"ap-northeast-2": {37.6, 127}, "ap-northeast-3": {34.7, 135.5}, "ap-southeast-1": {1.3, 103.8},
		"ap-southeast-2": {-33.9, 151.2}, "ap-southeast-3": {-6.2, 106.8}, "ap-southeast-4": {-37.8, 145},
		"ap-southeast-5": {3.1, 101.7}, "ap-southeast-7": {13.8, 100.5}, "cn-north-1": {39.9, 116.4},
		"cn-northwest-1": {37.5, 105.2}, "il-central-1": {32.1, 34.8}, "me-central-1": {24.5, 54.4},
		"me-south-1": {26.1, 50.6},
	}
}
