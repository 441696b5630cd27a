package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

func (v *validator) servers() {
	v.has, v.namedBy = make([]bool, len(v.config.Domains)), v.regionsOfNames()
	known, ports := make(map[serverKey]serverPlace, v.config.CountServers()), v.srvPorts()
	for i := range v.config.Regions {
		r := &v.config.Regions[i]
		if r.HealthCheck != nil {
			v.sharedCheck(fmt.Sprintf("regions[%d].health_check", i), r.HealthCheck, "servers of the region")
		}
		for k := range r.Servers {
			at := serverPlace{int32(i), int32(k)}
			s := &r.Servers[k]
			domain := v.server(at, s)
			v.missingTarget(at, s, domain)
			v.onePort(ports, at, s, domain)
			if !s.Address.IsValid() {
				continue
			}
			key := serverKey{s.Service, netip.AddrPortFrom(s.Address, s.Port)}
			if first, again := known[key]; again {
				v.Addf(at.String(), key.at.String(), "is already %s (%s) for the same service: keep one", first,
					v.Locate(first.String()))
				continue
			}
			known[key] = at
		}
	}
}

// healthCheck checks a block health_check.
func (v *validator) healthCheck(key string, h *HealthCheck) {
	h.Validate(v.Report, key)
	if h.Watch != "" {
		v.Add(key+".watch", h.Watch,
			"an overwatch node watches no sockets: remove the key, or set it for a backend of an agent")
	}
}

// sharedCheck checks a health_check that several backends share.
func (v *validator) sharedCheck(key string, h *HealthCheck, all string) {
	v.healthCheck(key, h)
	if h.Address.IsValid() {
		v.Addf(key+".address", h.Address.String(),
			"all %s would be probed at this one address: give it to a server's own health_check", all)
	}
}

// server validates the keys of a server and returns the index of its domain, or noDomain. It formats keys only for
// faults, because a configuration may have 400,000 servers.
func (v *validator) server(at serverPlace, s *Server) (domain int32) {
	domain = noDomain
	if s.Target != "" || len(s.AllowedCIDRs) > 0 {
		v.target(at, s)
	} else if !s.Address.IsValid() {
		v.Add(at.String()+".address", "", "is missing: give the IP address of the server, or a host name as its target")
	} else if remedy := settings.UnicastRemedy(s.Address); remedy != "" {
		v.Add(at.String()+".address", s.Address.String(), remedy)
	}
	if s.Port == 0 {
		v.Add(at.String()+".port", "", "is missing: give a port from 1 to 65535")
	}
	if s.Service != "" {
		domain = v.serverService(at, s)
	}
	if s.HealthCheck != nil {
		v.healthCheck(at.String()+".health_check", s.HealthCheck)
	}
	if s.Host != "" {
		v.serverHost(at, s)
	}
	if s.Agent != "" {
		if remedy := settings.LabelRemedy(s.Agent, wire.MaxID); remedy != "" {
			v.Add(at.String()+".agent", s.Agent, remedy)
		}
	}
	return domain
}

// serverService converts the service to canonical form and returns the index of its domain, or noDomain.
func (v *validator) serverService(at serverPlace, s *Server) (domain int32) {
	domain, served := v.domains[s.Service]
	if !served {
		name, remedy := settings.ParseService(s.Service)
		if remedy != "" {
			v.Add(at.String()+".service", s.Service, remedy)
			return noDomain
		}
		s.Service = name
		if domain, served = v.domains[name]; !served {
			v.warn("%s.service: no domain is called %q: the server is not served until one is", at, name)
			return noDomain
		}
	}
	v.has[domain] = true
	d := &v.config.Domains[domain]
	s.Service = d.Name // share the string, because there may be 400,000 servers
	region := v.config.Regions[at.region].Name
	if len(d.Regions) > 0 && !slices.Contains(d.Regions, region) {
		v.warn("%s.service: the regions of domain %q are %s; %q is not among them", at, d.Name, strings.Join(d.Regions,
			", "), region)
	}
	return domain
}

// serverHost sets the Host of the server's check and validates it.
func (v *validator) serverHost(at serverPlace, s *Server) {
	begun := v.regions[v.config.Regions[at.region].Name] // another file may contain the beginning of the region
	spec := v.config.checkOf(&v.config.Regions[begun], s)
	if spec.Type == check.TCP {
		v.Add(at.String()+".host", s.Host, "is the Host header of http checks, and this server's check is tcp: remove "+
			"it, or give an http health_check")
		return
	}
	spec.Host = s.Host
	for _, p := range spec.Validate() {
		if p.Field == "host" {
			v.Add(at.String()+".host", s.Host, p.Remedy)
		}
	}
}

// unserved adds a warning for domains without any possible backend.
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
			v.warn("domains[%s].name: %q has no server and no agent token: only the API can give it a backend",
				strconv.Itoa(i), d.Name)
		}
	}
}
