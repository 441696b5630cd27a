package overwatch

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnsserver"
	"gslb.internal/overwatch/internal/answer/dnstap"
	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/querylog"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/buildinfo"
)

// openDNSSEC opens the signing keys, and requests missing and damaged keys from the other nodes. The first publication
// of a zone without a key creates a key.
func (n *node) openDNSSEC(ctx context.Context, cfg *config.Config) (err error) {
	if !cfg.Overwatch.DNSSEC.Enabled {
		return nil
	}
	n.zones, err = dnssec.Open(dnssec.Options{
		Dir: dnssec.Directory(cfg.DataDir), NodeID: cfg.Overwatch.Identity.NodeID,
		Algorithm:  dnssec.ParseAlgorithm(cfg.Overwatch.DNSSEC.Algorithm),
		KeyTTL:     time.Duration(cfg.DNS.Apex()) * time.Second,
		Registerer: n.registerer, Logger: n.componentLogger("dnssec"),
	})
	if err != nil {
		return err
	}
	n.zones.SetExpected(publish.Apexes(control.DNSSettings(cfg, nil)))
	n.keySync, err = keysync.New(keysync.Options{
		NodeID: cfg.Overwatch.Identity.NodeID, Settings: keysync.SettingsOf(cfg), Holders: n.holders, Zones: n.zones,
		Audit: n.audit.Record, About: n.about,
		LongestTTL: func() time.Duration { return n.publisher.LongestTTL() },
		Apply:      func(ctx context.Context) error { return n.publisher.Resign(ctx) },
		Registerer: n.registerer, Logger: n.componentLogger("dnssec"),
	})
	if err != nil {
		return err
	}
	n.keySync.Bootstrap(ctx)
	if err := n.zones.Damage(); err != nil {
		if off := n.keySync.Off(); off != nil {
			return fmt.Errorf("%w; other nodes were not asked for a copy: %w", err, off)
		}
		return fmt.Errorf("%w; no other node gave a copy", err)
	}
	return ctx.Err()
}

// decisionsFile is the file of sampled answers and flows in data_dir.
const decisionsFile = "decisions.json"

// bindDNS opens the DNS sockets. Queries wait in the sockets until run. The server uses the state and the view only in
// run, when both exist.
func (n *node) bindDNS(cfg *config.Config) error {
	inherited, err := dnsserver.Inherited()
	if err != nil {
		return err
	}
	n.decisions = decisions.New(cfg.Routing.DecisionSample, nil)
	if cfg.DNS.Dnstap.Address != "" && n.dnstap == nil {
		if n.dnstap, err = n.newDnstap(cfg); err != nil {
			return err
		}
	}
	if cfg.DNS.QueryLog.File != "" && n.queryLog == nil {
		if n.queryLog, err = n.newQueryLog(&cfg.DNS.QueryLog); err != nil {
			return err
		}
	}
	if n.updates == nil {
		if n.updates, err = n.newUpdates(); err != nil {
			return err
		}
	}
	networks := func() []netip.Prefix { return n.state.Config().Routing.WhyNetworks }
	server, err := dnsserver.New(dnsserver.Options{
		Decisions: n.decisions, Explain: explain.ToAskersIn(networks, n.view),
		Inherited: inherited, Store: dnsserver.StoreSockets,
		Listen: cfg.DNS.ListenAddress, View: n.view, NSID: cfg.DNS.NSID, RateLimit: dnsserver.RateLimitFromConfig(cfg),
		Proxies:      cfg.DNS.ProxyProtocol.Networks,
		ClientSubnet: cfg.Overwatch.Geolocation.ECSEnabled, MaxUDPSize: cfg.DNS.MaxUDPSize,
		Updates: n.updates, Dnstap: n.dnstap, QueryLog: n.queryLog, Filters: &cfg.DNS,
		Registerer: n.registerer, Logger: n.componentLogger("dns"),
	})
	if err != nil {
		return err
	}
	n.dns = server
	n.closers = append(n.closers, n.dns.Close)
	return nil
}

// newDnstap returns the connection to the dnstap consumer. The identity is the NSID, or else the id of the node.
func (n *node) newDnstap(cfg *config.Config) (*dnstap.Tap, error) {
	return dnstap.New(dnstap.Options{
		Address:  cfg.DNS.Dnstap.Address,
		Identity: cmp.Or(cfg.DNS.NSID, cfg.Overwatch.Identity.NodeID), Version: "gslb-overwatch " + buildinfo.Get().Version,
		Registerer: n.registerer, Logger: n.componentLogger("dnstap"),
	})
}

func (n *node) newQueryLog(cfg *config.QueryLog) (*querylog.Log, error) {
	return querylog.New(querylog.Options{
		Path: cfg.File, MaxSize: int64(cfg.MaxSize) << 20, MaxFiles: cfg.MaxFiles, IPv4Prefix: cfg.IPv4Prefix,
		IPv6Prefix: cfg.IPv6Prefix, Registerer: n.registerer, Logger: n.componentLogger("query_log"),
	})
}

// openDNS creates the first view. The glue records of a zone contain the addresses of the node's listeners, so openDNS
// first binds the DNS sockets if another process used their addresses at the start.
func (n *node) openDNS(_ context.Context, cfg *config.Config) (err error) {
	if n.dns == nil {
		if err := n.bindDNS(cfg); err != nil {
			return err
		}
	}
	n.core.run("decisions", n.decisions.Run)
	n.core.run("dns updates", n.updates.Run)
	if n.dnstap != nil {
		n.core.run("dnstap", n.dnstap.Run)
	}
	if n.queryLog != nil {
		n.core.run("query log", n.queryLog.Run)
	}
	sampled := decisions.FileStore{Recorder: n.decisions, Path: filepath.Join(cfg.DataDir, decisionsFile),
		Logger: n.componentLogger("decisions")}
	n.core.run("decisions-file", sampled.Run)
	addresses, err := publish.NodeAddresses(n.dns.Addrs())
	if err != nil {
		return err
	}
	settings, err := n.state.Settings(cfg, addresses)
	if err != nil {
		return err
	}
	latencies, err := control.Latencies(n.store)
	if err != nil {
		return err
	}
	serial, err := n.store.LoadSerial()
	if err != nil {
		return fmt.Errorf("loading how far SOA serials have come: %w", err)
	}
	n.state.KeepSerials(serial)
	awaiting, err := n.store.LoadFailbacks()
	if err != nil {
		return fmt.Errorf("loading the regions that await failback: %w", err)
	}
	n.failbacks = failback.New(failback.Options{Store: n.store, Stored: awaiting, Changed: n.changes.Mark,
		Logger: n.componentLogger("failback")})
	n.publisher, err = publish.New(publish.Options{
		Failbacks: n.failbacks,
		Settings:  settings, Backends: n.registry.View(), Signing: n.zones, Latencies: latencies, Serial: serial,
		Ready: n.declared.Wait, Changes: n.changes, Registerer: n.registerer, Logger: n.componentLogger("publish"),
	})
	if err != nil {
		return err
	}
	n.core.run("publishing", n.publisher.Run)
	n.core.run("failback", n.failbacks.Run)
	keeper := control.LatencyKeeper{Store: n.store, Publisher: n.publisher, Logger: n.log, Kept: len(latencies) > 0}
	n.core.run("latencies", keeper.Run)
	return nil
}
