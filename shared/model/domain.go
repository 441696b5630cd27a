package model

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"gslb.internal/shared/settings"
)

// Domain is a load-balanced name and its settings.
type Domain struct {
	// The name, such as `app.example.com`, or a wildcard, such as `*.example.com`. Required; each name once.
	Name string `key:"name" json:"name" write:"always"`
	// How the domain's backends are chosen: `round-robin`, `weighted`, `failover`, `geolocation`, `proximity`, `latency`
	// or `client-hash`; see [routing](routing.md).
	RoutingAlgorithm string `key:"routing_algorithm" json:"routing_algorithm" usage:"routing algorithm: see gslbctl routing algorithms" alias:"routing_policy" write:"always" default:"round-robin"`
	// The domain's regions, in order of preference.
	Regions []string `key:"regions" json:"regions" usage:"regions in order of preference, separated by commas"`
	// Seconds for which a resolver may cache an answer; 0: `dns.default_ttl`.
	TTL int `key:"ttl" json:"ttl" usage:"seconds that resolvers cache an answer (default: dns.default_ttl)" min:"0" max:"2147483647" zero:"unset"`
	// The maximum number of addresses in an answer. BIND resolvers reject a name with more than 100 records. Above about
	// 60 IPv4 or 35 IPv6 addresses an answer exceeds a UDP datagram, and resolvers retry over TCP.
	MaxAnswers int `key:"max_answers" json:"max_answers" usage:"maximum number of addresses in an answer" default:"1" min:"1"`
	// The fallback answer if all backends are down, or fewer than `min_healthy` are up: `servfail`, `last_healthy` or
	// `all`. Default: see `dns.return_last_healthy`.
	OnAllDown string `key:"on_all_down" json:"on_all_down,omitempty" usage:"fallback answer: servfail, last_healthy or all (default: dns.return_last_healthy)"`
	// `strict`: a client of a region in `regions` is only answered from its own region, even by the fallback answer; see
	// [geofence](routing.md#geofence). Default: none.
	Geofence string `key:"geofence" json:"geofence,omitempty" usage:"strict: clients of the domain's regions are only answered from their own region"`
	// The minimum number of the domain's backends, in all its regions, that must be able to serve: a number, `2`, or a
	// share, `"50%"`, rounded up. With fewer, the answer is the fallback answer of `on_all_down`; `last_healthy` then
	// includes the backends that failed last. A new backend counts after its first check result. 1 to 1000, or 1% to 100%.
	MinHealthy string `key:"min_healthy" json:"min_healthy,omitempty" usage:"minimum of backends that can serve: a number, or a share such as 50%"`
	// false: answers are unsigned although `overwatch.dnssec.enabled` is true. A zone is signed as a whole, so all domains
	// of the zone need the same value, and the zone must have no `records`. Remove the DS records from the parent zone
	// first. Default: `overwatch.dnssec.enabled`.
	DNSSECEnabled *bool `key:"dnssec_enabled" json:"dnssec_enabled" usage:"false: answers are unsigned"`
	// failover: the number of serving backends that a region needs.
	FailoverThreshold int `key:"failover_threshold" json:"failover_threshold" usage:"failover: serving backends that a region needs" default:"1" min:"1" max:"1000"`
	// The algorithm if `geolocation`, `proximity` or `latency` lacks data for a client.
	FallbackAlgorithm string        `key:"fallback_algorithm" json:"fallback_algorithm,omitempty" usage:"algorithm where the routing algorithm lacks data"`
	LatencyConfig     LatencyConfig `key:"latency_config" json:"latency_config"`
	Proximity         `key:"proximity"`
	ClientHash        `key:"client_hash"`
	Brake             MassFailure `key:"brake" json:"brake,omitzero"`
	Recovery          Recovery    `key:"recovery" json:"recovery,omitzero"`
	Flap              Flap        `key:"flap" json:"flap,omitzero"`
	// failover, geolocation, proximity: when clients return to a region that was down. `automatic`: immediately;
	// `{after: 10m}`: after the region could serve for this time; `manual`: after `gslbctl failback`. See
	// [failback](routing.md#failback). Default: `automatic`.
	Failback Failback `key:"failback" json:"failback,omitzero" merge:"replace" usage:"when clients return to a region that was down: automatic, manual, or a time such as 10m (default: automatic)"`
	HTTPS    HTTPS    `key:"https" json:"https,omitzero" merge:"replace"`
	// The records of an answer: `address`, the addresses of servers; or `cname`, the `target` of a server as a CNAME.
	// With `cname`, all servers of the domain have a `target`, the name has no other records, and it is not the apex of a
	// zone. An answer has one CNAME, regardless of `max_answers`. See
	// [answers that are names](dns.md#answers-that-are-names).
	Answer string `key:"answer" json:"answer" usage:"records of an answer: address, or cname for the host names of servers" default:"address"`
	// Services with [SRV records](dns.md#srv-records), such as `_sip._tcp`: the records have the ports of the backends
	// that serve. At most 8. All servers of the domain need the same port.
	SRV []string `key:"srv" json:"srv,omitempty" usage:"services with SRV records, such as _sip._tcp, separated by commas"`
	// false: the node does not answer the name.
	Enabled bool `key:"enabled" json:"enabled" usage:"false: the node does not answer the name" default:"true"`
	// A description, of at most 500 printable characters.
	Description string `key:"description" json:"description" usage:"description"`
	// Tags for filters: at most 50, each of at most 64 printable characters, without commas.
	Tags []string `key:"tags" json:"tags" usage:"tags, separated by commas"`
	Meta
}

// Values of Domain.Answer.
const (
	AnswerAddress = "address"
	AnswerCNAME   = "cname"
)

// GeofenceStrict is the value of Domain.Geofence other than the default, "".
const GeofenceStrict = "strict"

// RecordTypes lists the record types that a domain can have. The address types are first.
func RecordTypes() []string { return []string{"A", "AAAA", "HTTPS", "SRV"} }

// RecordTypeNames returns RecordTypes for messages.
func RecordTypeNames() string {
	types := RecordTypes()
	last := len(types) - 1
	return strings.Join(types[:last], ", ") + " or " + types[last]
}

// defaultDomain returns a domain with defaults only.
var defaultDomain = sync.OnceValue(func() (d Domain) {
	settings.SetDefaults(&d)
	return d
})

// SetDefaults resets all fields to their defaults.
func (d *Domain) SetDefaults() { *d = defaultDomain() }

// Key returns the name.
func (d *Domain) Key() string { return d.Name }

// readLegacy converts the fields of version 0.9.0.
func (d *Domain) readLegacy(fields map[string]any) error {
	unsigned, _ := fields["unsigned"].(json.RawMessage)
	if delete(fields, "unsigned"); string(unsigned) == "true" {
		fields["dnssec_enabled"] = json.RawMessage("false")
	}
	return nil
}

// writeLegacy adds the fields that version 0.9.0 needs.
func (d *Domain) writeLegacy(fields map[string]any) {
	fields["routing_policy"], fields["enabled"] = d.RoutingAlgorithm, d.Enabled
	if d.Unsigned() {
		fields["unsigned"] = true
	}
}

// AnswersNames reports whether the answers are CNAME records.
func (d *Domain) AnswersNames() bool { return d.Answer == AnswerCNAME }

// Unsigned reports whether the domain is unsigned on a node that signs.
func (d *Domain) Unsigned() bool { return d.DNSSECEnabled != nil && !*d.DNSSECEnabled }

// SameAnswers reports whether two domains have equal settings, except for the name and for the fields without effect on
// answers: brake, recovery, flap, description, tags and Meta. It neither allocates nor uses reflection, since there may
// be 100 000 domains.
func (d *Domain) SameAnswers(other *Domain) bool {
	return d.RoutingAlgorithm == other.RoutingAlgorithm && d.TTL == other.TTL && d.MaxAnswers == other.MaxAnswers &&
		d.OnAllDown == other.OnAllDown && d.Geofence == other.Geofence && d.MinHealthy == other.MinHealthy &&
		d.Unsigned() == other.Unsigned() &&
		d.FailoverThreshold == other.FailoverThreshold && d.FallbackAlgorithm == other.FallbackAlgorithm &&
		d.LatencyConfig == other.LatencyConfig && d.Proximity == other.Proximity && d.ClientHash == other.ClientHash &&
		d.Failback == other.Failback && d.Answer == other.Answer && d.Enabled == other.Enabled &&
		slices.Equal(d.Regions, other.Regions) &&
		slices.Equal(d.SRV, other.SRV) && d.HTTPS.Equal(&other.HTTPS)
}

// HTTPS holds the parameters of a domain's HTTPS records (RFC 9460). Their address hints are the serving backends.
type HTTPS struct {
	// The protocols that all backends of the domain support in addition to HTTP/1.1, such as `h2` and `h3`. They enable
	// [HTTPS records](dns.md#https-records). Default: none. With HTTPS records, `max_answers` is at most 16.
	ALPN []string `key:"alpn" json:"alpn,omitempty"`
	// The port of all backends; 0: 443.
	Port int `key:"port" json:"port,omitempty" min:"0" max:"65535"`
	// The ECHConfigList of the backends in base64, for Encrypted Client Hello.
	ECH string `key:"ech" json:"ech,omitempty"`
}

// Equal reports whether both have the same parameters.
func (h *HTTPS) Equal(other *HTTPS) bool {
	return h.Port == other.Port && h.ECH == other.ECH && slices.Equal(h.ALPN, other.ALPN)
}

// IsZero reports whether there are no parameters, and therefore no HTTPS records.
func (h HTTPS) IsZero() bool { return len(h.ALPN) == 0 && h.Port == 0 && h.ECH == "" }

// Proximity configures routing by distance.
type Proximity struct {
	// proximity: regions that are at most this many kilometers farther away than the nearest region share its clients.
	ToleranceKm float64 `key:"tolerance_km" json:"proximity_tolerance_km" usage:"proximity: extra kilometers within which a farther region also receives clients" default:"100" min:"0" max:"20038" unit:"kilometers"`
}

// ClientHash configures client-hash: the number of leading address bits that identify a client network.
type ClientHash struct {
	// client-hash: the number of leading bits of an IPv4 address that identify a client network.
	IPv4Prefix int `key:"ipv4_prefix" json:"client_hash_ipv4_prefix" usage:"client-hash: IPv4 address bits that identify a client network" default:"24" min:"8" max:"32"`
	// client-hash: the number of leading bits of an IPv6 address that identify a client network.
	IPv6Prefix int `key:"ipv6_prefix" json:"client_hash_ipv6_prefix" usage:"client-hash: IPv6 address bits that identify a client network" default:"56" min:"16" max:"64"`
}

// LatencyConfig configures routing by latency.
type LatencyConfig struct {
	// latency: the weight of the latest measurement, above 0 and up to 1.
	SmoothingFactor float64 `key:"smoothing_factor" json:"smoothing_factor" usage:"latency: weight of the latest measurement" default:"0.3"`
	// latency: backends with a higher latency are excluded.
	MaxLatencyMs int `key:"max_latency_ms" json:"max_latency_ms" usage:"latency: backends above this latency are excluded" default:"500" min:"1" max:"60000"`
	// latency: the number of measurements before the latency of a backend is used.
	MinSamples int `key:"min_samples" json:"min_samples" usage:"latency: measurements before a latency is used" default:"3" min:"1" max:"1000"`
	// latency: a backend that is slower than the fastest backend by at most a tenth and this time is used as well. Small
	// differences inside a network therefore move no clients.
	ToleranceMs int `key:"tolerance_ms" json:"tolerance_ms" usage:"latency: extra ms within which a slower backend is also used" default:"5" min:"0" max:"60000"`
}

// Recovery configures the return of a backend after a failure.
type Recovery struct {
	// The time in which the share of a backend rises from 10 % to 100 % after it was down: 0s to 24h. Shares are relative
	// inside a region, so the ramp has no effect if all backends of the region return together. 0s: full share
	// immediately.
	Ramp settings.Duration `key:"ramp" json:"ramp,omitempty" usage:"time in which the share of a recovered backend rises to 100 %" min:"0s" max:"24h"`
}

// Flap configures the damping of flapping backends. A backend flaps if it stopped serving three times within
// `overwatch.flapping.window`.
type Flap struct {
	// The time until a flapping backend serves again. Each further stop doubles the delay. 0s: no damping.
	Delay settings.Duration `key:"delay" json:"delay,omitempty" usage:"time until a flapping backend serves again, doubled by each further failure" min:"0s" max:"24h"`
	// The longest delay. 0s: 16 times `delay`.
	MaxDelay settings.Duration `key:"max_delay" json:"max_delay,omitempty" usage:"longest delay of a flapping backend (default: 16 times the delay)" min:"0s" max:"24h"`
}

// MassFailure has a domain's settings of the mass-failure protection, the key `brake`. An unset field has the value of
// the node's `overwatch.brake`.
type MassFailure struct {
	// Overrides `overwatch.brake.enabled` for this domain.
	Enabled *bool `key:"enabled" json:"enabled,omitempty" usage:"mass-failure protection: false disables it"`
	// Overrides `overwatch.brake.share` for this domain.
	Share string `key:"share" json:"share,omitempty" usage:"mass-failure protection: share of failing backends that starts a hold"`
	// Overrides `overwatch.brake.window` for this domain.
	Window settings.Duration `key:"window" json:"window,omitempty" usage:"mass-failure protection: time in which failures are counted" min:"1s" max:"1h" zero:"unset"`
	// Overrides `overwatch.brake.hold` for this domain.
	Hold settings.Duration `key:"hold" json:"hold,omitempty" usage:"mass-failure protection: maximum time of a hold" min:"1s" max:"24h" zero:"unset"`
}
