package overwatch

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnsserver"
	"gslb.internal/overwatch/internal/answer/dnstap"
	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/querylog"
	"gslb.internal/overwatch/internal/cluster/hints"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/control/drain"
	"gslb.internal/overwatch/internal/control/expiry"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/holds"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/operate/dnsupdate"
	"gslb.internal/overwatch/internal/operate/doctor"
	"gslb.internal/overwatch/internal/operate/events"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/operate/httpapi"
	"gslb.internal/overwatch/internal/operate/metrics"
	"gslb.internal/overwatch/internal/operate/notify"
	"gslb.internal/overwatch/internal/operate/refusals"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/check"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging"
)

// node is an overwatch node with its parts. It connects the parts to each other.
type node struct {
	process
	core        *core
	store       *store.Store
	audit       *audit.Log
	refused     *refusals.Log
	queue       *audit.Queue // entries of the data path
	state       *control.State
	control     *control.Plane
	replication *replication.Replication
	peerHints   *hints.Exchange
	health
	answer
	history    *history.Recorder
	journal    *journal.Journal
	events     atomic.Pointer[events.Watcher] // nil until it is opened
	notifier   *notify.Notifier
	api        *httpapi.Server                       // nil if it is disabled
	operations atomic.Pointer[operations.Operations] // of api; nil without it
	metrics    *metrics.Server                       // nil if it is disabled

	patience   time.Duration // stopPatience
	closers    []func()
	closeStore func() // an element of closers; only the first call has an effect
}

// process contains the common values of all parts of a process.
type process struct {
	configPath string
	log        zerolog.Logger
	logging    *logging.Control
	started    time.Time
	boot       identity.Nonce
	exchange   *identity.Exchange
	registerer *prometheus.Registry
}

// health contains the parts between an agent report and the status of a backend.
type health struct {
	identity  *identity.Identity
	own       control.OwnAddresses
	holders   *keysync.Holders
	trust     *trust.Trust
	registry  *registry.Registry
	hints     *validation.Hints
	targets   *control.Targets
	declared  errgroup.Group // declares servers to the registry; see openRegistry
	servers   *inventory.Inventory
	gossip    *gossip.Node
	brakes    *holds.Worker
	validator *validation.Validator
	durations *metrics.CheckDurations
	checks    atomic.Uint64 // number of own checks
	cycled    atomic.Bool   // the answers include the first cycle of these checks
	judge     *conditions.Judge
}

// answer contains the parts between a status and a DNS packet.
type answer struct {
	zones     *dnssec.Zones // nil when answers are not signed
	keySync   *keysync.Sync // nil when answers are not signed
	changes   *publish.Changes
	failbacks *failback.Tracker
	publisher *publish.Publisher
	decisions *decisions.Recorder
	dns       *dnsserver.Server
	dnstap    *dnstap.Tap   // nil if it is disabled
	queryLog  *querylog.Log // nil if it is disabled
	updates   *dnsupdate.Handler
	serving   atomic.Bool // the DNS server answers
}

// newNode opens all sockets, files and keys. After an error it closes all of them. The node answers requests only after
// run.
func newNode(ctx context.Context, cfg *config.Config, configPath string, logger zerolog.Logger,
	level *logging.Control) (_ *node, err error) {
	n := &node{core: newCore(ctx), patience: stopPatience, process: process{
		configPath: configPath, log: logger, logging: level, started: time.Now(), boot: identity.NewNonce(),
		exchange: identity.NewExchange(), registerer: prometheus.NewRegistry(),
	}}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	database := control.StartReadingDatabase(cfg.Overwatch.Geolocation.DatabasePath)
	n.closers = append(n.closers, database.Wait)
	// The DNS sockets are opened first, so that queries wait in them during a restart. If another process uses their
	// addresses, the store shows whether it uses the same data_dir, and openDNS retries.
	if err = n.bindDNS(cfg); err == nil || errors.Is(err, syscall.EADDRINUSE) {
		err = n.openStore(cfg)
	}
	if err == nil {
		err = n.openState(cfg, database)
	}
	if err == nil {
		for _, open := range []func(context.Context, *config.Config) error{
			n.openAudit, n.openIdentity, n.openTrust, n.openRegistry, n.openDNSSEC, n.openDNS, n.openGossip,
			n.openValidation, n.openControl, n.openReplication, n.openHistory, n.openJudge, n.openEvents,
			n.openNotifications, n.openMetrics, n.openAPI,
		} {
			if err = open(ctx, n.state.Config()); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, doctor.WithoutRoom(cfg.DataDir, err)
	}
	return n, nil
}

// close closes all opened parts in reverse order.
func (n *node) close() {
	for i := len(n.closers) - 1; i >= 0; i-- {
		n.closers[i]()
	}
	n.closers = nil
}

// componentLogger returns the logger of a component.
func (n *node) componentLogger(name string) zerolog.Logger {
	return n.log.With().Str("component", name).Logger()
}

func (n *node) openStore(cfg *config.Config) (err error) {
	if n.store, err = store.Open(cfg.DataDir, store.Options{Program: "gslb-overwatch " + buildinfo.Get().Version,
		NodeID: cfg.Overwatch.Identity.NodeID, Retention: cfg.Overwatch.Replication.TombstoneRetention,
		CheckObject: control.CheckObject, Logger: n.componentLogger("store")}); err != nil {
		return err
	}
	n.closeStore = sync.OnceFunc(func() {
		if err := n.store.Close(); err != nil {
			n.log.Error().Err(err).Msg("closing the store")
		}
	})
	n.closers = append(n.closers, n.closeStore)
	n.closers = append(n.closers, func() { _ = n.core.stopAll() }) // run returns its error
	n.core.run("store", n.store.Run)
	if what := n.store.Recovered(); what != "" {
		n.log.Error().Msg(what)
	}
	return metrics.RegisterStore(n.registerer, n.store)
}

// openState merges the objects of the API with the configuration file. The result is the current configuration.
func (n *node) openState(file *config.Config, database *control.DatabaseReading) (err error) {
	n.state, err = control.OpenState(control.StateOptions{
		File: file, Started: n.started, Store: n.store, Logging: n.logging, Database: database,
		Registerer: n.registerer, Logger: n.log,
	})
	return err
}

// openControl creates the control plane. The parts that it changes are open, except replication and notifications,
// which it calls through functions.
func (n *node) openControl(context.Context, *config.Config) (err error) {
	n.control, err = control.New(control.Options{
		ConfigPath: n.configPath, Running: n.core.ctx, State: n.state, Registry: n.registry, Trust: n.trust,
		Publisher: n.publisher, Failbacks: n.failbacks, Decisions: n.decisions, Zones: n.zones, KeySync: n.keySync,
		Validator: n.validator,
		Targets:   n.targets, SetMaxUDPSize: n.dns.SetMaxUDPSize, Listening: n.dns.Addrs, Allowed: n.allowed,
		Identity: n.identity, Registerer: n.registerer, Servers: n.servers, Audit: n.audit,
		Replication: func() *replication.Replication { return n.replication },
		Reconfigured: func(cfg *config.Config) {
			n.dns.SetFilters(&cfg.DNS)
			n.peerHints.Reconfigure(hints.SettingsOf(cfg))
			if n.notifier != nil {
				n.notifier.Reconfigure(notify.SettingsOf(cfg))
			}
		},
	})
	return err
}

// openReplication creates the replication of operator state with other nodes.
func (n *node) openReplication(_ context.Context, cfg *config.Config) (err error) {
	n.replication, err = replication.New(replication.Options{
		NodeID: cfg.Overwatch.Identity.NodeID, Settings: replication.SettingsOf(cfg), Store: n.store,
		Follow: n.control.Follow, LeftOut: n.state.LeftOut, Unused: n.control.Unused, Audit: n.audit.EntryOf,
		Certificate: n.identity.KeyID,
		Serving:     func() []string { return conditions.Serving(n.registry.View(), n.judgedDomains()) },
		Registerer:  n.registerer, Logger: n.componentLogger("replication"),
	})
	return err
}

// openAudit opens the audit log, and the log of rejected requests, which adds a limited number of entries to it.
func (n *node) openAudit(_ context.Context, cfg *config.Config) (err error) {
	n.audit, err = audit.Open(audit.Options{Store: n.store, Retention: cfg.Audit.Retention,
		Logger: n.componentLogger("audit")})
	if err != nil {
		return err
	}
	n.core.run("audit", n.audit.Run)
	n.queue = n.audit.NewQueue()
	n.core.run("audit queue", n.queue.Run)
	n.core.last = sync.OnceFunc(n.queue.Flush)
	n.refused = refusals.New(n.queue.Add)
	n.core.run("refusals", n.refused.Run)
	return nil
}

func (n *node) openIdentity(_ context.Context, cfg *config.Config) (err error) {
	n.identity, err = control.OpenIdentity(cfg, n.log)
	return err
}

func (n *node) openTrust(_ context.Context, cfg *config.Config) (err error) {
	if err := n.own.Read(); err != nil {
		return err
	}
	n.core.run("addresses", n.own.Watch)
	// A reload does not change the listeners.
	host := trust.Host{Ports: cfg.Ports(), Addresses: n.own.All, Loopback: control.GossipsOnLoopback(cfg)}
	n.targets = control.NewTargets(control.TargetOptions{Resolver: cfg.DNS.Resolver, Takes: host.TakesTarget,
		Logger: n.componentLogger("targets")})
	n.core.run("targets", n.targets.Run)
	n.holders = keysync.OpenHolders(keysync.HoldersFile(cfg.DataDir))
	n.trust, err = trust.New(trust.Options{
		Tokens: cfg.Tokens(), Policies: control.Policies(cfg), Limits: control.Limits(cfg), Host: host, Boot: n.boot,
		Node: n.identity.KeyID, Exchange: n.exchange, Pins: n.store, Logger: n.componentLogger("trust"),
		KnowsAll: n.noteHolder,
	})
	return err
}

// noteHolder stores that an agent knows all service tokens. The key exchange then stops using secrets derived from the
// tokens, even after a restart.
func (n *node) noteHolder(set trust.TokenSet, agentID string) {
	if err := n.holders.Note(set, agentID); err != nil {
		n.log.Error().Err(err).Msg("the next start may take the secret of the key exchange for one that no agent knows")
	}
}

// openRegistry opens the registry and starts to declare servers in the background, concurrently with the build of
// zones. Code that needs the declared backends or n.servers must wait for n.declared.
func (n *node) openRegistry(ctx context.Context, cfg *config.Config) error {
	restored, orders, err := restore.Backends(n.store, n.componentLogger("store"))
	if err != nil {
		return err
	}
	n.changes = publish.NewChanges()
	timed := expiry.New(n.store, n.queue)
	n.brakes = holds.New(n.queue.AddChange, n.componentLogger("registry"))
	n.hints = validation.NewHints()
	if err := n.openPeerHints(cfg); err != nil {
		return err
	}
	n.registry, err = registry.New(registry.Options{
		Timing:   control.Timing(cfg),
		Restored: restored, AdminStates: orders, Allowed: n.allowed, CheckPolicy: n.state.CheckPolicy,
		RegionName:        n.state.RegionName,
		Statuses:          n.store,
		Changed:           n.changed,
		AdminStateBegan:   timed.Began,
		AdminStateExpired: timed.Expired,
		Protection:        n.state.Protection, HoldChanged: n.brakes.RecordChange, BackendHeld: n.brakes.CheckBackend,
		AgentLate: n.hints.Add, ReportContradicts: n.hints.Add,
		FailureSeen: n.peerHints.Hint, FailureDisputed: n.peerHints.RequestVotes,
		DrainTime: n.state.DrainTime, RecoveryRamp: n.state.RecoveryRamp, Damping: n.state.Damping,
		Logger: n.componentLogger("registry"),
	})
	if err != nil {
		return err
	}
	n.core.run("registry", n.registry.Run)
	n.core.run("pins", func(ctx context.Context) error { return control.TendPins(ctx, n.trust, n.registry) })
	servers, err := n.store.LoadServers()
	if err != nil {
		return fmt.Errorf("loading the servers that the API created: %w", err)
	}
	n.closers = append(n.closers, func() { _ = n.declared.Wait() }) // openDNS returns the error
	n.declared.Go(func() (err error) {
		defer n.targets.Await(ctx, cfg, control.StartAwaits)()
		if err := control.Declare(ctx, n.registry, n.targets, cfg); err != nil {
			return err
		}
		n.servers, err = inventory.New(ctx, inventory.Options{Servers: restore.Servers(servers, n.componentLogger("store")),
			Registry: n.registry})
		return err
	})
	return nil
}

// openPeerHints creates the exchange of hints with other nodes, which the registry calls. It uses functions for the
// parts of the node that are opened later.
func (n *node) openPeerHints(cfg *config.Config) (err error) {
	n.peerHints, err = hints.New(hints.Options{
		NodeID: cfg.Overwatch.Identity.NodeID, Settings: hints.SettingsOf(cfg),
		Peers:   func() []replication.Reachable { return n.replication.Reachable() },
		Backend: func(id registry.ID) *registry.Backend { return n.registry.View().Get(id) },
		Check:   n.hints.Add,
		Votes: func(ctx context.Context, votes []registry.NodeVote) error {
			return n.registry.ApplyVotes(ctx, votes)
		},
		Registerer: n.registerer, Logger: n.componentLogger("hints"),
	})
	return err
}

// changed marks the backends of a service for publication.
func (n *node) changed(service string) {
	n.changes.Mark(service)
	if w := n.events.Load(); w != nil {
		w.MarkService(service)
	}
}

// allowed reports whether an agent is authorized to report a backend: its pin exists, is not revoked, and includes the
// service.
func (n *node) allowed(agentID string, id registry.ID) bool {
	return n.trust.Allowed(agentID, id.Service, netip.AddrPortFrom(id.Address, id.Port))
}

func (n *node) openGossip(_ context.Context, cfg *config.Config) (err error) {
	g := cfg.Overwatch.Gossip
	n.gossip, err = gossip.New(gossip.Options{
		Bind: g.BindAddress, Keys: cfg.GossipKeys(), Seeds: g.Seeds, Peers: n.peers,
		NodeID: cfg.Overwatch.Identity.NodeID, Region: cfg.Overwatch.Identity.Region, Version: buildinfo.Get().Version,
		Identity: n.identity, Boot: n.boot, Share: n.exchange.Share(), Trust: n.trust, Registry: n.registry,
		ProbeInterval: g.ProbeInterval, ProbeTimeout: g.ProbeTimeout, GossipInterval: g.GossipInterval,
		Registerer: n.registerer, Logger: n.componentLogger("gossip"), Refused: n.refused.Note,
		Introduces: func(node string, key identity.KeyID) bool { return n.replication.Introduces(node, key) },
	})
	return err
}

func (n *node) openValidation(_ context.Context, cfg *config.Config) (err error) {
	n.durations, err = metrics.RegisterCheckDurations(n.registerer, n.measuresDomains, n.measuredServices)
	if err != nil {
		return err
	}
	n.validator, err = validation.New(validation.Options{
		Targets: n.registry.View(), Report: n.validated, Hints: n.hints, Settings: validation.SettingsOf(cfg),
		UserAgent: "gslb/" + buildinfo.Get().Version, Registerer: n.registerer, Logger: n.componentLogger("validation"),
	})
	return err
}

// validated receives the result of an own check. It counts the check, and passes the latency of a success to the
// publisher and the result to the registry.
func (n *node) validated(ctx context.Context, v registry.CheckResult) error {
	n.checks.Add(1)
	if v.Outcome == check.Success {
		n.publisher.Measured(v.ID, v.Latency)
		n.observeDuration(v)
	}
	return n.registry.ApplyCheckResult(ctx, v)
}

// openJudge creates the judge of the node's conditions. The parts that it reads are open, except the API and
// notifications, which it calls through functions.
func (n *node) openJudge(context.Context, *config.Config) (err error) {
	o := conditions.Options{DNSServing: n.serving.Load, ChecksCycled: n.cycled.Load, Domains: n.judgedDomains,
		View: n.registry.View(), Agents: n.trust.Agents, Locks: n.trust.Locks,
		Troubles: n.trust.Troubles, Rejecting: n.gossip.Rejecting, Rejected: n.gossip.RejectedNodes,
		PeersServe: n.replication.PeersServe}
	o.StoreFailing, o.Unheard, o.SignaturesEnd = n.store.Failing, n.gossip.SilentNodes, n.publisher.SignaturesEnd
	o.Regions = n.state.Regions
	o.Failbacks = n.failbacks.List
	o.FlapWindow = func() time.Duration { return n.state.Config().Overwatch.Flapping.Window }
	o.Certificates = func() []httpserve.Dated {
		if n.api == nil {
			return nil
		}
		return n.api.Certificates()
	}
	o.NotReplicated, o.LostPeers, o.SharedIDs = n.replication.Trouble, n.replication.Lost, n.replication.SharedIDs
	o.NoAgreement = n.peerHints.Trouble
	o.ConfigFault, o.DatabaseFault = n.control.ConfigFault, n.state.DatabaseProblem
	o.QueryLogFault = n.queryLog.Fault
	o.NotNotified = func() map[string]string {
		if n.notifier == nil {
			return nil
		}
		return n.notifier.Trouble()
	}
	if n.zones != nil {
		o.KeysLost, o.KeysApart, o.SigningFails = n.zones.KeysLost, n.keySync.Apart, n.zones.Failing
		o.KeySync, o.KeyRolls, o.KeyMismatches = n.keySync.Status, n.zones.Waiting, n.zones.Mismatches
	}
	n.judge, err = conditions.New(o)
	return err
}

func (n *node) openMetrics(_ context.Context, cfg *config.Config) error {
	err := metrics.Register(n.registerer, metrics.Sources{
		View: n.registry.View(), Agents: n.trust.Count, Pins: n.trust.Usage, ClockJump: n.trust.ClockJump,
		PerDomain: metrics.DomainSources{
			Domains: n.judgedDomains, Zones: n.state.Zones, Answers: n.decisions.Answers,
			Limit: func() int { return n.state.Config().Metrics.PerDomain },
		},
		ClusterName: func() string { return n.state.Config().Overwatch.Gossip.ClusterName },
		Fitness:     n.judge, DNSSECEnabled: n.zones != nil, Build: buildinfo.Get(),
	})
	if err != nil || !cfg.Metrics.Enabled || cfg.OneListener() { // the API then serves the metrics
		return err
	}
	n.metrics, err = metrics.New(metrics.Options{Address: cfg.Metrics.Address, Gatherer: n.registerer,
		Logger: n.componentLogger("metrics")})
	return doctor.Remedied("metrics.address", cfg.Metrics.Address, err)
}

func (n *node) openAPI(_ context.Context, cfg *config.Config) (err error) {
	if !cfg.API.Enabled {
		return nil
	}
	drains := drain.NewTracker(drain.Options{View: n.registry.View(), DNSView: n.view})
	n.core.run("drains", drains.Run)
	o := httpapi.Options{
		API: cfg.API, NodeID: cfg.Overwatch.Identity.NodeID, Build: buildinfo.Get(), StartedAt: n.started,
		Config: n.state.InForce, CreatedAt: n.state.CreatedAt, Definitions: n.control,
		RestartRequired: n.state.RestartRequired,
		ValidateConfig:  control.CheckText,
		ConfigPath:      n.configPath, Reload: n.control.Reload,
		Fitness: n.judge, View: n.registry.View(), Inventory: n.servers,
		TargetProblem: n.targets.Problem, Changes: n.control.Changes, Failbacks: n.failbacks, Applied: n.store,
		Replication: n.replication,
		DiskTakes:   n.store.Writing, Flush: n.publisher.Flush,
		Events: n.journal, Notifier: n.notifier,
		Pins: n.trust, Audit: n.audit, Refused: n.refused.Request, History: n.history, Members: n.gossip.Members,
		HeardFrom: n.gossip.LastAddress, Self: n.self,
		Drains: drains, OmittedRecords: n.publisher.Omitted, Places: n.places, DNSView: n.view, Decisions: n.decisions,
		CheckNow: n.validator.CheckNow,
		Hints:    n.peerHints, Logger: n.componentLogger("api"),
	}
	if cfg.OneListener() {
		o.Metrics = metrics.Handler(n.registerer, n.componentLogger("metrics"))
	}
	if n.zones != nil {
		o.SigningKeys, o.KeySync = n.zones.Keys, n.keySync
	}
	if n.api, err = httpapi.New(o); err == nil {
		n.operations.Store(n.api.Operations())
	}
	return doctor.Remedied("api.address", cfg.API.Address, err)
}

var errStopped = errors.New("stopped")

// fatal adds the name of the failed part to an error. It returns nil for nil.
func fatal(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", part, err)
}

func (n *node) judgedDomains() []conditions.Domain { return conditions.DomainsOf(n.state.Config()) }
