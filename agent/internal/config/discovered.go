package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"

	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// maxDiscovered is the maximum size of a file of agent.backends_from in bytes: 64 backends with long checks.
const maxDiscovered = 1 << 20

// Labels of a group of targets that the agent uses. It ignores other labels.
const (
	labelService = "service"
	labelRegion  = "region"
	labelWeight  = "weight"
)

// entry is an element of a discovered file: a backend, or a group of targets in the format of Prometheus.
type entry struct {
	Backend
	Targets []string          `key:"targets"`
	Labels  map[string]string `key:"labels"`
}

// backendsFrom checks agent.backends_from.
func (v *validator) backendsFrom() {
	for i := range v.config.Agent.BackendsFrom {
		from, key := &v.config.Agent.BackendsFrom[i], fmt.Sprintf("agent.backends_from[%d]", i)
		if _, err := filepath.Match(from.File, ""); from.File == "" || err != nil {
			v.Add(key+".file", from.File, "give a path or a pattern, such as /etc/gslb/backends.d/*.yaml")
		}
		if from.Service != "" {
			name, remedy := settings.ParseService(from.Service)
			if remedy != "" {
				v.Add(key+".service", from.Service, remedy)
			}
			from.Service = name
		}
		if from.HealthCheck != nil {
			v.check(key+".health_check", from.HealthCheck)
		}
	}
}

// provable checks that the agent has a token for the services of agent.backends_from.
func (v *validator) provable() {
	const key = "agent.backends_from"
	if len(v.config.Agent.BackendsFrom) == 0 {
		return
	}
	for i, from := range v.config.Agent.BackendsFrom {
		if from.Service != "" && v.config.Agent.Identity.token(from.Service) == "" {
			v.Add(fmt.Sprintf("%s[%d].service", key, i), from.Service,
				"has no token: give one in agent.identity.service_tokens, or one for all in agent.identity.service_token")
		}
	}
	switch n := len(v.config.Tokens()); {
	case n == 0:
		v.Add(key, "", "no service is known: give the files' service, or its token in agent.identity.service_tokens")
	case n > wire.MaxServices:
		v.Addf(key, strconv.Itoa(n)+" services with those of agent.backends and agent.identity.service_tokens",
			"one agent can speak for %d: let another agent, with its own agent_id and data_dir, speak for the others",
			wire.MaxServices)
	}
}

// ReadBackends reads a file of from. The error is of type settings.Problems. ReadBackends omits groups of targets with
// another region than the agent. The caller checks for conflicts with the backends of other files.
func (c *Config) ReadBackends(path string, from *BackendsFrom) ([]Backend, error) {
	var file struct {
		Backends []entry `key:"backends"`
	}
	var list []Backend
	tokens := c.Tokens()
	err := settings.LoadList(path, maxDiscovered, "backends", &file, func(report *settings.Report) {
		v := &validator{Report: report, config: c}
		for i := range file.Backends {
			for _, b := range v.entry(fmt.Sprintf("backends[%d]", i), &file.Backends[i], from) {
				if _, known := tokens[b.Service]; !known {
					v.Add(fmt.Sprintf("backends[%d].service", i), b.Service, "is not among the services of this agent: "+
						"give it to the entry of agent.backends_from, or its token in agent.identity.service_tokens")
				}
				list = append(list, b)
			}
			if len(list) > wire.MaxBackends {
				v.Addf(fmt.Sprintf("backends[%d]", i), "", "the file has more than %d backends up to here, which is what one "+
					"agent can watch: let another agent, with its own agent_id and data_dir, watch the others", wire.MaxBackends)
				list = nil
				break
			}
		}
	})
	return list, err
}

// entry returns the backends of an entry.
func (v *validator) entry(key string, e *entry, from *BackendsFrom) []Backend {
	if e.Targets == nil && e.Labels == nil {
		return []Backend{v.discovered(key, e.Backend, from)}
	}
	if e.Service != "" || e.Address.IsValid() || e.Port != 0 || e.HealthCheck != nil {
		v.Add(key, "", "is a backend and a group of targets: write address and port, or targets and labels")
	}
	if region, given := e.Labels[labelRegion]; given && region != v.config.Agent.Identity.Region {
		return nil
	}
	group := Backend{Service: e.Labels[labelService], Weight: e.Weight}
	if text, given := e.Labels[labelWeight]; given {
		weight, err := strconv.Atoi(text)
		if err != nil {
			v.Add(settings.Entry(key+".labels", labelWeight), text, "give a whole number")
		}
		group.Weight = weight
	}
	list := make([]Backend, 0, len(e.Targets))
	for i, target := range e.Targets {
		b, at := group, fmt.Sprintf("%s.targets[%d]", key, i)
		where, err := netip.ParseAddrPort(target)
		if err != nil {
			v.Add(at, target, "give an IP address and a port, such as 192.0.2.10:8080 or [2001:db8::10]:8080")
			continue
		}
		b.Address, b.Port = where.Addr(), where.Port()
		list = append(list, v.discovered(at, b, from))
	}
	return list
}

// discovered returns b completed with the defaults of from, after the same checks as for agent.backends.
func (v *validator) discovered(key string, b Backend, from *BackendsFrom) Backend {
	if b.Service == "" {
		b.Service = from.Service
	}
	if b.HealthCheck == nil {
		b.HealthCheck = from.HealthCheck
	}
	if b.Target != "" {
		v.Add(key+".target", b.Target, "a file has addresses: give a target in agent.backends")
	}
	v.backend(key, &b)
	return b
}

// Files returns the sorted paths of the files that match the pattern. Names with a leading dot match only patterns with
// a leading dot.
func (from *BackendsFrom) Files() []string {
	matches, _ := settings.Glob(from.File) // the pattern was checked
	return matches
}
