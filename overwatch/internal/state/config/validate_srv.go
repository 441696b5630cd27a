package config

import (
	"fmt"
	"slices"
	"strings"

	"gslb.internal/shared/settings"
)

const maxSRV = 8 // services of a domain

func (d *Domain) srvProblems() (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case len(d.SRV) > maxSRV:
		add("srv", fmt.Sprint(len(d.SRV)), "give at most %d services", maxSRV)
	case d.AnswersNames():
		add("srv", fmt.Sprint(d.SRV), "stands beside answer: cname, and the target of an SRV record is no alias (RFC 2782): "+
			"remove one of the two")
	case strings.HasPrefix(d.Name, "*"):
		add("srv", fmt.Sprint(d.SRV), "the target of an SRV record is one name, and %s stands for many: give srv to a "+
			"domain without an asterisk", d.Name)
	}
	for at, service := range d.SRV {
		same := func(other string) bool { return strings.EqualFold(service, other) }
		if key := fmt.Sprintf("srv[%d]", at); !isSRV(service) {
			add(key, service, "give a service and its protocol, each behind an underscore, such as _sip._tcp (RFC 2782): "+
				"letters, digits and hyphens, 62 at most")
		} else if slices.ContainsFunc(d.SRV[:at], same) {
			add(key, service, "is in this list already: keep one")
		}
	}
	return found
}

func isSRV(text string) bool {
	labels := strings.Split(strings.ToLower(text), ".")
	return len(labels) == 2 && !slices.ContainsFunc(labels, func(label string) bool {
		name, ok := strings.CutPrefix(label, "_")
		return !ok || name == "" || len(name) > 62 || name[0] == '-' || name[len(name)-1] == '-' ||
			strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != ""
	})
}

// srvPorts holds, for domains with srv, the servers whose ports must agree.
type srvPorts struct {
	byRegion map[string][]int32    // the domains whose servers without a service are those of the region
	first    map[int32]serverPlace // by domain: the first server
}

// srvPorts lists the domains with srv by region, nil if there are none; onePort adds the servers.
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

// onePort checks that a server has the same port as the other servers of its domain with srv: the target of an SRV
// record is the domain's name, and clients use the record's port at each of its addresses.
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
