package config

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"gslb.internal/shared/logging"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

// Bounds of how an agent reports.
const (
	minHeartbeat = 100 * time.Millisecond
	maxHeartbeat = time.Hour
	maxMissed    = 1000
	maxDrain     = 24 * time.Hour
	// maxPredictive bounds every time of agent.predictive: a longer one is a mistyped unit.
	maxPredictive = time.Hour
	// staleThreshold is the default time after which overwatch nodes no longer rely on an agent's
	// last report.
	staleThreshold = 30 * time.Second
)

// validator checks a whole configuration, brings names into their canonical form, and collects
// problems and warnings.
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
	v.resolver()
	v.backendsFrom()
	v.between("agent.drain_time", c.Agent.DrainTime, 0, maxDrain)
	v.tokens() // after the backends, whose services need them
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
	const reserved = "expiring" // stands in the API's paths where ids do
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

func (v *validator) heartbeat() {
	const key = "agent.heartbeat"
	h := &v.config.Agent.Heartbeat
	if h.Interval < minHeartbeat || h.Interval > maxHeartbeat {
		v.Addf(key+".interval", h.Interval.String(), "give a time from %s to %s", minHeartbeat, maxHeartbeat)
	}
	if h.MissedThreshold < 1 || h.MissedThreshold > maxMissed {
		v.Addf(key+".missed_threshold", strconv.Itoa(h.MissedThreshold), "give a number from 1 to %d", maxMissed)
	}
	if h.Interval >= staleThreshold {
		v.warn("%s.interval: %s: overwatch nodes count a backend as stale %s after its last report, unless their "+
			"stale.threshold says otherwise",
			key, h.Interval, staleThreshold)
	}
}

func (v *validator) predictive() {
	const key = "agent.predictive"
	p := &v.config.Agent.Predictive
	v.between(key+".check_interval", p.CheckInterval, time.Second, maxPredictive)
	v.percent(key+".cpu.threshold", p.CPU.Threshold)
	v.between(key+".cpu.bleed_duration", p.CPU.BleedDuration, time.Second, maxPredictive)
	v.percent(key+".memory.threshold", p.Memory.Threshold)
	v.between(key+".memory.bleed_duration", p.Memory.BleedDuration, time.Second, maxPredictive)
	if t := p.ErrorRate.Threshold; t <= 0 {
		v.Add(key+".error_rate.threshold", number(t), "give a number of errors per minute above 0")
	}
	v.between(key+".error_rate.bleed_duration", p.ErrorRate.BleedDuration, time.Second, maxPredictive)
	if w := p.ErrorRate.Window; w < p.CheckInterval || w > maxPredictive {
		v.Addf(key+".error_rate.window", w.String(), "give a time from check_interval, which is %s, to %s", p.CheckInterval,
			maxPredictive)
	}
	if p.ErrorRate.Source.Given() {
		v.errorSource(key+".error_rate.source", &p.ErrorRate.Source, p.CheckInterval)
	}
}

// process validates the keys that every program has: data directory, log, metrics.
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

func (v *validator) between(key string, value, least, most time.Duration) {
	if value < least || value > most {
		v.Addf(key, value.String(), "give a time from %s to %s", least, most)
	}
}

func (v *validator) oneOf(key, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		v.Add(key, value, settings.DidYouMean(value, allowed))
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
