package config

import (
	"iter"
	"net/netip"
	"slices"
	"unique"

	"gslb.internal/shared/check"
)

// StaticServer is a declared backend of a service.
type StaticServer struct {
	Service string
	Region  string
	Address netip.Addr // the zero Addr if Target is set
	Port    uint16
	Weight  int
	Agent   string // id of the agent that owns it; "" without an agent
	Check   unique.Handle[check.Spec]
	Target  *Target // nil if the server has an Address
	Made    bool    // the API has created the server
}

// Target is a host name. Each of its addresses is a backend.
type Target struct {
	Name    string         // canonical
	Allowed []netip.Prefix // networks of allowed addresses; empty: unlimited
}

// StaticServers yields the declared backends. A server without a service is a backend of every domain that lists its
// region, unless another server with the same address and port has the domain as its service.
func (c *Config) StaticServers() iter.Seq[StaticServer] {
	return func(yield func(StaticServer) bool) {
		shared := false
		for i := range c.Regions {
			r := c.checked(&c.Regions[i])
			for k := range r.Servers {
				s := &r.Servers[k]
				if s.Service == "" {
					shared = true
				} else if !yield(r.static(s, s.Service)) {
					return
				}
			}
		}
		if shared && !c.sharedServers(yield) {
			return
		}
		for i := range c.made {
			if !yield(c.made[i]) {
				return
			}
		}
	}
}

// WithMade returns the configuration with the servers with host names that were created with the API. It shares the
// memory of both.
func (c *Config) WithMade(servers []StaticServer) *Config {
	with := *c
	with.made = servers
	return &with
}

// HasTargets reports whether a server of the files has a target.
func (c *Config) HasTargets() bool {
	for i := range c.Regions {
		if slices.ContainsFunc(c.Regions[i].Servers, func(s Server) bool { return s.Target != "" }) {
			return true
		}
	}
	return false
}

// CountServers returns the number of servers in all regions.
func (c *Config) CountServers() (count int) {
	for i := range c.Regions {
		count += len(c.Regions[i].Servers)
	}
	return count
}

// sharedServers yields the servers without a service, once for each domain of their region. It returns false if yield
// returned false.
func (c *Config) sharedServers(yield func(StaticServer) bool) (more bool) {
	named := map[serverKey]bool{}
	byRegion := map[string]checkedRegion{}
	for i := range c.Regions {
		r := c.checked(&c.Regions[i])
		byRegion[r.Name] = r
		for k := range r.Servers {
			if s := &r.Servers[k]; s.Service != "" {
				named[serverKey{s.Service, netip.AddrPortFrom(s.Address, s.Port)}] = true
			}
		}
	}
	for d := range c.AllDomains {
		for _, region := range d.Regions {
			r := byRegion[region]
			for k := range r.Servers {
				s := &r.Servers[k]
				if s.Service != "" || s.Target == "" && named[serverKey{d.Name, netip.AddrPortFrom(s.Address, s.Port)}] {
					continue
				}
				if !yield(r.static(s, d.Name)) {
					return false
				}
			}
		}
	}
	return true
}

// checkedRegion is a region with the check of its servers that have no own check.
type checkedRegion struct {
	*Region
	config *Config
	check  unique.Handle[check.Spec]
}

func (c *Config) checked(r *Region) checkedRegion {
	return checkedRegion{r, c, unique.Make(c.checkOf(r, &Server{}))}
}

func (r checkedRegion) static(s *Server, service string) StaticServer {
	own := r.check
	if s.HealthCheck != nil || s.Host != "" {
		own = unique.Make(r.config.checkOf(r.Region, s))
	}
	static := StaticServer{Service: service, Region: r.Name, Address: s.Address, Port: s.Port, Weight: s.Weight,
		Agent: s.Agent, Check: own}
	if s.Target != "" {
		static.Target = &Target{s.Target, s.AllowedCIDRs}
		return static
	}
	r.config.layOver(&static)
	return static
}

// checkOf returns the check of a server: its own health_check, or else the health_check of its region, or else a tcp
// connection at the node's interval.
func (c *Config) checkOf(r *Region, s *Server) check.Spec {
	if r.HealthCheck != nil {
		return s.Check(r.HealthCheck.Spec())
	}
	return s.Check(plainCheck())
}

// CheckIn returns the check of a server without its own check in a region. The region may be unknown. A check without
// times and thresholds uses the values of overwatch.validation.
func (c *Config) CheckIn(region string) check.Spec {
	for i := range c.Regions {
		if r := &c.Regions[i]; r.Name == region && r.HealthCheck != nil {
			return r.HealthCheck.Spec()
		}
	}
	return plainCheck()
}

// plainCheck returns a tcp check without times and thresholds, so that it uses the current values of
// overwatch.validation.
func plainCheck() check.Spec { return check.Spec{Type: check.TCP} }

// foldRegions merges the parts of regions in several files.
func (c *Config) foldRegions() {
	first := make(map[string]int, len(c.Regions))
	kept := c.Regions[:0]
	for _, r := range c.Regions {
		if at, again := first[r.Name]; again {
			kept[at].Servers = append(kept[at].Servers, r.Servers...)
			continue
		}
		first[r.Name] = len(kept)
		kept = append(kept, r)
	}
	c.Regions = kept
}
