// Package gdnsd converts a configuration of gdnsd 3, with its zone files, to a configuration for an overwatch node.
// Package cli calls it (gslbctl import gdnsd). It reads files in the folder of the configuration and below. It sends no
// request and writes no file.
package gdnsd

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/imports"
)

// maxWeight is the maximum weight of a server on a node.
const maxWeight = 1000

// reader reads one configuration.
type reader struct {
	source  *source
	folder  string
	root    *hash
	result  imports.Result
	geoMap  string   // the name of the one map of the plugin geoip that is taken over; "" before the first
	places  []string // datacenters of that map, the default first
	nearest bool     // the map selects datacenters by coordinates
	minTTL  uint32   // option min_ttl, in seconds
}

// Read converts the configuration at path, such as /etc/gdnsd/config.
func Read(path string) (*imports.Result, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	result, err := ReadFS(root.FS(), filepath.Base(path), folder)
	if err != nil {
		return nil, fmt.Errorf("in %s: %w", folder, err)
	}
	return result, nil
}

// ReadFS converts the configuration file name in files, and the zone files in the folder zones. folder is the path of
// the files on disk, for paths in the result and in errors.
func ReadFS(files fs.FS, name, folder string) (*imports.Result, error) {
	r := &reader{source: &source{files: files}, folder: folder}
	value, err := r.source.file(name, 0)
	if err != nil {
		return nil, err
	}
	top, ok := value.(*hash)
	if !ok {
		return nil, fmt.Errorf("%s: begins with a list: give gdnsd's configuration, such as /etc/gdnsd/config", name)
	}
	r.root, r.minTTL = top, 5
	if text := top.sub("options").text("min_ttl"); text != "" {
		least, err := integer(text, 31)
		if err != nil {
			return nil, fmt.Errorf("min_ttl: %w", err)
		}
		r.minTTL = uint32(least)
	}
	var faults []error // of zones
	entries, err := fs.ReadDir(files, "zones")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := r.takeZone(e.Name()); err != nil {
			faults = append(faults, err)
			r.result.LeaveZone("zones/"+e.Name(), err)
		}
	}
	if len(r.result.Config.DNS.Zones) == 0 && len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if len(r.result.Config.DNS.Zones) == 0 {
		return nil, fmt.Errorf("%s: there are no zone files in %s", name, filepath.Join(folder, "zones"))
	}
	r.result.Finish()
	return &r.result, nil
}

func (r *reader) takeZone(file string) error {
	zone := strings.ToLower(strings.ReplaceAll(file, "@", "/")) + "."
	records, names, err := r.zone("zones/"+file, zone)
	if err != nil {
		return err
	}
	for _, rr := range records {
		rr.Header().Ttl = max(rr.Header().Ttl, r.minTTL)
	}
	names = slices.DeleteFunc(names, func(s steered) bool {
		alias := r.alias(s)
		if alias != nil {
			records = append(records, alias)
		}
		return alias != nil
	})
	if err := r.result.AddZone(zone, records); err != nil {
		return fmt.Errorf("zones/%s: %w", file, err)
	}
	for _, name := range names {
		what := name.name + " " + name.ref
		if err := r.takeName(name, what); err != nil {
			r.result.Leave(what, "%s", err)
			continue
		}
		r.result.Taken++
	}
	return nil
}

// alias returns a CNAME record for a name of the plugin static that has a host name, or else nil.
func (r *reader) alias(s steered) dns.RR {
	plugin, name, _ := strings.Cut(s.ref, "!")
	target := r.root.sub("plugins").sub(plugin).text(name)
	_, valid := dns.IsDomainName(target)
	if _, err := netip.ParseAddr(target); err == nil || plugin != "static" || !valid || target == "" {
		return nil
	}
	return &dns.CNAME{Hdr: dns.RR_Header{Name: s.name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET,
		Ttl: max(s.most, r.minTTL)}, Target: dns.CanonicalName(target)}
}

// takeName adds a domain for a load-balanced record to the result, or returns the reason why a node cannot serve the
// record. what describes the record in messages.
func (r *reader) takeName(record steered, what string) error {
	res, err := r.resolve(record.ref, 0)
	if err != nil {
		return err
	}
	b := domainBuilder{reader: r, what: what, least: -1, checked: map[string]bool{},
		domain: &imports.Domain{Name: strings.TrimSuffix(record.name, "."), Algorithm: "round-robin", OnAllDown: "all"}}
	switch {
	case res.geoMap != "" && r.nearest:
		b.domain.Algorithm, b.domain.Proximity = "proximity", &imports.Proximity{}
	case res.geoMap != "":
		b.domain.Algorithm = "geolocation"
	case res.chain:
		b.domain.Algorithm = "failover"
	case res.single:
		b.domain.Algorithm = "weighted"
	}
	for _, p := range res.parts {
		if err := b.add(p, res); err != nil {
			return err
		}
	}
	if len(b.domain.Regions) == 0 {
		return errors.New("it has no datacenters with addresses")
	}
	if !res.single {
		b.domain.MaxAnswers = b.most
	}
	b.domain.TTL = max(record.most, r.minTTL)
	if b.least >= 0 {
		b.domain.TTL = min(b.domain.TTL, max(record.least, r.minTTL, uint32(min(b.least, math.MaxInt32))))
	}
	b.thresholds(res)
	b.addDomain()
	return nil
}

// domainBuilder collects a domain and its servers. keep adds them to the result after the last possible failure.
type domainBuilder struct {
	*reader
	what     string
	domain   *imports.Domain
	regions  []string
	servers  []*imports.Server // regions[i] is the region of servers[i]
	notices  []string          // differences to report to the operator
	families map[bool]int      // number of addresses in the last region: true is IPv4
	most     int               // maximum number of addresses of one family in a region
	checked  map[string]bool   // regions with a health check
	least    int               // shortest time, in seconds, until an address can become down; -1: never
}

func (b *domainBuilder) add(p part, res resource) error {
	if !regionName(p.name) {
		return fmt.Errorf("%q cannot be the name of a region", p.name)
	}
	if slices.Contains(b.domain.Regions, p.name) {
		return fmt.Errorf("datacenter %s is there twice", p.name)
	}
	b.domain.Regions = append(b.domain.Regions, p.name)
	weights, exact := scaled(p.addresses)
	if !exact && res.single {
		b.notices = append(b.notices, fmt.Sprintf("the weights of %s are rounded: %d is the greatest", p.name,
			maxWeight))
	}
	families := map[bool]int{}
	for i, a := range p.addresses {
		types := a.types
		if a.unheeded && !res.chain {
			types = nil
		}
		m, err := b.checkOf(types)
		if err != nil {
			return err
		}
		if a.unheeded && m.check.Type != "" && len(p.addresses) > 1 {
			m.notices = append(m.notices, "addresses of "+p.name+" that are down are omitted, in spite of "+
				"ignore_health")
		}
		s := &imports.Server{Service: b.domain.Name, Address: a.at.Unmap().String(), Port: m.port, Check: m.check}
		if res.single {
			s.Weight = weights[i]
		}
		if slices.ContainsFunc(b.servers, func(o *imports.Server) bool { return o.Address == s.Address }) {
			if res.geoMap != "" {
				return fmt.Errorf("its address %s is there twice", s.Address)
			}
			b.notices = append(b.notices, fmt.Sprintf("its address %s is there twice: once will do", s.Address))
			continue
		}
		for _, notice := range m.notices {
			if !slices.Contains(b.notices, notice) {
				b.notices = append(b.notices, notice)
			}
		}
		if m.check.Type != "" {
			b.checked[p.name] = true
		}
		first := len(b.domain.Regions) == 1 // gdnsd uses later regions only if the first region is down
		if m.downAfter > 0 && (first || b.domain.Algorithm != "failover") && (b.least < 0 || m.downAfter < b.least) {
			b.least = m.downAfter
		}
		families[a.at.Is4()]++
		b.most = max(b.most, families[a.at.Is4()])
		b.regions, b.servers = append(b.regions, p.name), append(b.servers, s)
	}
	if len(families) == 0 {
		b.domain.Regions = b.domain.Regions[:len(b.domain.Regions)-1]
		return nil
	}
	for _, is4 := range []bool{true, false} {
		if had := b.families[is4]; res.chain && len(b.domain.Regions) > 1 && (had > 0) != (families[is4] > 0) {
			b.notices = append(b.notices, "not all its datacenters have addresses of both families: the others' are "+
				"answered")
		}
	}
	b.families = families
	return nil
}

// thresholds sets min_healthy or failover_threshold of the domain. It adds notices about differences in the meaning of
// up_thresh.
func (b *domainBuilder) thresholds(res resource) {
	first := 0
	for _, p := range res.parts {
		if first == 0 && b.checked[p.name] {
			first = p.threshold
		}
	}
	for _, p := range res.parts {
		needs := p.threshold
		if !b.checked[p.name] {
			needs = min(first, len(p.addresses)) // always up
		}
		switch {
		case res.chain && b.domain.Algorithm != "failover":
			if needs > 1 {
				b.notices = append(b.notices, fmt.Sprintf("%s is left when no address is up, not when fewer than %d "+
					"are", p.name,
					needs))
			}
		case res.chain && needs != first:
			b.notices = append(b.notices, fmt.Sprintf("%s is left when fewer than %d addresses are up, not %d", p.name,
				first,
				needs))
		case p.weighty:
			b.notices = append(b.notices, "up_thresh counts addresses, not weights")
		}
	}
	switch {
	case first < 2:
	case !res.chain:
		b.domain.MinHealthy = strconv.Itoa(first)
	case b.domain.Algorithm == "failover":
		b.domain.FailoverThreshold = first
	}
}

// addDomain adds the domain and its servers to the result.
func (b *domainBuilder) addDomain() {
	c := &b.result.Config
	for i, s := range b.servers {
		region := c.Region(b.regions[i])
		region.Servers = append(region.Servers, s)
	}
	b.result.AddDomain(b.domain)
	for _, notice := range b.notices {
		b.result.Differs(b.what, "%s", notice)
	}
}

// scaled returns the weights of addresses, reduced to at most maxWeight. exact is false if their proportions change.
func scaled(addresses []address) (weights []int, exact bool) {
	divisor, greatest := 0, 0
	for _, a := range addresses {
		greatest = max(greatest, a.weight)
		for rest := a.weight; rest > 0; {
			divisor, rest = rest, divisor%rest
		}
	}
	if greatest <= maxWeight {
		divisor = 1
	}
	exact = greatest/divisor <= maxWeight
	for _, a := range addresses {
		w := a.weight / divisor
		if !exact {
			w = max(1, a.weight*maxWeight/greatest)
		}
		weights = append(weights, w)
	}
	return weights, exact
}
