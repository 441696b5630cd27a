package config

import (
	"fmt"
	"time"
	"unique"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// ServerOverlay holds values that the API has laid over a server of the configuration; a nil field leaves the file's
// value.
type ServerOverlay struct {
	Weight *int
	Region *string
	Agent  *string
	Check  *api.HealthCheckChange // ChangeCheck takes it
}

// Overlays holds all values that the API has laid over objects of the files. It must not be changed.
type Overlays struct {
	Names    map[string]bool          // of all objects, as package definitions names them
	Disabled []Domain                 // apart from those that are answered
	Servers  map[string]ServerOverlay // by the id, service:address:port

	file *Config // without overlays
}

// WithOverlays returns the configuration with overlays of servers, and domains in the place of those of the files. It
// shares the memory of all.
func (c *Config) WithOverlays(domains []Domain, o Overlays) *Config {
	with := *c
	o.file = c.File()
	with.Domains, with.overlays, with.brakes = domains, &o, brakesOf(nil, domains)
	return &with
}

// File returns the configuration without values that the API has laid over domains, regions and servers. It must not be
// changed.
func (c *Config) File() *Config {
	if c.overlays == nil {
		return c
	}
	return c.overlays.file
}

// Disabled returns the disabled domains of the files. It must not be changed.
func (c *Config) Disabled() []Domain {
	if c.overlays == nil {
		return c.disabled
	}
	return c.overlays.Disabled
}

// Disabled reports whether the API has disabled the region: no client is placed in it, and no domain lists it. Its
// servers stay those of the names that they are declared for.
func (r *Region) Disabled() bool { return r.disabled }

// Disable makes Disabled true.
func (r *Region) Disable() { r.disabled = true }

// Declared returns a server by its id, as the files have it.
func (c *Config) Declared(id string) (found StaticServer, ok bool) {
	bare := *c
	bare.overlays = nil
	for s := range bare.StaticServers() {
		if s.ID() == id {
			return s, true
		}
	}
	return found, false
}

// Laid reports whether the API has laid values over an object, named as in package definitions.
func (c *Config) Laid(name string) bool { return c.overlays != nil && c.overlays.Names[name] }

// ID returns the id of the server in the API.
func (s *StaticServer) ID() string { return fmt.Sprintf("%s:%s:%d", s.Service, s.Address, s.Port) }

// layOver changes a server by the values that the API has laid over it.
func (c *Config) layOver(s *StaticServer) {
	if c.overlays == nil || len(c.overlays.Servers) == 0 {
		return
	}
	o, is := c.overlays.Servers[s.ID()]
	if !is {
		return
	}
	put(&s.Weight, o.Weight)
	put(&s.Region, o.Region)
	put(&s.Agent, o.Agent)
	if o.Check != nil {
		if spec, err := ChangeCheck(s.Check.Value(), o.Check, &c.Overwatch.Validation); err == nil {
			s.Check = unique.Make(spec)
		}
	}
}

// ChangeCheck returns a check with the fields that o sets. If o sets only one of interval and timeout and the check has
// neither, the other becomes the node's. A time that cannot be read is an error; the values are not judged otherwise.
func ChangeCheck(spec check.Spec, o *api.HealthCheckChange, node *Validation) (check.Spec, error) {
	if o.Enabled != nil {
		spec.Off = !*o.Enabled
	}
	put(&spec.Type, (*check.Type)(o.Type))
	put(&spec.Path, o.Path)
	put(&spec.SuccessThreshold, o.HealthyThreshold)
	put(&spec.FailureThreshold, o.UnhealthyThreshold)
	if o.ExpectedStatus != nil {
		detail := spec.Detail.Detail()
		detail.ExpectedStatus = *o.ExpectedStatus
		spec.Detail = detail.Details()
	}
	if o.Interval == nil && o.Timeout == nil {
		return spec, nil
	}
	if spec.Interval == 0 {
		spec.Interval, spec.Timeout = node.CheckInterval, node.CheckTimeout
	}
	if err := putTime(&spec.Interval, "interval", o.Interval); err != nil {
		return spec, err
	}
	return spec, putTime(&spec.Timeout, "timeout", o.Timeout)
}

// put sets *to to *value; nil leaves it.
func put[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

func putTime(to *time.Duration, field string, text *string) error {
	if text == nil {
		return nil
	}
	d, err := time.ParseDuration(*text)
	if err != nil {
		return fmt.Errorf("%s is %.64q: it must be a duration such as 5s", field, *text)
	}
	*to = d
	return nil
}
