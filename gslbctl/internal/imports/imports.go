// Package imports defines the result of an import from another program: a configuration for a node, zone files, and
// notes about differences. Packages bind, gdnsd and route53 create it, and package cli writes it to files. It never
// reads a file.
package imports

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
	"go.yaml.in/yaml/v3"
)

// Deviation is a record of the original that the result lacks or changes, with the reason.
type Deviation struct {
	Record string `json:"record"`
	Why    string `json:"why"`
}

// Result is the output of an importer.
type Result struct {
	Config Config
	Zones  map[string]string // zone files by their names
	Taken  int               // number of imported records
	Left   []Deviation       // records that a node cannot serve
	Differ []Deviation       // records with possibly different answers

	FaultyZones int // number of omitted zones

	names map[string]bool // canonical names of the result, with all names above them
}

// Config is the content of a file under `includes` of a node's configuration. Its fields mirror the keys.
type Config struct {
	DNS struct {
		Zones []Zone `yaml:"zones"`
	} `yaml:"dns"`
	Overwatch *Overwatch `yaml:"overwatch,omitempty"`
	Regions   []*Region  `yaml:"regions,omitempty"`
	Domains   []*Domain  `yaml:"domains,omitempty"`
}

// Zone names a zone and its file. The TTLs are in seconds. Each zone has its own TTLs, so that a node can include
// several imports.
type Zone struct {
	Name        string `yaml:"name"`
	File        string `yaml:"file"`
	ApexTTL     uint32 `yaml:"apex_ttl"`
	NegativeTTL uint32 `yaml:"negative_ttl"`
}

// Overwatch is the part of a configuration that defines client locations.
type Overwatch struct {
	Geolocation Geolocation `yaml:"geolocation"`
}

// Geolocation maps clients to regions.
type Geolocation struct {
	Database string    `yaml:"database_path,omitempty"`
	Default  string    `yaml:"default_region,omitempty"`
	ECS      bool      `yaml:"ecs_enabled"`
	Mappings []Mapping `yaml:"custom_mappings,omitempty"`
}

// Mapping maps a network to a region.
type Mapping struct {
	CIDR   string `yaml:"cidr"`
	Region string `yaml:"region"`
}

// Region is a place with servers.
type Region struct {
	Name       string    `yaml:"name"`
	Countries  []string  `yaml:"countries,omitempty,flow"`
	Continents []string  `yaml:"continents,omitempty,flow"`
	Latitude   *float64  `yaml:"latitude,omitempty"`
	Longitude  *float64  `yaml:"longitude,omitempty"`
	Bias       int       `yaml:"proximity_bias,omitempty"`
	Servers    []*Server `yaml:"servers,omitempty"`
}

// Server is a backend of a domain.
type Server struct {
	Service string `yaml:"service"`
	Address string `yaml:"address,omitempty"`
	Target  string `yaml:"target,omitempty"`
	Port    int    `yaml:"port"`
	Weight  int    `yaml:"weight,omitempty"`
	Check   *Check `yaml:"health_check"`
}

// MarshalYAML implements yaml.Marshaler. It writes a server on one line.
func (s *Server) MarshalYAML() (any, error) {
	type plain Server
	var n yaml.Node
	err := n.Encode((*plain)(s))
	n.Style = yaml.FlowStyle
	return &n, err
}

// Check is the health check of a server.
type Check struct {
	Enabled            *bool  `yaml:"enabled,omitempty"`
	Type               string `yaml:"type,omitempty"`
	Path               string `yaml:"path,omitempty"`
	Host               string `yaml:"host,omitempty"`
	Address            string `yaml:"address,omitempty"`
	Interval           string `yaml:"interval,omitempty"`
	Timeout            string `yaml:"timeout,omitempty"`
	FailureThreshold   int    `yaml:"failure_threshold,omitempty"`
	SuccessThreshold   int    `yaml:"success_threshold,omitempty"`
	ExpectedStatus     string `yaml:"expected_status,omitempty"`
	BodyContains       string `yaml:"body_contains,omitempty"`
	ServerName         string `yaml:"server_name,omitempty"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify,omitempty"`
	Counting           string `yaml:"counting,omitempty"`
}

// NoCheck is the health check of a server that always serves.
func NoCheck() *Check { return &Check{Enabled: new(bool)} }

// Domain is a steered name.
type Domain struct {
	Name              string     `yaml:"name"`
	Answer            string     `yaml:"answer,omitempty"`
	Algorithm         string     `yaml:"routing_algorithm"`
	Regions           []string   `yaml:"regions,flow"`
	TTL               uint32     `yaml:"ttl"`
	MaxAnswers        int        `yaml:"max_answers,omitempty"`
	OnAllDown         string     `yaml:"on_all_down"`
	MinHealthy        string     `yaml:"min_healthy,omitempty"`
	FailoverThreshold int        `yaml:"failover_threshold,omitempty"`
	Proximity         *Proximity `yaml:"proximity,omitempty"`
}

// Proximity has the settings of the algorithm proximity.
type Proximity struct {
	Tolerance float64 `yaml:"tolerance_km"`
}

// Region returns the region with a name. It adds a missing region.
func (c *Config) Region(name string) *Region {
	for _, r := range c.Regions {
		if r.Name == name {
			return r
		}
	}
	r := &Region{Name: name}
	c.Regions = append(c.Regions, r)
	return r
}

// Differs adds a note that the answers for what, a record or a setting, may differ from the previous answers.
func (r *Result) Differs(what, how string, args ...any) {
	r.Differ = append(r.Differ, Deviation{what, fmt.Sprintf(how, args...)})
}

// Leave adds a note that the import omits the record what, and the reason.
func (r *Result) Leave(what, why string, args ...any) {
	r.Left = append(r.Left, Deviation{what, fmt.Sprintf(why, args...)})
}

// LeaveZone adds a note that the import omits a whole zone because of an error.
func (r *Result) LeaveZone(file string, err error) {
	r.Leave(file, "the zone is omitted: %v", err)
	r.FaultyZones++
}

// Text returns the configuration as YAML.
func (c *Config) Text() (string, error) {
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(c)
	return b.String(), err
}

// AddDomain adds a domain. It replaces a TTL of 0 by 1, because 0 means default_ttl on a node.
func (r *Result) AddDomain(d *Domain) {
	if d.TTL == 0 {
		d.TTL = 1
		r.Differs(d.Name, "its TTL is 1, not 0: a node takes 0 for dns.default_ttl")
	}
	r.Config.Domains = append(r.Config.Domains, d)
	r.serve(d.Name)
}

// AddZone adds a zone with its ordinary records, without the names of domains. A node has one TTL for the NS records
// and the SOA. AddZone uses the TTL of the NS records, which is more important.
func (r *Result) AddZone(zone string, records []dns.RR) error {
	var apex uint32
	for _, rr := range records {
		if owner, rtype := dns.CanonicalName(rr.Header().Name), rr.Header().Rrtype; owner == zone &&
			rtype == dns.TypeNS {
			apex = rr.Header().Ttl
			break
		} else if owner == zone && rtype == dns.TypeSOA {
			apex = rr.Header().Ttl
		}
	}
	return r.AddZoneWith(zone, records, apex)
}

// AddZoneWith is AddZone with a TTL, in seconds, for the records at the apex.
func (r *Result) AddZoneWith(zone string, records []dns.RR, apex uint32) error {
	served, left, soa := Served(records, zone)
	if soa == nil {
		return fmt.Errorf("there is no SOA of %s", zone)
	}
	if err := checkTTLs(records); err != nil {
		return err
	}
	apex, negative := r.ttls(zone, apex, soa)
	r.addZone(Zone{ApexTTL: apex, NegativeTTL: negative}, zone, served, left)
	return nil
}

// ttls returns the TTL of a node for its records at the apex and its negative TTL (RFC 2308 section 5). They are as
// near to the TTLs of the zone as the limits of a node permit.
func (r *Result) ttls(zone string, apex uint32, soa *dns.SOA) (uint32, uint32) {
	negative := min(soa.Minttl, soa.Hdr.Ttl)
	if within := min(max(apex, 1), maxApexTTL); within != apex {
		r.Differs("SOA of "+zone, "its TTL is %d, not %d: a node accepts 1 to %d", within, apex, maxApexTTL)
		apex = within
	}
	if negative > maxNegativeTTL {
		r.Differs("SOA of "+zone, "negative answers are cached for %d s, not %d: the maximum of a node", maxNegativeTTL,
			negative)
		negative = maxNegativeTTL
	}
	return apex, negative
}

// Bounds of a node on dns.apex_ttl and dns.negative_ttl, in seconds.
const (
	maxApexTTL     = 604800
	maxNegativeTTL = 86400
)

// MaxTTL is the greatest TTL in seconds (RFC 2181 section 8).
const MaxTTL = 1<<31 - 1

// checkTTLs returns an error for the first record with an invalid TTL.
func checkTTLs(records []dns.RR) error {
	for _, rr := range records {
		if ttl := rr.Header().Ttl; ttl > MaxTTL {
			return fmt.Errorf("%s %s: the TTL %d is out of range (0 to %d)", rr.Header().Name,
				dns.TypeToString[rr.Header().Rrtype], ttl, MaxTTL)
		}
	}
	return nil
}

// addZone adds a zone with the TTLs of z, its supported records, and the omitted records.
func (r *Result) addZone(z Zone, zone string, served []dns.RR, left []Deviation) {
	name := strings.TrimSuffix(zone, ".")
	file := strings.ReplaceAll(name, "/", "@") + ".zone"
	z.Name, z.File = name, file
	r.Config.DNS.Zones = append(r.Config.DNS.Zones, z)
	for _, rr := range served {
		r.serve(rr.Header().Name)
	}
	var b strings.Builder
	for _, rr := range served {
		fmt.Fprintln(&b, rr)
	}
	if r.Zones == nil {
		r.Zones = map[string]string{}
	}
	r.Zones[file] = b.String()
	r.Taken += len(served)
	r.Left = append(r.Left, left...)
}
