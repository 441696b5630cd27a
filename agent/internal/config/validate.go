package config

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// staleThreshold is the default time after which overwatch nodes no longer rely on an agent's last report.
const staleThreshold = 30 * time.Second

// validator checks a complete configuration, converts names to their canonical form, and collects problems and
// warnings.
type validator struct {
	*settings.Report
	config   *Config
	warnings []string
}

// validate reports every problem of c.
func (c *Config) validate(report *settings.Report) {
	v := &validator{Report: report, config: c}
	v.identity()
	v.gossip()
	v.heartbeat()
	v.predictive()
	v.backends()
	v.refusedBackends()
	v.oneOf("agent.drain_on_stop", string(v.config.Agent.DrainOnStop),
		[]string{string(DrainAuto), string(DrainAlways), string(DrainNever)})
	v.resolver()
	v.backendsFrom()
	v.tokens() // after the backends, because their services require tokens
	v.provable()
	v.process()
	c.warnings = v.warnings
}

func (v *validator) warn(format string, args ...any) {
	v.warnings = append(v.warnings, fmt.Sprintf(format, args...))
}

func (v *validator) identity() {
	identity := &v.config.Agent.Identity
	if remedy := settings.LabelRemedy(identity.Region, wire.MaxRegion); remedy != "" {
		v.Add("agent.identity.region", identity.Region, remedy)
	}
	const reserved = "expiring" // a path segment of the API, where ids are
	if id := identity.AgentID; id == reserved {
		v.Add("agent.identity.agent_id", id, "this one word cannot be an id: give another")
	} else if remedy := settings.LabelRemedy(id, wire.MaxID); id != "" && remedy != "" {
		v.Add("agent.identity.agent_id", id, remedy)
	}
}

func (v *validator) gossip() {
	const key = "agent.gossip"
	g := &v.config.Agent.Gossip
	v.CheckKeys(key, g.EncryptionKey, g.PreviousEncryptionKeys)
	if len(g.OverwatchNodes) == 0 {
		v.Add(key+".overwatch_nodes", "",
			"is missing: give every overwatch node as host:port, such as overwatch-1.example.com:7946")
	}
	for i, node := range g.OverwatchNodes {
		at := fmt.Sprintf("%s.overwatch_nodes[%d]", key, i)
		if remedy := settings.HostPortRemedy(node); remedy != "" {
			v.Add(at, node, remedy)
		} else if first := slices.Index(g.OverwatchNodes, node); first < i {
			v.Addf(at, node, "is already overwatch_nodes[%d]: remove one", first)
		}
	}
}

// refusedBackends adds a warning for backends that overwatch nodes on other machines reject unless allowed_cidrs of the
// service contains their address.
func (v *validator) refusedBackends() {
	a := &v.config.Agent
	if !slices.ContainsFunc(a.Gossip.OverwatchNodes, isElsewhere) {
		return
	}
	for i := range a.Backends {
		if at := a.Backends[i].Address; at.IsLoopback() || at.IsLinkLocalUnicast() {
			v.warn("agent.backends[%d].address: %s: overwatch nodes refuse loopback and link-local addresses unless "+
				"overwatch.agent_policies.%s.allowed_cidrs there contains it: give an address that clients reach", i, at,
				a.Backends[i].Service)
		}
	}
}

// isElsewhere reports whether an overwatch node has no loopback address.
func isElsewhere(node string) bool {
	host, _, err := net.SplitHostPort(node)
	address, notAddress := netip.ParseAddr(host)
	return err == nil && host != "localhost" && (notAddress != nil || !address.IsLoopback())
}

func (v *validator) heartbeat() {
	if interval := v.config.Agent.Heartbeat.Interval; interval >= staleThreshold {
		v.warn("agent.heartbeat.interval: %s: overwatch nodes count a backend as stale %s after its last report, unless "+
			"their stale.threshold says otherwise", interval, staleThreshold)
	}
}

func (v *validator) predictive() {
	const key = "agent.predictive"
	p := &v.config.Agent.Predictive
	v.percent(key+".cpu.threshold", p.CPU.Threshold)
	v.percent(key+".memory.threshold", p.Memory.Threshold)
	if t := p.ErrorRate.Threshold; t <= 0 {
		v.Add(key+".error_rate.threshold", number(t), "give a number of errors per minute above 0")
	}
	if w := p.ErrorRate.Window; w < p.CheckInterval {
		v.Addf(key+".error_rate.window", w.String(), "give at least check_interval, which is %s", p.CheckInterval)
	}
	if p.ErrorRate.Source.Given() {
		v.errorSource(key+".error_rate.source", &p.ErrorRate.Source, p.CheckInterval)
	}
}

// process validates the common keys of all programs: data directory, log, metrics.
func (v *validator) process() {
	c := v.config
	if c.DataDir == "" {
		v.Add("data_dir", "", "is empty: give a directory, such as "+DefaultDataDir)
	}
	v.oneOf("logging.level", c.Logging.Level, logging.Levels())
	v.oneOf("logging.format", c.Logging.Format, logging.Formats())
	if _, remedy := settings.ParseListener(c.Metrics.Address); c.Metrics.Enabled && remedy != "" {
		v.Add("metrics.address", c.Metrics.Address, remedy)
	}
}

func (v *validator) percent(key string, value float64) {
	if value <= 0 || value > 100 {
		v.Add(key, number(value), "give a percentage above 0 and up to 100")
	}
}

func (v *validator) oneOf(key, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		v.Add(key, value, settings.DidYouMean(value, allowed))
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
