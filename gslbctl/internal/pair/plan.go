package pair

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Plan describes the deployment to configure.
type Plan struct {
	Zone     string // zone that the parent delegates to the nodes
	Region   string // region of the nodes and of the agent's backends
	Nodes    []Node
	Services []Service
	Check    string // health check: tcp, http:/path or https:/path
	DataDir  string // parent of all data directories; empty: the programs' defaults
	Local    bool   // all nodes run on this machine
	// Listeners: one for all nodes, or one for each node in order; empty: the defaults.
	DNS, Gossip, API, Metrics []string
}

// Service is a name in the zone and its backends.
type Service struct {
	Name     string
	Backends []netip.AddrPort
}

// Defaults of a plan.
const (
	DefaultRegion = "main"
	DefaultCheck  = "tcp"
)

// ParseService parses "<name>=<ip>:<port>[,<ip>:<port>...]".
func ParseService(text string) (Service, error) {
	name, list, found := strings.Cut(text, "=")
	if !found || name == "" || list == "" {
		return Service{}, fmt.Errorf("--service is %q: it must be name=ip:port, such as app=192.0.2.10:8080", text)
	}
	s := Service{Name: name}
	for _, backend := range strings.Split(list, ",") {
		at, err := netip.ParseAddrPort(backend)
		if err != nil || at.Port() == 0 || !isMachine(at.Addr()) {
			return Service{},
				fmt.Errorf("--service is %q: %q is no backend; it must be ip:port, such as 192.0.2.10:8080 or "+
					"[2001:db8::1]:443",
					text, backend)
		}
		s.Backends = append(s.Backends, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	}
	return s, nil
}

// The forms of names (RFC 1035 section 2.3.1, with underscores) and regions.
var (
	labelForm  = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	regionForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	pathForm   = regexp.MustCompile(`^/[!-~]*$`)
)

// maxName is the length of the longest DNS name as text (RFC 1035 section 2.3.4).
const maxName = 253

// Complete validates the plan and sets defaults. It merges services with the same name, and writes no file.
func (p Plan) Complete() (Plan, error) {
	p.Zone = plain(p.Zone)
	if err := checkName(p.Zone); err != nil {
		return p, fmt.Errorf("--zone is %q: %w", p.Zone, err)
	}
	if !regionForm.MatchString(p.Region) {
		return p, fmt.Errorf("--region is %q: letters, digits, hyphens, underscores and dots, at most 64", p.Region)
	}
	if _, _, err := p.check(); err != nil {
		return p, err
	}
	if err := p.completeNodes(); err != nil {
		return p, err
	}
	var err error
	if p.Services, err = inZone(p.Services, p.Zone); err != nil {
		return p, err
	}
	if err := p.checkBackends(); err != nil {
		return p, err
	}
	for _, n := range p.Nodes {
		if slices.ContainsFunc(p.Services, func(s Service) bool { return s.Name == n.Name+"."+p.Zone }) {
			return p,
				fmt.Errorf("--service %s and --node %s have the same name in the zone: give the node another one, "+
					"such as ns1",
					n.Name, n.Name)
		}
	}
	return p, nil
}

func plain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a DNS name such as gslb.example.com, of at most %d characters, is needed", maxName)
	}
	for _, label := range strings.Split(name, ".") {
		if !labelForm.MatchString(label) {
			return fmt.Errorf("%q cannot be a part of a DNS name: letters, digits and hyphens, at most 63", label)
		}
	}
	return nil
}

// maxBackends bounds the backends of an agent.
const maxBackends = 64

// inZone appends the zone to names outside the zone.
func inZone(services []Service, zone string) ([]Service, error) {
	if len(services) == 0 {
		return nil, errors.New("--service is missing: name=ip:port, such as app=192.0.2.10:8080")
	}
	var list []Service
	count := 0
	for _, s := range services {
		name := plain(s.Name)
		if name != zone && !strings.HasSuffix(name, "."+zone) {
			if strings.Contains(name, ".") {
				return nil, fmt.Errorf("--service %s is not in the zone %s: give a name in it, or the part before it",
					s.Name, zone)
			}
			name += "." + zone
		}
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("--service %s: %w", s.Name, err)
		}
		k := slices.IndexFunc(list, func(other Service) bool { return other.Name == name })
		if k < 0 {
			list, k = append(list, Service{Name: name}), len(list)
		}
		for _, b := range s.Backends {
			if slices.Contains(list[k].Backends, b) {
				return nil, fmt.Errorf("--service %s has the backend %s twice", s.Name, b)
			}
			list[k].Backends = append(list[k].Backends, b)
			count++
		}
	}
	if count > maxBackends {
		return nil, fmt.Errorf("%d backends are given: one agent speaks for at most %d, so run init once and add "+
			"agents",
			count, maxBackends)
	}
	return list, nil
}

// check returns the type and the path of the health check.
func (p Plan) check() (kind, path string, err error) {
	kind, path, _ = strings.Cut(p.Check, ":")
	switch {
	case kind == "tcp" && p.Check == "tcp":
		return kind, "", nil
	case (kind == "http" || kind == "https") && pathForm.MatchString(path):
		return kind, path, nil
	}
	return "", "", fmt.Errorf("--check is %q: it must be tcp, http:/path or https:/path, such as http:/health", p.Check)
}
