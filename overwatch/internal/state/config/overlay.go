package config

import "fmt"

// ServerOverlay is what the API has laid over a server that the configuration declares; nil: nothing.
type ServerOverlay struct {
	Weight *int
	Region *string
	Agent  *string
}

// Overlays is what the API has laid over objects of the files. It must not be changed.
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
	with.Domains, with.overlays = domains, &o
	return &with
}

// File returns the configuration without what the API has laid over domains, regions and servers. It must not be
// changed.
func (c *Config) File() *Config {
	if c.overlays == nil {
		return c
	}
	return c.overlays.file
}

// Disabled returns the domains of the files that the API has disabled. It must not be changed.
func (c *Config) Disabled() []Domain {
	if c.overlays == nil {
		return nil
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

// Laid reports whether something is laid over the object of a name, as package definitions names it.
func (c *Config) Laid(name string) bool { return c.overlays != nil && c.overlays.Names[name] }

// ID returns the id of the server in the API.
func (s *StaticServer) ID() string { return fmt.Sprintf("%s:%s:%d", s.Service, s.Address, s.Port) }

// layOver lays over a server what the API has laid over it.
func (c *Config) layOver(s *StaticServer) {
	if c.overlays == nil || len(c.overlays.Servers) == 0 {
		return
	}
	o, is := c.overlays.Servers[s.ID()]
	if !is {
		return
	}
	if o.Weight != nil {
		s.Weight = *o.Weight
	}
	if o.Region != nil {
		s.Region = *o.Region
	}
	if o.Agent != nil {
		s.Agent = *o.Agent
	}
}
