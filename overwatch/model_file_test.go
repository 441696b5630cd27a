package overwatch // inside: it uses node

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/geo/geotest"
)

// locate writes another database of client locations. It has no entry for the last client.
func (h *chronicle) locate(configPath string) {
	var networks []geotest.Network
	for client := range historyClients - 1 {
		p := placeFacts{country: pick(h.random, historyCountries), continent: pick(h.random, historyContinents)}
		if h.random.IntN(3) == 0 {
			p.country = historyCountries[0]
		}
		record := geotest.Located(p.country, p.continent, 0, 0)
		if delete(record, "location"); h.random.IntN(3) > 0 {
			p.at = &refPlace{float64(h.random.IntN(600))/4 - 75, float64(h.random.IntN(1400))/4 - 175}
			record["location"] = map[string]any{"latitude": p.at.latitude, "longitude": p.at.longitude}
		}
		h.model.database[client] = p
		networks = append(networks, geotest.Network{CIDR: netip.PrefixFrom(clientAddress(client), 32), Record: record})
	}
	path := databaseFile(configPath)
	h.must(os.WriteFile(path+".new", geotest.Database(networks), 0o600))
	h.must(os.Rename(path+".new", path))
}

// The first of each list are only in regions of the API. All of these regions have the first country.
var (
	historyCountries  = []string{"DE", "US", "SG", "BR", "CH"}
	historyContinents = []string{"EU", "NA", "AS", "SA"}
)

func databaseFile(configPath string) string {
	return filepath.Join(filepath.Dir(configPath), "places.mmdb")
}

func (h *chronicle) reload() string {
	before := h.model.file
	event := h.reloadTo(before, h.randomFile())
	h.judgeNew()
	return event
}

func (h *chronicle) reloadTo(before, next fileFacts) string {
	h.model.file = next
	h.write(h.node.configPath)
	_, _, err := h.node.control.Reload(h.t.Context())
	h.must(err)
	// During a change of servers, the longer times are used.
	for _, step := range []fileFacts{before, next} {
		step.stale, step.remove, step.interval = max(before.stale, next.stale), max(before.remove, next.remove),
			max(before.interval, next.interval)
		h.model.file = step
		h.model.settle()
	}
	h.model.file = next
	return fmt.Sprintf("reload %+v", h.model.file)
}

// randomRegion returns a region with some of the countries and at most one of the continents.
func (h *chronicle) randomRegion(name string, countries, continents []string) regionFacts {
	r := regionFacts{name: name}
	if h.random.IntN(3) > 0 {
		r.at = map[string]*refPlace{"eu": {50, 10}, "us": {38, -77}, "ap": {1, 103}, "sa": {-23, -46}, "af": {-1, 36},
			"oc": {-33, 151}, "an": {-75, 0}}[name]
	}
	for _, country := range countries {
		if h.random.IntN(4) == 0 {
			r.countries = append(r.countries, country)
		}
	}
	if h.flip() {
		r.continent = pick(h.random, continents)
	}
	if h.flip() {
		r.bias = pick(h.random, []int{-60, 40, 90})
	}
	if h.random.IntN(4) == 0 {
		r.pool = pick(h.random, h.pools)
	}
	return r
}

func (h *chronicle) randomFile() fileFacts {
	f := fileFacts{mappings: map[int]string{}, returnLastHealthy: h.flip(), ttl: pick(h.random, []int{20, 30}),
		hashed:   h.random.IntN(3) == 0,
		stale:    pick(h.random, []time.Duration{20 * time.Second, 30 * time.Second}),
		remove:   pick(h.random, []time.Duration{time.Minute, 5 * time.Minute}),
		interval: pick(h.random, []time.Duration{10 * time.Second, 30 * time.Second})}
	for _, name := range []string{"eu", "us", "ap", "sa"} {
		if name == "sa" && h.flip() {
			continue
		}
		f.regions = append(f.regions, h.randomRegion(name, historyCountries[1:], historyContinents[1:]))
	}
	h.model.file = f // domains may list its regions
	h.model.join()
	for _, name := range historyNames {
		if h.flip() {
			d := h.randomDomain(name, pick(h.random, h.algorithms))
			d.regions = slices.DeleteFunc(d.regions, func(r string) bool {
				return first(f.regions, func(known regionFacts) bool { return known.name == r }) == nil
			})
			f.domains = append(f.domains, d)
		}
	}
	for i := range f.regions {
		r := &f.regions[i]
		taken := map[string]bool{}
		for range h.random.IntN(4) {
			e := pick(h.random, historyEndpoints)
			s := serverFacts{address: e.address, port: e.port, weight: 1 + h.random.IntN(4), agent: h.named()}
			if len(f.domains) > 0 && h.random.IntN(4) > 0 {
				s.service = pick(h.random, f.domains).name
			}
			// All regions together may declare a backend once.
			endpoint := fmt.Sprintf("%s %s %d", s.service, s.address, s.port)
			if s.service == "" || !taken[endpoint] {
				taken[endpoint] = true
				r.servers = append(r.servers, s)
			}
		}
	}
	onlyOnce(f.regions)
	for client := range historyClients {
		if h.random.IntN(4) == 0 {
			f.mappings[client] = pick(h.random, f.regions).name
		}
	}
	if h.flip() {
		f.defaultRegion = pick(h.random, f.regions).name
	}
	return f
}

// onlyOnce removes repeated servers of an endpoint, for any service, so that no endpoint is declared twice.
func onlyOnce(regions []regionFacts) {
	seen := map[string]bool{}
	for i := range regions {
		regions[i].servers = slices.DeleteFunc(regions[i].servers, func(s serverFacts) bool {
			endpoint := fmt.Sprintf("%s %s %d", s.service, s.address, s.port)
			again := seen[endpoint]
			seen[endpoint] = true
			return again
		})
	}
}

// named returns the agent of a declaration, usually none.
func (h *chronicle) named() string {
	return pick(h.random, []string{"", "", "agent0", "agent1", "agent2", "agent9"})
}

func (h *chronicle) randomDomain(name, algorithm string) domainFacts {
	d := domainFacts{
		name: name, algorithm: algorithm, ttl: pick(h.random, []int{0, 10, 25, 40}), threshold: 1 + h.random.IntN(2),
		maxAnswers: 1 + h.random.IntN(3), onAllDown: pick(h.random, []string{"", "servfail", "last_healthy", "all"}),
		minHealthy: pick(h.random, []string{"", "", "", "2", "50%"}),
		tolerance:  pick(h.random, []float64{0, 3000, 20000}), smoothing: pick(h.random, []float64{0.3, 1}),
		slowest: pick(h.random, []time.Duration{500, 110}) * time.Millisecond,
		samples: 1 + h.random.IntN(3),
	}
	if len(h.pools) > 3 { // see newChronicle
		d.tolerance = 0
	}
	if slices.Contains([]string{"geolocation", "latency", "proximity"}, d.algorithm) && h.flip() {
		d.fallback = pick(h.random, slices.DeleteFunc(slices.Clone(historyAlgorithms),
			func(a string) bool { return a == d.algorithm }))
	}
	for _, r := range h.model.regions {
		if h.random.IntN(3) > 0 {
			d.regions = append(d.regions, r.name)
		}
	}
	h.random.Shuffle(len(d.regions), func(a, b int) { d.regions[a], d.regions[b] = d.regions[b], d.regions[a] })
	return d
}

// write writes the configuration file.
func (h *chronicle) write(path string) {
	f := &h.model.file
	var b strings.Builder
	fmt.Fprintf(&b, "mode: overwatch\ndata_dir: %q\n", filepath.Join(filepath.Dir(path), "data"))
	fmt.Fprintf(&b,
		"overwatch:\n  identity: {node_id: ns1, region: eu}\n  gossip: {bind_address: \"127.0.0.1:0\", encryption_key: %q}\n",
		base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if denial := map[bool]string{false: "nsec", true: "nsec3"}[f.hashed]; h.signed {
		fmt.Fprintf(&b, "  dnssec: {enabled: true, denial: %s}\n", denial)
	} else {
		b.WriteString(
			"  dnssec: {enabled: false, security_acknowledgment: \"I understand that DNSSEC is disabled and responses can be " +
				"spoofed\"}\n")
	}
	b.WriteString("  agent_tokens:\n")
	for _, name := range historyNames {
		fmt.Fprintf(&b, "    %q: %q\n", name, historyToken)
	}
	b.WriteString("  brake: {enabled: false}\n") // the model has no mass-failure protection; package registry tests it
	fmt.Fprintf(&b, "  validation: {enabled: true, check_interval: %s}\n  stale: {threshold: %s, remove_after: %s}\n",
		f.interval, f.stale, f.remove)
	fmt.Fprintf(&b, "  geolocation:\n    database_path: %q\n    default_region: %q\n    custom_mappings: [",
		databaseFile(path), f.defaultRegion)
	for _, client := range slices.Sorted(maps.Keys(f.mappings)) {
		fmt.Fprintf(&b, "{cidr: %s/32, region: %s},", clientAddress(client), f.mappings[client])
	}
	fmt.Fprintf(&b,
		"]\ndns: {listen_address: \"127.0.0.1:0\", default_ttl: %d, return_last_healthy: %v, zones: "+
			"[gslb.test]}\nmetrics: {enabled: false}\napi: {enabled: false}\nregions:\n", f.ttl, f.returnLastHealthy)
	for _, r := range f.regions {
		fmt.Fprintf(&b, "  - name: %s\n", r.name)
		fmt.Fprintf(&b, "    countries: [%s]\n    proximity_bias: %d\n", strings.Join(r.countries, ", "), r.bias)
		if r.at != nil {
			fmt.Fprintf(&b, "    latitude: %v\n    longitude: %v\n", r.at.latitude, r.at.longitude)
		}
		if r.continent != "" {
			fmt.Fprintf(&b, "    continents: [%s]\n", r.continent)
		}
		if r.pool != "" {
			fmt.Fprintf(&b, "    routing_algorithm: %s\n", r.pool)
		}
		b.WriteString("    servers: [")
		for _, s := range r.servers {
			fmt.Fprintf(&b, "{address: %q, port: %d, weight: %d, agent: %q", s.address, s.port, s.weight, s.agent)
			if s.service != "" {
				fmt.Fprintf(&b, ", service: %q", s.service)
			}
			b.WriteString("}, ")
		}
		b.WriteString("]\n")
	}
	b.WriteString("domains: [\n")
	for _, d := range f.domains {
		fmt.Fprintf(&b,
			"  {name: %q, routing_algorithm: %s, regions: [%s], ttl: %d, failover_threshold: %d, max_answers: %d, proximity: "+
				"{tolerance_km: %v}, latency_config: {smoothing_factor: %v, max_latency_ms: %d, min_samples: %d}",
			d.name, d.algorithm, strings.Join(d.regions, ", "), d.ttl, d.threshold, d.maxAnswers, d.tolerance, d.smoothing,
			d.slowest.Milliseconds(), d.samples)
		for key, value := range map[string]string{"on_all_down": d.onAllDown, "min_healthy": d.minHealthy,
			"fallback_algorithm": d.fallback} {
			if value != "" {
				fmt.Fprintf(&b, ", %s: %q", key, value)
			}
		}
		b.WriteString("},\n")
	}
	b.WriteString("]\n")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		h.t.Fatal(err)
	}
}
