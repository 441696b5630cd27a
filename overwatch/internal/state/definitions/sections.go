package definitions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

// The sections of settings with overlays, and the preferences, which exist only in the API.
const (
	DNS         = "dns"
	HealthCheck = "health-check"
	Logging     = "logging"
	Gossip      = "gossip"
	Preferences = "preferences"
)

// section is a group of settings with a common path in the API.
type section struct {
	view  func(*config.Config) any  // returns a pointer to a new value of a type of package api
	put   func(*config.Config, any) // sets the changeable settings; the second argument is a result of view
	fixed map[string]string         // read-only settings, with the reason
}

const byFile = "only the configuration file changes it: a wrong value would keep the node from starting, and so the " +
	"API from taking it back"

var sections = map[string]section{
	DNS: {
		view: func(c *config.Config) any { return viewDNS(c) },
		put:  func(c *config.Config, v any) { putDNS(c, v.(*api.DNSConfig)) },
		fixed: map[string]string{
			"listen_address": byFile, "enable_tcp": "DNS is always answered over TCP (RFC 7766)",
			"enable_udp": "DNS is always answered over UDP",
		},
	},
	HealthCheck: {
		view: func(c *config.Config) any { return viewHealthCheck(c) },
		put: func(c *config.Config, v any) {
			w, to := v.(*api.HealthCheckConfig), &c.Overwatch.Validation
			to.Enabled, to.MaxConcurrentChecks = w.ValidationEnabled, w.MaxConcurrentChecks
			to.CheckInterval, to.CheckTimeout = seconds(w.DefaultIntervalSeconds), seconds(w.DefaultTimeoutSeconds)
			to.FailureThreshold, to.SuccessThreshold = w.UnhealthyThreshold, w.HealthyThreshold
		},
		fixed: map[string]string{
			"default_protocol":      "a server without a check of its own is checked by a connection",
			"http_follow_redirects": "redirects to the same backend are always followed",
		},
	},
	Logging: {
		view: func(c *config.Config) any {
			return &api.LoggingConfig{Level: c.Logging.Level, Format: c.Logging.Format}
		},
		put: func(c *config.Config, v any) {
			w := v.(*api.LoggingConfig)
			c.Logging.Level, c.Logging.Format = w.Level, w.Format
		},
	},
	Gossip: {
		view: func(c *config.Config) any { return viewGossip(c) },
		put: func(c *config.Config, v any) {
			w, g := v.(*api.GossipConfig), &c.Overwatch.Gossip
			g.GossipInterval, g.ProbeInterval = milliseconds(w.GossipIntervalMS), milliseconds(w.ProbeIntervalMS)
			g.ProbeTimeout, g.Seeds, g.ClusterName = milliseconds(w.ProbeTimeoutMS), w.Seeds, w.ClusterName
		},
		fixed: map[string]string{
			"enabled": "a node gossips always", "bind_address": byFile, "bind_port": byFile,
			"encryption_enabled": "gossip is always encrypted",
		},
	},
}

func viewDNS(c *config.Config) *api.DNSConfig {
	v := &api.DNSConfig{
		ListenAddress: append([]string{}, c.DNS.ListenAddress...), EnableTCP: true, EnableUDP: true,
		MaxUDPSize: c.DNS.MaxUDPSize, DefaultTTL: c.DNS.DefaultTTL, MinTTL: c.DNS.MinTTL, MaxTTL: c.DNS.MaxTTL,
		NegativeTTL:      c.DNS.Negative(),
		RateLimitEnabled: c.DNS.RateLimit.ResponsesPerSecond > 0, RateLimitQPS: c.DNS.RateLimit.ResponsesPerSecond,
		ReturnLastHealthy: c.DNS.ReturnLastHealthy, Zones: []string{},
	}
	for _, z := range c.DNS.Zones {
		v.Zones = append(v.Zones, z.Name)
	}
	return v
}

func putDNS(c *config.Config, w *api.DNSConfig) {
	if w.NegativeTTL != c.DNS.Negative() { // otherwise it still follows default_ttl
		c.DNS.NegativeTTL = &w.NegativeTTL
	}
	c.DNS.DefaultTTL, c.DNS.MinTTL, c.DNS.MaxTTL = w.DefaultTTL, w.MinTTL, w.MaxTTL
	c.DNS.MaxUDPSize, c.DNS.ReturnLastHealthy = w.MaxUDPSize, w.ReturnLastHealthy
	c.DNS.RateLimit.ResponsesPerSecond = w.RateLimitQPS
	if !w.RateLimitEnabled {
		c.DNS.RateLimit.ResponsesPerSecond = 0
	}
	zones := make([]config.Zone, 0, len(w.Zones))
	for _, name := range w.Zones {
		if canonical, remedy := settings.ParseName(name); remedy == "" {
			name = canonical
		}
		at := slices.IndexFunc(c.DNS.Zones, func(z config.Zone) bool { return z.Name == name })
		if at < 0 {
			zones = append(zones, config.Zone{Name: name})
			continue
		}
		zones = append(zones, c.DNS.Zones[at])
	}
	c.DNS.Zones = zones
}

func viewHealthCheck(c *config.Config) *api.HealthCheckConfig {
	v := c.Overwatch.Validation
	return &api.HealthCheckConfig{
		ValidationEnabled: v.Enabled, DefaultIntervalSeconds: v.CheckInterval.Seconds(),
		DefaultTimeoutSeconds: v.CheckTimeout.Seconds(),
		HealthyThreshold:      v.SuccessThreshold, UnhealthyThreshold: v.FailureThreshold,
		MaxConcurrentChecks: v.MaxConcurrentChecks, DefaultProtocol: string(check.TCP), HTTPFollowRedirects: true,
	}
}

func viewGossip(c *config.Config) *api.GossipConfig {
	g := c.Overwatch.Gossip
	bind, _ := settings.ParseListener(g.BindAddress) // checked by package config
	if !bind.Addr.IsValid() {                        // ":7946": all addresses
		bind.Addr = netip.IPv6Unspecified()
	}
	return &api.GossipConfig{
		Enabled: true, BindAddress: bind.Addr.String(), BindPort: int(bind.Port), EncryptionEnabled: true,
		GossipIntervalMS: int(g.GossipInterval.Milliseconds()), ProbeIntervalMS: int(g.ProbeInterval.Milliseconds()),
		ProbeTimeoutMS: int(g.ProbeTimeout.Milliseconds()), Seeds: append([]string{}, g.Seeds...),
		ClusterName: g.ClusterName,
	}
}

// seconds converts seconds to a duration. For more than 31 years it returns the maximum duration, which is invalid.
func seconds(s float64) time.Duration {
	const most = 1e9 // 31 years
	return time.Duration(min(max(s, -most), most) * float64(time.Second))
}

func milliseconds(ms int) time.Duration {
	const most = 1_000_000_000_000
	return time.Duration(min(max(ms, -most), most)) * time.Millisecond
}

// View returns a section of a configuration as a pointer to a type of package api. The caller owns the result.
func View(name string, c *config.Config) any { return sections[name].view(c) }

// Concerns reports whether a configuration key contains settings of a section.
func Concerns(section, key string) bool {
	for known := range keys[section] {
		if strings.HasPrefix(known, key) {
			return true
		}
	}
	return false
}

// Fields returns the names of the settings that an overlay sets, sorted.
func Fields(overlay json.RawMessage) []string {
	var set map[string]json.RawMessage
	if json.Unmarshal(overlay, &set) != nil {
		return []string{}
	}
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// overlayOf returns the settings of wanted that differ from the file, or nil. now is the file with the current overlay;
// wanted is a changed view of now. A read-only setting with another value causes an error with its name.
func overlayOf(name string, file, now *config.Config, present json.RawMessage, wanted any) (json.RawMessage, error) {
	before, err := fieldsOf(View(name, file))
	if err != nil {
		return nil, err
	}
	after, err := fieldsOf(wanted)
	if err != nil {
		return nil, err
	}
	// An unset value may be derived from other settings, so it is also compared with its current value.
	shown, err := fieldsOf(View(name, now))
	if err != nil {
		return nil, err
	}
	own := Fields(present)
	for field := range after {
		why, fixed := sections[name].fixed[field]
		follows := !slices.Contains(own, field) && bytes.Equal(shown[field], after[field])
		if bytes.Equal(before[field], after[field]) || follows {
			delete(after, field)
			continue
		}
		if fixed {
			return nil, settings.Problems{{Key: field,
				Message: fmt.Sprintf("is %s and cannot be %.100s: %s", before[field], after[field], why)}}
		}
	}
	if len(after) == 0 {
		return nil, nil
	}
	return json.Marshal(after)
}

func fieldsOf(view any) (fields map[string]json.RawMessage, err error) {
	encoded, err := json.Marshal(view)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(encoded, &fields)
	return fields, err
}

// Sections lists the sections with overlays.
func Sections() []string { return []string{DNS, HealthCheck, Logging, Gossip} }

// Only returns a Set that contains only the settings of a section.
func (s *Set) Only(section string) *Set {
	only := &Set{Settings: map[string]json.RawMessage{}}
	if overlay := s.Settings[section]; overlay != nil {
		only.Settings[section] = overlay
	}
	return only
}

// Over returns the configuration of a file with the API's settings and overlays applied. It does not change the file's
// configuration.
func (s *Set) Over(file *config.Config) (*config.Config, error) {
	changed := *file
	for _, name := range Sections() {
		if err := s.lay(name, &changed); err != nil {
			return nil, err
		}
	}
	return s.layObjects(&changed)
}

func (s *Set) lay(name string, c *config.Config) error {
	overlay := s.Settings[name]
	if overlay == nil {
		return nil
	}
	view := View(name, c)
	decoder := json.NewDecoder(bytes.NewReader(overlay))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(view); err != nil {
		return fmt.Errorf("the stored settings of %s: %w", name, err)
	}
	sections[name].put(c, view)
	return nil
}

// outOfRange returns the faults of numbers in an overlay that would overflow the type of their settings.
func outOfRange(name string, overlay json.RawMessage, over *config.Config) (found settings.Problems) {
	var wanted map[string]json.RawMessage
	if overlay == nil {
		return nil
	}
	shown, err := fieldsOf(View(name, over))
	if err = errors.Join(err, json.Unmarshal(overlay, &wanted)); err != nil {
		return settings.Problems{{Message: err.Error()}}
	}
	for field, value := range wanted {
		if intervals[field] && !bytes.Equal(value, shown[field]) {
			found = append(found, settings.Problem{Key: field, Value: string(value), Message: "is out of range"})
		}
	}
	return found
}

// withoutRate returns the fault of a request that enables the rate limit without a rate.
func withoutRate(before, after *config.Config, wanted any) settings.Problems {
	w, is := wanted.(*api.DNSConfig)
	if !is || !w.RateLimitEnabled ||
		before.DNS.RateLimit.ResponsesPerSecond+after.DNS.RateLimit.ResponsesPerSecond > 0 {
		return nil
	}
	return settings.Problems{{Key: "rate_limit_enabled", Value: "true",
		Message: "needs rate_limit_qps, which is 0: give the answers per second too"}}
}

// intervals contains the settings that are durations written as numbers.
var intervals = map[string]bool{
	"default_interval_seconds": true, "default_timeout_seconds": true, "gossip_interval_ms": true,
	"probe_interval_ms": true, "probe_timeout_ms": true,
}

// Check returns the faults of a section's settings in a configuration with the overlay applied. The problems use the
// API's names of settings.
func Check(name string, c *config.Config) settings.Problems {
	var found settings.Problems
	for _, p := range c.CheckSettings() {
		if field, ours := fieldOf(name, p.Key); ours {
			found = append(found, settings.Problem{Key: field, Value: p.Value, Message: p.Message})
		}
	}
	return found
}

// keys maps configuration keys to the API's names, by section.
var keys = map[string]map[string]string{
	DNS: {
		"dns.default_ttl": "default_ttl", "dns.min_ttl": "min_ttl", "dns.max_ttl": "max_ttl",
		"dns.negative_ttl": "negative_ttl", "dns.max_udp_size": "max_udp_size",
		"dns.rate_limit.responses_per_second": "rate_limit_qps", "dns.zones": "zones",
	},
	HealthCheck: {
		"overwatch.validation.enabled":               "validation_enabled",
		"overwatch.validation.check_interval":        "default_interval_seconds",
		"overwatch.validation.check_timeout":         "default_timeout_seconds",
		"overwatch.validation.success_threshold":     "healthy_threshold",
		"overwatch.validation.failure_threshold":     "unhealthy_threshold",
		"overwatch.validation.max_concurrent_checks": "max_concurrent_checks",
	},
	Logging: {"logging.level": "level", "logging.format": "format"},
	Gossip: {
		"overwatch.gossip.probe_interval": "probe_interval_ms", "overwatch.gossip.probe_timeout": "probe_timeout_ms",
		"overwatch.gossip.gossip_interval": "gossip_interval_ms", "overwatch.gossip.seeds": "seeds",
		"overwatch.gossip.cluster_name": "cluster_name",
	},
}

func fieldOf(section, key string) (field string, ours bool) {
	for prefix, field := range keys[section] {
		if rest, found := strings.CutPrefix(key, prefix); found && (rest == "" || rest[0] == '[' || rest[0] == '.') {
			return field + strings.TrimSuffix(rest, ".name"), true
		}
	}
	return "", false
}

// IsShared reports whether all nodes share the settings of a section.
func IsShared(section string) bool { return slices.Contains(store.SharedSettings(), section) }
