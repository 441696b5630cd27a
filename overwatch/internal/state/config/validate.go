package config

import (
	"fmt"
	"maps"
	"slices"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// validator checks a complete configuration, converts names to canonical form, and collects problems and warnings.
type validator struct {
	*settings.Report
	config  *Config
	regions map[string]int32 // by name: first index
	// regionsUnread is true if a region could not be parsed, so that some region names are unknown.
	regionsUnread bool
	domains       map[string]int32 // by name: index of the first
	has           []bool           // by domain: a server of the domain exists
	namedBy       map[string]string
	cautions
}

// validate adds all faults of c.
func (c *Config) validate(report *settings.Report) {
	v := &validator{Report: report, config: c, regions: map[string]int32{}, domains: make(map[string]int32,
		len(c.Domains))}
	v.node()
	v.gossip()
	v.timing()
	v.dnssec()
	v.resolver()
	v.listeners()
	v.dns()
	v.api()
	v.regionNames()
	c.canonicalizeRegions()
	v.ownRegion()
	v.domainNames() // after the regions, because domains refer to regions
	v.brakes()
	v.notifications()
	v.servers() // after the domains, because servers refer to domains
	v.tokens()
	v.unboundedServices()
	v.geolocation()
	v.unserved()
	for _, path := range report.LargeFiles() {
		v.warn("%s: such a large YAML file takes seconds to read: write its lists as JSON, which takes a tenth of the "+
			"time and "+
			"memory, in an included file with a name that ends in .json", path)
	}
	c.foldRegions()
	c.warnings = v.cautions.all()
}

func (v *validator) node() {
	c := v.config
	if c.DataDir == "" {
		v.Add("data_dir", "", "is empty: give a directory, such as "+Default().DataDir)
	}
	identity := &c.Overwatch.Identity
	if remedy := settings.LabelRemedy(identity.NodeID, wire.MaxID); remedy != "" {
		v.Add("overwatch.identity.node_id", identity.NodeID, remedy)
	}
	if identity.Region != "" {
		if remedy := settings.LabelRemedy(identity.Region, wire.MaxRegion); remedy != "" {
			v.Add("overwatch.identity.region", identity.Region, remedy)
		}
	}
	v.oneOf("logging.level", c.Logging.Level, logging.Levels())
	v.oneOf("logging.format", c.Logging.Format, logging.Formats())
}

// maxClusterName is the maximum length of cluster_name in bytes.
const maxClusterName = 63

func (v *validator) gossip() {
	const key = "overwatch.gossip"
	g := &v.config.Overwatch.Gossip
	v.CheckKeys(key, g.EncryptionKey, g.PreviousEncryptionKeys)
	if g.ProbeTimeout >= g.ProbeInterval {
		v.Addf(key+".probe_timeout", g.ProbeTimeout.String(), "must be shorter than probe_interval, which is %s",
			g.ProbeInterval)
	}
	if g.ClusterName != "" {
		if remedy := settings.LabelRemedy(g.ClusterName, maxClusterName); remedy != "" {
			v.Add(key+".cluster_name", g.ClusterName, remedy)
		}
	}
	for i, seed := range g.Seeds {
		if remedy := settings.HostPortRemedy(seed); remedy != "" {
			v.Add(fmt.Sprintf("%s.seeds[%d]", key, i), seed, remedy)
		}
	}
	v.once(key+".seeds", g.Seeds)
}

// timing validates the times after which backends become unhealthy or are removed.
func (v *validator) timing() {
	checks, stale := &v.config.Overwatch.Validation, &v.config.Overwatch.Stale
	if checks.CheckTimeout > checks.CheckInterval {
		v.Addf("overwatch.validation.check_timeout", checks.CheckTimeout.String(),
			"must not be longer than check_interval, which is %s", checks.CheckInterval)
	}
	if stale.RemoveAfter <= stale.Threshold {
		v.Addf("overwatch.stale.remove_after", stale.RemoveAfter.String(),
			"must be longer than threshold, which is %s", stale.Threshold)
	}
}

// tokens converts the services of tokens and policies to canonical form.
func (v *validator) tokens() {
	o := &v.config.Overwatch
	o.AgentTokens = canonicalKeys(v, "overwatch.agent_tokens", o.AgentTokens)
	o.AgentPolicies = canonicalKeys(v, "overwatch.agent_policies", o.AgentPolicies)
	for _, service := range slices.Sorted(maps.Keys(o.AgentTokens)) {
		key := settings.Entry("overwatch.agent_tokens", service)
		if o.AgentTokens[service] == "" {
			v.Add(key, "", "the token is empty: "+tokenRemedy)
		}
		if n := len(o.AgentTokens[service]); n > 0 && n < shortToken {
			v.warn("%s: the token has %d characters: %s", key, n, tokenRemedy)
		}
		if _, served := v.domains[service]; !served {
			v.warn("%s: no domain has this name: what its agents report is not served until one has", key)
		}
	}
	v.previousTokens()
	for service := range o.AgentPolicies {
		if _, ok := o.AgentTokens[service]; !ok && !v.HasProblem("overwatch.agent_tokens") {
			v.Add(settings.Entry("overwatch.agent_policies", service), "",
				"agent_tokens has no such service: give it a token, or remove the policy")
		}
		if h := o.AgentPolicies[service].HealthCheck; h != nil {
			v.sharedCheck(settings.Entry("overwatch.agent_policies", service)+".health_check", h, "backends of the service")
		}
	}
}

// shortToken is the recommended minimum length of a token, in characters.
const shortToken = 32

const tokenRemedy = "give at least 32 random characters, for example from: head -c 32 /dev/urandom | base64"

// canonicalKeys returns a map with its keys as canonical service names.
func canonicalKeys[T any](v *validator, key string, from map[string]T) map[string]T {
	to := make(map[string]T, len(from))
	for _, written := range slices.Sorted(maps.Keys(from)) {
		name, remedy := settings.ParseService(written)
		if remedy != "" {
			v.Add(settings.Entry(key, written), "", remedy)
			continue
		}
		if _, again := to[name]; again {
			v.Add(settings.Entry(key, written), "", "this service is there already, spelled otherwise (case and a final "+
				"dot do not count): keep one")
			continue
		}
		to[name] = from[written]
	}
	return to
}

// oneOf reports a value that is not in allowed.
func (v *validator) oneOf(key, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		v.Add(key, value, settings.DidYouMean(value, allowed))
	}
}

// once adds a problem for each duplicate in a list.
func (v *validator) once(key string, list []string) {
	for i, entry := range list {
		if first := slices.Index(list, entry); first < i {
			v.Addf(fmt.Sprintf("%s[%d]", key, i), entry, "is already %s[%d]: remove one", key, first)
		}
	}
}
