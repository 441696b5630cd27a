package config

import "fmt"

// srvPorts contains the servers of domains with srv. All servers of such a domain need the same port.
type srvPorts struct {
	byRegion map[string][]int32    // by region: domains that use its servers without a service
	first    map[int32]serverPlace // by domain: the first server
}

// srvPorts lists the domains with srv by region, or returns nil if there are none. onePort adds the servers.
func (v *validator) srvPorts() *srvPorts {
	var p *srvPorts
	for i := range v.config.Domains {
		d := &v.config.Domains[i]
		if len(d.SRV) == 0 {
			continue
		}
		if p == nil {
			p = &srvPorts{map[string][]int32{}, map[int32]serverPlace{}}
		}
		for _, region := range d.Regions {
			p.byRegion[region] = append(p.byRegion[region], int32(i))
		}
	}
	return p
}

// onePort checks that a server has the same port as the other servers of its domain with srv. The target of an SRV
// record is the name of the domain, so clients use the port at each of its addresses.
func (v *validator) onePort(p *srvPorts, at serverPlace, s *Server, domain int32) {
	if p == nil {
		return
	}
	domains := p.byRegion[v.config.Regions[at.region].Name]
	if s.Service != "" {
		domains = []int32{domain}
	}
	for _, i := range domains {
		if i == noDomain || len(v.config.Domains[i].SRV) == 0 {
			continue
		}
		first, there := p.first[i]
		if !there {
			p.first[i] = at
			continue
		}
		if port := v.config.Regions[first.region].Servers[first.server].Port; port != s.Port {
			v.Addf(at.String()+".port", fmt.Sprint(s.Port), "is not %d, that of %s, and all servers of %q listen at one port, "+
				"since it has srv: give them one port, or two domains", port, first, v.config.Domains[i].Name)
		}
	}
}
