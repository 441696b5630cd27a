package config

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"time"

	"gslb.internal/shared/model"
)

// Brake holds the keys of overwatch.brake, the mass-failure protection: a bound on backends that agent reports remove.
type Brake struct {
	// Whether mass-failure protection is active: the node ignores agent reports that make many backends unhealthy in a
	// short time while its own checks succeed. See [mass-failure protection](#mass-failure-protection).
	Enabled bool `key:"enabled" default:"true"`
	// The maximum share of the serving backends of a name, of a region or of an agent that reports may make unhealthy, 1%
	// to 99%. Above this share, the node ignores the reports. Requires at least three serving backends.
	Share string `key:"share" default:"50%"`
	// The time window for counting backends that become unhealthy.
	Window time.Duration `key:"window" default:"1m" min:"1s" max:"1h"`
	// The time after which the node accepts the ignored reports.
	Hold time.Duration `key:"hold" default:"10m" min:"1s" max:"24h"`
	// Whether the reports of a single agent cannot remove the last serving backends of a region with at least two
	// backends. This hold does not expire.
	KeepRegion bool `key:"keep_region" default:"true"`
}

// BrakeOf returns the mass-failure protection of a name. overwatch.brake has the defaults of its domain.
func (c *Config) BrakeOf(name string) Brake {
	b, d := c.Overwatch.Brake, c.tuned[name]
	if d == nil {
		return b
	}
	own := &d.Brake
	put(&b.Enabled, own.Enabled)
	b.Share = cmp.Or(own.Share, b.Share)
	b.Window, b.Hold = cmp.Or(time.Duration(own.Window), b.Window), cmp.Or(time.Duration(own.Hold), b.Hold)
	return b
}

// Percent returns Share as a number.
func (b Brake) Percent() int {
	n, _ := parsePercent(b.Share) // valid after Load
	return n
}

// parsePercent parses "1%" to "99%".
func parsePercent(text string) (n int, ok bool) {
	number, found := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	return n, found && err == nil && n >= 1 && n <= 99
}

func isPercent(text string) bool {
	_, ok := parsePercent(text)
	return ok
}

// brakes validates the share of overwatch.brake and indexes the domains with their own settings.
func (v *validator) brakes() {
	const key = "overwatch.brake.share"
	if share := v.config.Overwatch.Brake.Share; !isPercent(share) {
		v.Add(key, share, "give a part of the serving backends, from 1% to 99%")
	}
	v.config.tuned = tunedDomains(nil, v.config.Domains)
}

// tunedDomains returns a map with the entries of known and the domains of a list with settings for the status of their
// backends: mass-failure protection or recovery. The entries point into the list.
func tunedDomains(known map[string]*Domain, domains []Domain) map[string]*Domain {
	all := map[string]*Domain{}
	maps.Copy(all, known)
	for i := range domains {
		d := &domains[i]
		if d.Brake != (model.MassFailure{}) || d.Recovery != (model.Recovery{}) || d.Flap != (model.Flap{}) {
			all[d.Name] = d
		}
	}
	return all
}

// FlapOf returns the damping of flapping backends of a domain.
func (c *Config) FlapOf(name string) model.Flap {
	if d := c.tuned[name]; d != nil {
		return d.Flap
	}
	return model.Flap{}
}

// RecoveryRamp returns the time in which the share of a domain's backend rises after a failure, or 0 without a ramp.
func (c *Config) RecoveryRamp(name string) time.Duration {
	if d := c.tuned[name]; d != nil {
		return time.Duration(d.Recovery.Ramp)
	}
	return 0
}

// put sets *to to *value, unless value is nil.
func put[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}
