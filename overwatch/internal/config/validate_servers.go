package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

const (
	minCheckInterval = check.MinInterval
	minCheckTimeout  = check.MinTimeout
)

// serverKey is what no two servers may share.
type serverKey struct {
	service string
	at      netip.AddrPort
}

// serverPlace is where a server stands: an index into regions and one into its servers.
type serverPlace struct{ region, server int32 }

func (p serverPlace) String() string {
	return fmt.Sprintf("regions[%d].servers[%d]", p.region, p.server)
}

func (v *validator) servers() {
	v.has = make([]bool, len(v.config.Domains))
	seen := make(map[serverKey]serverPlace, v.config.CountServers())
	for i := range v.config.Regions {
		r := &v.config.Regions[i]
		if r.HealthCheck != nil {
			v.regionCheck(fmt.Sprintf("regions[%d].health_check", i), r.HealthCheck)
		}
		for k := range r.Servers {
			at := serverPlace{int32(i), int32(k)}
			s := &r.Servers[k]
			v.server(at, s)
			key := serverKey{s.Service, netip.AddrPortFrom(s.Address, s.Port)}
			if first, again := seen[key]; again && s.Address.IsValid() {
				v.Addf(at.String(), key.at.String(), "is already %s (%s) for the same service: keep one", first, v.Locate(first.String()))
				continue
			}
			seen[key] = at
		}
	}
}

func (v *validator) regionCheck(key string, h *HealthCheck) {
	h.Validate(v.Report, key)
	if h.Address.IsValid() {
		v.Add(key+".address", h.Address.String(), "all servers of the region would be probed at this one address: give it to a server's own health_check")
	}
}

// server checks the keys of one server. It formats no key until one is wrong: there may be 400 000.
func (v *validator) server(at serverPlace, s *Server) {
	if !s.Address.IsValid() {
		v.Add(at.String()+".address", "", "is missing: give the IP address of the server")
	} else if remedy := settings.UnicastRemedy(s.Address); remedy != "" {
		v.Add(at.String()+".address", s.Address.String(), remedy)
	}
	if s.Port == 0 {
		v.Add(at.String()+".port", "", "is missing: give a port from 1 to 65535")
	}
	if s.Weight < api.MinWeight || s.Weight > api.MaxWeight {
		v.between(at.String()+".weight", s.Weight, api.MinWeight, api.MaxWeight)
	}
	if s.Service != "" {
		v.serverService(at, s)
	}
	if s.HealthCheck != nil {
		s.HealthCheck.Validate(v.Report, at.String()+".health_check")
	}
	if s.Host != "" {
		v.serverHost(at, s)
	}
}

// serverService brings the service into canonical form and looks whether it is served.
func (v *validator) serverService(at serverPlace, s *Server) {
	i, served := v.domains[s.Service]
	if !served {
		name, remedy := settings.CanonicalService(s.Service)
		if remedy != "" {
			v.Add(at.String()+".service", s.Service, remedy)
			return
		}
		s.Service = name
		if i, served = v.domains[name]; !served {
			v.warn("%s.service: no domain is called %q: the server is not served until one is", at, name)
			return
		}
	}
	v.has[i] = true
	d := &v.config.Domains[i]
	s.Service = d.Name // one string for both: there may be 400 000 of them
	region := v.config.Regions[at.region].Name
	if len(d.Regions) > 0 && !slices.Contains(d.Regions, region) {
		v.warn("%s.service: the regions of domain %q are %s; %q is not among them", at, d.Name, strings.Join(d.Regions, ", "), region)
	}
}

// serverHost checks the Host header in the check that it is for.
func (v *validator) serverHost(at serverPlace, s *Server) {
	begun := v.regions[v.config.Regions[at.region].Name] // another file may continue the region
	spec := v.config.checkOf(&v.config.Regions[begun], s)
	if spec.Type == check.TCP {
		v.Add(at.String()+".host", s.Host, "is the Host header of http checks, and this server's check is tcp: remove it, or give an http health_check")
		return
	}
	spec.Host = s.Host
	for _, p := range spec.Validate() {
		if p.Field == "host" {
			v.Add(at.String()+".host", s.Host, p.Remedy)
		}
	}
}

// unserved warns of domains that nothing here can ever answer for.
func (v *validator) unserved() {
	open := map[string]bool{} // regions with servers for every domain
	for i := range v.config.Regions {
		r := &v.config.Regions[i]
		for k := range r.Servers {
			if r.Servers[k].Service == "" {
				open[r.Name] = true
				break
			}
		}
	}
	for i := range v.config.Domains {
		d := &v.config.Domains[i]
		if _, token := v.config.Overwatch.AgentTokens[d.Name]; token || v.has[i] {
			continue
		}
		if !slices.ContainsFunc(d.Regions, func(r string) bool { return open[r] }) {
			v.warn("domains[%s].name: %q has no server and no agent token: only the API can give it a backend", strconv.Itoa(i), d.Name)
		}
	}
}
