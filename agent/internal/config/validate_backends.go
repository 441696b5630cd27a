package config

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// shortToken is the length in characters below which a token causes a warning. The specification recommends longer
// tokens.
const shortToken = 32

const shortTokenRemedy = "use at least 32 random characters, for example from: head -c 32 /dev/urandom | base64"

func (v *validator) backends() {
	list := v.config.Agent.Backends
	if len(list) == 0 && len(v.config.Agent.BackendsFrom) == 0 {
		v.Add("agent.backends", "", "is missing: give at least one backend to watch")
	}
	if len(list) > wire.MaxBackends {
		v.Addf("agent.backends", strconv.Itoa(len(list))+" entries",
			"one agent can watch %d: let another agent, with its own agent_id and data_dir, watch the others", wire.MaxBackends)
	}
	type id struct {
		service string
		at      netip.AddrPort
	}
	first := map[id]int{}
	services := map[string]bool{}
	for i := range list {
		b, key := &list[i], fmt.Sprintf("agent.backends[%d]", i)
		v.backend(key, b)
		services[b.Service] = true
		if b.Target != "" {
			continue
		}
		at := netip.AddrPortFrom(b.Address, b.Port)
		if begun, again := first[id{b.Service, at}]; again && b.Address.IsValid() {
			v.Addf(key, at.String(), "is already agent.backends[%d] for the same service: keep one", begun)
			continue
		}
		first[id{b.Service, at}] = i
	}
	if len(services) > wire.MaxServices {
		v.Addf("agent.backends", strconv.Itoa(len(services))+" services",
			"one agent can speak for %d: let another agent, with its own agent_id and data_dir, speak for the others",
			wire.MaxServices)
	}
}

func (v *validator) backend(key string, b *Backend) {
	name, remedy := settings.ParseService(b.Service)
	switch {
	case b.Service == "":
		v.Add(key+".service", "", "is missing: give the domain that the backend serves, such as app.example.com")
	case remedy != "":
		v.Add(key+".service", b.Service, remedy)
	default:
		b.Service = name
	}
	if b.Target != "" {
		v.target(key+".target", b)
	} else if !b.Address.IsValid() {
		v.Add(key+".address", "", "is missing: give the IP address at which clients reach the backend")
	} else if remedy := settings.UnicastRemedy(b.Address); remedy != "" {
		v.Add(key+".address", b.Address.String(), remedy)
	}
	if b.Port == 0 {
		v.Add(key+".port", "", "is missing: give a port from 1 to 65535")
	}
	if b.Weight < api.MinWeight || b.Weight > api.MaxWeight {
		v.Addf(key+".weight", strconv.Itoa(b.Weight), "give a number from %d to %d", api.MinWeight, api.MaxWeight)
	}
	if b.HealthCheck == nil {
		v.Add(key+".health_check", "", "is missing: say how the backend is probed, at least its type: "+check.Types())
		return
	}
	v.check(key+".health_check", b.HealthCheck)
}

// target validates the host name of a backend, and converts it to canonical form.
func (v *validator) target(key string, b *Backend) {
	name, remedy := settings.ParseHost(b.Target)
	switch {
	case b.Address.IsValid():
		v.Add(key, b.Target, "is set in addition to an address: remove one of the two")
	case remedy != "":
		v.Add(key, b.Target, remedy)
	default:
		b.Target = name
	}
}

// maxResolvers is the maximum number of agent.resolver.servers. Each unreachable resolver delays a query by its
// timeout.
const maxResolvers = 8

func (v *validator) resolver() {
	const key = "agent.resolver"
	r := &v.config.Agent.Resolver
	for i, server := range r.Servers {
		if !server.IsValid() || server.Port() == 0 {
			v.Add(fmt.Sprintf("%s.servers[%d]", key, i), server.String(),
				"give an address with its port, such as 192.0.2.53:53 or [2001:db8::53]:53")
		}
	}
	if len(r.Servers) > maxResolvers {
		v.Addf(key+".servers", strconv.Itoa(len(r.Servers))+" entries", "give at most %d resolvers", maxResolvers)
	}
	if r.MinTTL > r.MaxTTL {
		v.Addf(key+".min_ttl", r.MinTTL.String(), "must not be greater than max_ttl, which is %s", r.MaxTTL)
	}
}

// check checks the health check of a backend.
func (v *validator) check(key string, check *HealthCheck) {
	check.Validate(v.Report, key)
	if !slices.Contains([]string{"", model.WatchAuto, model.WatchConnection, model.WatchOff}, check.Watch) {
		v.Add(key+".watch", check.Watch, "use auto, connection or off")
	}
	if check.Off() {
		v.Add(key+".enabled", "false", "an agent has nothing to say of a backend that it does not check: "+
			"remove the key or the backend")
	}
	if check.InsecureSkipVerify {
		v.warn("%s.insecure_skip_verify: any certificate is accepted, so the check does not tell whose "+
			"server answers", key)
	}
}

// tokens converts the service names of tokens to canonical form, and checks that every backend has a token.
func (v *validator) tokens() {
	const key = "agent.identity.service_tokens"
	identity := &v.config.Agent.Identity
	tokens := make(map[string]settings.Secret, len(identity.ServiceTokens))
	for _, written := range slices.Sorted(maps.Keys(identity.ServiceTokens)) {
		token := identity.ServiceTokens[written]
		name, remedy := settings.ParseService(written)
		switch _, again := tokens[name]; {
		case remedy != "":
			v.Add(settings.Entry(key, written), "", remedy)
		case again:
			v.Add(settings.Entry(key, written), "",
				"this service is there already, spelled otherwise (case and a final dot do not count): keep one")
		case token == "":
			v.Add(settings.Entry(key, written), "",
				"the token is empty: want the token of agent_tokens of the overwatch nodes")
		default:
			v.shortToken(settings.Entry(key, written), token)
			v.unusedToken(settings.Entry(key, written), name)
			tokens[name] = token
		}
	}
	identity.ServiceTokens = tokens
	v.shortToken("agent.identity.service_token", identity.ServiceToken)
	v.missingTokens()
}

func (v *validator) missingTokens() {
	identity := &v.config.Agent.Identity
	missing := func(b Backend) bool { return identity.token(b.Service) == "" }
	if len(identity.ServiceTokens) == 0 && slices.ContainsFunc(v.config.Agent.Backends, missing) {
		v.Add("agent.identity.service_token", "",
			"is missing: give the token that overwatch nodes have for the service under agent_tokens")
		return
	}
	for i, b := range v.config.Agent.Backends {
		if missing(b) {
			v.Addf(fmt.Sprintf("agent.backends[%d].service", i), b.Service,
				"has no token: give one in agent.identity.service_tokens, or one for all in agent.identity.service_token")
		}
	}
}

func (v *validator) shortToken(key string, token settings.Secret) {
	if n := len(token); n > 0 && n < shortToken {
		v.warn("%s: the token has %d characters: %s", key, n, shortTokenRemedy)
	}
}

func (v *validator) unusedToken(key, service string) {
	if len(v.config.Agent.BackendsFrom) == 0 &&
		!slices.ContainsFunc(v.config.Agent.Backends, func(b Backend) bool { return b.Service == service }) {
		v.warn("%s: no backend has this service", key)
	}
}
