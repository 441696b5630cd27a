package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// Bounds of the settings of domains.
const (
	maxBelieved   = 100       // maximum number of records of an RRset that BIND resolvers accept (CVE-2024-1737)
	longTTL       = 24 * 3600 // in seconds; with a longer TTL, clients see a change only after more than a day
	MaxTolerance  = 20_038    // in kilometers, half of the circumference of the earth
	MinIPv4Prefix = 8
	MinIPv6Prefix = 16
	MaxIPv6Prefix = 64 // the network of a client
	maxNSID       = 64 // in characters, so that every answer has space for the NSID
)

// dns validates the keys of dns. Package publish validates nameservers, admin and records when it creates their
// records.
func (v *validator) dns() {
	d := &v.config.DNS
	if d.DefaultTTL > longTTL {
		v.warn("dns.default_ttl: %d seconds: clients keep an address that long after it went down", d.DefaultTTL)
	}
	if d.MinTTL > d.MaxTTL {
		v.Addf("dns.min_ttl", strconv.Itoa(d.MinTTL), "must not be greater than max_ttl, which is %d", d.MaxTTL)
	}
	if n := len(d.NSID); n > maxNSID {
		v.Addf("dns.nsid", d.NSID, "has %d characters: give at most %d", n, maxNSID)
	}
	v.observers()
	v.proxies()
	first := map[string]int{}
	for i := range d.Zones {
		z := &d.Zones[i]
		key := fmt.Sprintf("dns.zones[%d]", i)
		name, remedy := settings.ParseName(z.Name)
		if remedy != "" {
			v.Add(key+".name", z.Name, remedy)
			continue
		}
		z.Name = name
		if at, again := first[name]; again {
			v.Addf(key+".name", name, "is already dns.zones[%d]: keep one", at)
			continue
		}
		first[name] = i
	}
}

func (v *validator) domainNames() {
	for i := range v.config.Domains {
		v.domainName(i)
		v.domain(i)
	}
}

func (v *validator) domainName(i int) {
	d := &v.config.Domains[i]
	name, remedy := settings.ParseService(d.Name)
	if remedy != "" {
		if d.Name == "" {
			remedy = "is missing: " + remedy
		}
		v.Add(fmt.Sprintf("domains[%d].name", i), d.Name, remedy)
		return
	}
	d.Name = name
	if first, again := v.domains[name]; again {
		v.Addf(fmt.Sprintf("domains[%d].name", i), name, "is already domains[%d] (%s): keep one",
			first, v.Locate(fmt.Sprintf("domains[%d].name", first)))
		return
	}
	v.domains[name] = int32(i)
}

// domain validates the keys of a domain. It formats keys only for faults, because there may be 100,000 domains.
func (v *validator) domain(i int) {
	d := &v.config.Domains[i]
	key := func(name string) string { return fmt.Sprintf("domains[%d].%s", i, name) }
	for at, region := range d.Regions {
		if !v.isRegion(region) {
			v.Addf(key(fmt.Sprintf("regions[%d]", at)), region, "no such region: %s",
				settings.DidYouMean(region, v.regionList()))
		}
	}
	if d.TTL > longTTL {
		v.warn("%s: %d seconds: clients keep an address that long after it went down", key("ttl"), d.TTL)
	}
	if d.MaxAnswers > maxBelieved {
		v.warn("%s: %d addresses: resolvers of BIND 9.18.28 and later answer SERVFAIL for more than %d of a name "+
			"(max-records-per-type)", key("max_answers"), d.MaxAnswers, maxBelieved)
	}
	for _, p := range DomainProblems(d) {
		v.Add(key(p.Key), p.Value, p.Message)
	}
	v.signing(d, key)
	if Uses(d, func(a *policy.Algorithm) bool { return a.NeedsPosition }) {
		v.proximity(d, key)
	}
}

// signing validates dnssec_enabled of a domain against the node's setting.
func (v *validator) signing(d *Domain, key func(string) string) {
	switch signs := v.config.Overwatch.DNSSEC.Enabled; {
	case d.DNSSECEnabled == nil || *d.DNSSECEnabled && signs:
	case *d.DNSSECEnabled:
		v.Add(key("dnssec_enabled"), "true", "the node signs nothing, since overwatch.dnssec.enabled is false: remove one")
	case signs:
		v.warn("%s: %s is not signed: anybody on the way can forge its answers", key("dnssec_enabled"), d.Name)
	}
}

// proximity adds a warning for proximity routing without coordinates or a database.
func (v *validator) proximity(d *Domain, key func(string) string) {
	regions := d.Regions
	if len(regions) == 0 {
		regions = v.regionList()
	}
	for _, name := range regions {
		if at, known := v.regions[name]; known && v.config.Regions[at].Latitude == nil {
			v.warn("%s: region %q has no latitude and longitude: it comes behind all that have", key("routing_algorithm"), name)
		}
	}
}

// regionNames validates the regions. Later, foldRegions merges regions with parts in several files.
func (v *validator) regionNames() {
	v.regionsUnread = v.HasProblem("regions")
	countries, continents, spelled := map[string]string{}, map[string]string{}, map[string]string{}
	for i := range v.config.Regions {
		r := &v.config.Regions[i]
		key := fmt.Sprintf("regions[%d]", i)
		v.regionsUnread = v.regionsUnread || v.HasProblem(key+".name")
		if remedy := settings.LabelRemedy(r.Name, wire.MaxRegion); remedy != "" {
			v.Add(key+".name", r.Name, remedy)
		}
		if first, again := v.regions[r.Name]; again {
			v.checkRepeatedRegion(key, r, int(first))
		} else {
			v.regions[r.Name] = int32(i)
			v.sameButCase(key, r.Name, spelled)
		}
		for _, p := range RegionProblems(r) {
			if p.Key == "" { // coordinates
				v.coordinates(key, p)
				continue
			}
			v.Add(key+"."+p.Key, p.Value, p.Message)
		}
		v.nearOnce(key+".countries", r.Countries, r.Name, countries)
		v.nearOnce(key+".continents", r.Continents, r.Name, continents)
	}
}

// ownRegion adds a warning if the region of the node is unknown.
func (v *validator) ownRegion() {
	own := v.config.Overwatch.Identity.Region
	if _, known := v.regions[own]; own != "" && !known && len(v.regions) > 0 {
		v.warn("overwatch.identity.region: %q is none of the regions here: %s", own, settings.DidYouMean(own, v.regionList()))
	}
}

// sameButCase adds a warning if the name of a region differs only in case from the name of an earlier region. Versions
// up to 0.9 allowed both. spelled maps names in lower case to the first name.
func (v *validator) sameButCase(key, name string, spelled map[string]string) {
	lower := strings.ToLower(name)
	if first, taken := spelled[lower]; taken {
		v.warn("%s.name: region %q differs from region %q only in case: references in another case mean %q", key, name,
			first, first)
		return
	}
	spelled[lower] = name
}

// checkRepeatedRegion reports a problem with the second definition of a region, unless it is in another file and only
// adds servers. first is the index of the first definition.
func (v *validator) checkRepeatedRegion(key string, r *Region, first int) {
	begun := v.Locate(fmt.Sprintf("regions[%d].name", first))
	sameFile := v.Locate(key+".name").File == begun.File
	rest := *r
	rest.Name, rest.Servers = "", nil
	if sameFile || !reflect.DeepEqual(&rest, model.New[Region]()) {
		v.Addf(key+".name", r.Name, "is already regions[%d] (%s): keep one; another file may only add servers to it",
			first, begun)
	}
}

// nearOnce adds a warning for codes that an earlier region also lists, because the earlier region receives the clients.
// first maps codes to regions.
func (v *validator) nearOnce(key string, codes []string, region string, first map[string]string) {
	for _, code := range codes {
		if earlier, taken := first[code]; !taken {
			first[code] = region
		} else if earlier != region {
			v.warn("%s: %s is in region %q already: its clients are placed there", key, code, earlier)
		}
	}
}

// coordinates adds the problem of a region with only one coordinate, unless the other coordinate is invalid.
func (v *validator) coordinates(key string, p settings.Problem) {
	if !v.HasProblem(key+".latitude") && !v.HasProblem(key+".longitude") {
		v.Add(key, p.Value, p.Message)
	}
}

// regionList returns the names of the regions in the order of the configuration.
func (v *validator) regionList() []string {
	var names []string
	for _, r := range v.config.Regions {
		if r.Name != "" && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}
