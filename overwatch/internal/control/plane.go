package control

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/settings"
)

// Plane applies changes one after another. It embeds the State of the node, which the changes modify.
type Plane struct {
	*State
	// Changes applies the changes of operators and of other nodes.
	Changes *changes.Changes
	o       Options
	queue   queue
	reloads *prometheus.CounterVec

	fault     fileFault  // of the configuration file
	reloading sync.Mutex // locked during a reload; mu only after the wait for targets
}

// Options are the parts of the node that a change reaches.
type Options struct {
	ConfigPath string
	// Running is the context of the node. A change that is being applied stops only when Running ends.
	Running context.Context
	State   *State

	Registry  *registry.Registry
	Trust     *trust.Trust
	Publisher *publish.Publisher
	Decisions *decisions.Recorder
	// Failbacks has the regions that await failback.
	Failbacks *failback.Tracker
	Zones     *dnssec.Zones // nil when answers are not signed
	KeySync   *keysync.Sync // nil when answers are not signed
	Validator *validation.Validator
	Targets   *Targets

	// SetMaxUDPSize sets the maximum size of answers over UDP in octets.
	SetMaxUDPSize func(octets int)
	// Servers holds the servers that the API has created.
	Servers *inventory.Inventory
	Audit   *audit.Log
	// Replication returns the replication, which is created after the Plane; nil before.
	Replication func() *replication.Replication
	// Reconfigured is called with each configuration that a reload or settings of the API have applied; nil is ignored.
	Reconfigured func(*config.Config)

	// Listening returns the addresses at which the node answers DNS.
	Listening func() []netip.AddrPort
	// Allowed reports whether an agent may report a backend.
	Allowed func(agentID string, id registry.ID) bool
	// Identity is the identity of this process. It never changes.
	Identity *identity.Identity

	Registerer prometheus.Registerer
}

// New makes the Plane of a node. The parts in o must be open.
func New(o Options) (*Plane, error) {
	p := &Plane{State: o.State, o: o, reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_overwatch_config_reloads_total", Help: "Reloads of the configuration by outcome.",
	}, []string{"outcome"})}
	for _, outcome := range []string{reloadDone, reloadFailed} {
		p.reloads.WithLabelValues(outcome)
	}
	p.Changes = changes.New(changes.Options{
		View: o.Registry.View(), Registry: o.Registry, Store: p.store, Servers: o.Servers,
		Agents: o.Trust, Definitions: p, Failbacks: o.Failbacks, Audit: o.Audit, Flush: o.Publisher.Flush,
		Impact: impact.New(impact.Options{View: o.Registry.View(), DNSView: o.Publisher.View, Flush: o.Publisher.Flush,
			Decisions: o.Decisions, Now: time.Now}),
		Logger: p.log.With().Str("component", "api").Logger(),
	})
	return p, o.Registerer.Register(p.reloads)
}

// Load reads a configuration file and checks it, including the rules for DNS answers. Faults are of type
// settings.Problems.
func Load(path string) (*config.Config, error) { return config.Load(path, checkAnswers) }

// CheckText finds faults in the text of a configuration, which must be complete in itself: no other file is read.
func CheckText(text string) settings.Problems { return config.CheckText(text, checkAnswers) }

func checkAnswers(c *config.Config) settings.Problems {
	examined := DNSSettings(c, configuredAddresses(c))
	examined.RefuseMixed = true
	problems, cautions := publish.Examine(examined)
	c.Warn(cautions...)
	return append(problems, checkPlaces(c)...)
}

// configuredAddresses returns the addresses at which a node with this configuration would answer DNS; nil if this
// machine cannot list its addresses.
func configuredAddresses(c *config.Config) []netip.Addr {
	var listening []netip.AddrPort
	for _, text := range c.DNS.ListenAddress {
		at, remedy := settings.ParseListener(text)
		switch {
		case remedy != "": // package config reports it
		case at.Addr.IsValid():
			listening = append(listening, netip.AddrPortFrom(at.Addr, at.Port))
		default: // only a port
			listening = append(listening, netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port),
				netip.AddrPortFrom(netip.IPv6Unspecified(), at.Port))
		}
	}
	addresses, err := publish.NodeAddresses(listening)
	if err != nil {
		return nil
	}
	return addresses
}

// DNSSettings returns the DNS settings of a configuration, without the location table. addresses are the addresses of
// the node's DNS listeners. For checks, addresses may be nil.
func DNSSettings(cfg *config.Config, addresses []netip.Addr) publish.Settings {
	return publish.Settings{
		DNS: cfg.DNS, Domains: cfg.Domains, Defined: cfg.Defined(), Records: cfg.Records(), Regions: cfg.Regions,
		NodeID: cfg.Overwatch.Identity.NodeID, Addresses: addresses, Denial: cfg.Overwatch.DNSSEC.Denial,
	}
}
