package config

import (
	"fmt"
	"unique"

	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// Overlays contains all overlays (API values over objects of the files). It is immutable.
type Overlays struct {
	Names    map[string]bool                      // names of all objects, in the format of package definitions
	Disabled []Domain                             // only the disabled domains
	Servers  map[string]model.Patch[model.Server] // by the id, service:address:port

	file *Config // without overlays
}

// WithOverlays returns the configuration with overlays of servers, and with domains instead of the domains of the
// files. It shares the memory of all.
func (c *Config) WithOverlays(domains []Domain, o Overlays) *Config {
	with := *c
	o.file = c.File()
	with.Domains, with.overlays, with.tuned = domains, &o, tunedDomains(nil, domains)
	return &with
}

// File returns the configuration without overlays of domains, regions and servers. It is immutable.
func (c *Config) File() *Config {
	if c.overlays == nil {
		return c
	}
	return c.overlays.file
}

// Disabled returns the disabled domains of the files. The list is immutable.
func (c *Config) Disabled() []Domain {
	if c.overlays == nil {
		return c.disabled
	}
	return c.overlays.Disabled
}

// Declared returns the declaration of a server in the files, by its id.
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

// Laid reports whether an object has an overlay. Package definitions defines the names of objects.
func (c *Config) Laid(name string) bool { return c.overlays != nil && c.overlays.Names[name] }

// ID returns the id of the server in the API.
func (s *StaticServer) ID() string { return fmt.Sprintf("%s:%s:%d", s.Service, s.Address, s.Port) }

// layOver applies the values of an overlay to a server.
func (c *Config) layOver(s *StaticServer) {
	if c.overlays == nil || len(c.overlays.Servers) == 0 {
		return
	}
	patch, is := c.overlays.Servers[s.ID()]
	if !is {
		return
	}
	laid := s.Settings()
	if problems := patch.Lay(laid); len(problems) > 0 {
		return // package definitions reports the error
	}
	s.Weight, s.Region, s.Agent = laid.Weight, laid.Region, laid.Agent
	if !patch.Has("health_check") && !patch.Has("host") {
		return
	}
	if laid.HealthCheck == nil {
		laid.HealthCheck = model.HealthCheckOf(s.Check.Value())
	}
	CompleteTimes(laid.HealthCheck, &c.Overwatch.Validation)
	if patch.Has("host") && laid.HealthCheck.Host == s.Check.Value().Host {
		laid.HealthCheck.Host = laid.Host
	}
	s.Check = unique.Make(laid.HealthCheck.Spec())
}

// Settings returns the settings of the server. Its health check is the check in effect.
func (s *StaticServer) Settings() *model.Server {
	made := model.New[model.Server]()
	made.Service, made.Address, made.Port = s.Service, s.Address, s.Port
	made.Weight, made.Region, made.Agent = s.Weight, s.Region, s.Agent
	made.HealthCheck = model.HealthCheckOf(s.Check.Value())
	if s.Target != nil {
		made.Target, made.AllowedCIDRs = s.Target.Name, s.Target.Allowed
	}
	return made
}

// CompleteTimes sets the missing time of a check with either an interval or a timeout. The missing time is the value of
// the node.
func CompleteTimes(h *model.HealthCheck, node *Validation) {
	switch {
	case h.Interval == 0 && h.Timeout != 0:
		h.Interval = settings.Duration(node.CheckInterval)
	case h.Interval != 0 && h.Timeout == 0:
		h.Timeout = settings.Duration(node.CheckTimeout)
	}
}
