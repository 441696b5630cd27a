//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"gslb.internal/integration/harness"
)

// checking is the health check of a contestant. The zero value means the defaults of the program.
type checking struct {
	interval, timeout time.Duration
	failures          int
}

// equal is the health check of the comparison at equal intervals: the shortest interval of gdnsd.
var equal = checking{interval: 2 * time.Second, timeout: time.Second, failures: 3}

// failoverTiming has the default values of gslb.
var failoverTiming = harness.Timing{CheckInterval: 5 * time.Second, CheckTimeout: 2 * time.Second, FailureThreshold: 3,
	SuccessThreshold: 2, Heartbeat: 10 * time.Second, MissedThreshold: 3, ValidationInterval: 30 * time.Second,
	ValidationTimeout: 5 * time.Second, StaleThreshold: 30 * time.Second, RemoveAfter: 5 * time.Minute}

// contestants returns the DNS servers of the benchmark. Programs that are not installed are absent.
func contestants(cluster *harness.Cluster, binaries harness.Binaries, dir string) (all []*contestant) {
	for _, c := range []struct {
		suffix string
		checks checking
	}{{"default", checking{}}, {"equal", equal}} {
		all = append(all,
			&contestant{name: "gslb with agents, " + c.suffix, start: gslbContestant(cluster, binaries, c.checks, true)},
			&contestant{name: "gslb without agents, " + c.suffix, start: gslbContestant(cluster, binaries, c.checks, false)})
		if _, err := exec.LookPath("gdnsd"); err == nil {
			all = append(all, &contestant{name: "gdnsd, " + c.suffix,
				start: rival(filepath.Join(dir, "gdnsd-"+c.suffix), c.checks, gdnsdFailover)})
		}
		if _, err := exec.LookPath("pdns_server"); err == nil {
			all = append(all, &contestant{name: "PowerDNS, " + c.suffix,
				start: rival(filepath.Join(dir, "pdns-"+c.suffix), c.checks, pdnsFailover)})
		}
	}
	return all
}

// gslbContestant returns a function that starts a node and, optionally, an agent for each backend. Each name has a
// separate region, so that no name has mass-failure protection.
func gslbContestant(cluster *harness.Cluster, binaries harness.Binaries, checks checking, agents bool) func(
	context.Context, *contestant) error {
	return func(ctx context.Context, c *contestant) error {
		h := harness.HealthCheck{Type: "http", Path: "/health", Interval: failoverTiming.CheckInterval,
			Timeout: failoverTiming.CheckTimeout, FailureThreshold: failoverTiming.FailureThreshold,
			SuccessThreshold: failoverTiming.SuccessThreshold}
		if checks != (checking{}) {
			h.Interval, h.Timeout, h.FailureThreshold = checks.interval, checks.timeout, checks.failures
		}
		servers := map[string][]harness.Server{}
		for k, one := range c.cases {
			region := fmt.Sprintf("r%d", k)
			servers[region] = nil
			if !agents {
				for _, b := range []*harness.Backend{one.victim, one.standby} {
					servers[region] = append(servers[region], harness.Server{Service: one.name, Address: b.At.Addr(),
						Port: b.At.Port(), Weight: 100, HealthCheck: h})
				}
			}
		}
		n, err := cluster.AddNode(nodeName(c.name), "r0", servers)
		if err != nil {
			return err
		}
		n.File.DNS.Zones = []string{zoneName}
		n.File.Overwatch.AgentTokens = map[string]string{}
		for k, one := range c.cases {
			n.File.Overwatch.AgentTokens[one.name] = harness.NewToken()
			n.File.Domains = append(n.File.Domains, harness.Domain{Name: one.name, RoutingAlgorithm: "round-robin",
				Regions: []string{fmt.Sprintf("r%d", k)}, TTL: 5, MaxAnswers: 2})
		}
		c.at = n.DNS
		if err := n.Start(); err != nil || !agents {
			return err
		}
		for k, one := range c.cases {
			for _, b := range []*harness.Backend{one.victim, one.standby} {
				a, err := cluster.AddAgent(nodeName("agent-"+b.Name), fmt.Sprintf("r%d", k), []*harness.Node{n},
					[]harness.AgentBackend{{Service: one.name, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100,
						HealthCheck: h}})
				if err != nil {
					return err
				}
				a.File.Agent.Identity.ServiceTokens[one.name] = n.File.Overwatch.AgentTokens[one.name]
				a.File.Agent.DrainTime = drainTime
				if b == one.victim {
					one.agent, one.agentProgram = a, binaries.Agent
				}
				if err := a.Start(); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// nodeName returns the name of a contestant as a node ID.
func nodeName(contestant string) string {
	id := []byte(contestant)
	for i, b := range id {
		if b == ' ' || b == ',' {
			id[i] = '-'
		}
	}
	return string(id)
}

// rivals are the started programs other than gslb.
var rivals []*exec.Cmd

// stopRivals ends the programs that the function rival has started.
func stopRivals([]*contestant) {
	for _, cmd := range rivals {
		_ = cmd.Process.Kill() // fails if it has ended
		_ = cmd.Wait()         // the exit status of a killed program
	}
	rivals = nil
}

// rival returns a function that starts another DNS server with the files that write creates in dir.
func rival(dir string, checks checking,
	write func(setup, *contestant, checking) ([]string, error)) func(context.Context, *contestant) error {
	return func(_ context.Context, c *contestant) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		port, err := freePort()
		if err != nil {
			return err
		}
		c.at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
		argv, err := write(setup{dir: dir, port: port}, c, checks)
		if err != nil {
			return err
		}
		out, err := os.Create(filepath.Join(dir, "output"))
		if err != nil {
			return err
		}
		defer out.Close()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			return err
		}
		rivals = append(rivals, cmd)
		return nil
	}
}

// gdnsdFailover writes the files of gdnsd: a resource with two monitored addresses for each name.
func gdnsdFailover(at setup, c *contestant, checks checking) ([]string, error) {
	zone, f := &file{}, &file{}
	zone.line("@ 3600 SOA ns1 hostmaster 1 3600 900 604800 60\n@ 3600 NS ns1\nns1 3600 A 127.0.0.1")
	f.line("options => {\n listen => { 127.0.0.1:%d => { udp_threads = 1, tcp_threads = 1 } }", at.port)
	f.line(" run_dir = %s\n state_dir = %s\n}", filepath.Join(at.dir, "run"), filepath.Join(at.dir, "state"))
	f.line("service_types => {")
	for k, one := range c.cases {
		f.line(" web%d => { plugin => http_status, port => %d, url_path => /health", k, one.victim.At.Port())
		if checks != (checking{}) { // up_thresh must be above ok_thresh
			f.line("  interval => %d, timeout => %d, up_thresh => 3, ok_thresh => 2, down_thresh => %d",
				int(checks.interval.Seconds()), int(checks.timeout.Seconds()), checks.failures)
		}
		f.line(" }")
	}
	f.line("}\nplugins => { multifo => {")
	for k, one := range c.cases {
		label := fmt.Sprintf("d%d", k)
		zone.line("%s 5 DYNA multifo!%s", label, label)
		f.line(" %s => { service_types => web%d, a => %s, b => %s }", label, k, one.victim.At.Addr(),
			one.standby.At.Addr())
	}
	f.line("} }")
	if _, err := zone.write(at.dir, "zones/"+zoneName); err != nil {
		return nil, err
	}
	for _, sub := range []string{"run", "state"} {
		if err := os.MkdirAll(filepath.Join(at.dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	_, err := f.write(at.dir, "config")
	return []string{"gdnsd", "-c", at.dir, "start"}, err
}

// pdnsFailover writes the files of PowerDNS: a LUA record with ifurlup for each name.
func pdnsFailover(at setup, c *contestant, checks checking) ([]string, error) {
	zone, named, f := &file{}, &file{}, &file{}
	zone.line("$ORIGIN %s.\n@ 3600 IN SOA ns1 hostmaster 1 3600 900 604800 60\n@ 3600 IN NS ns1\nns1 3600 IN A 127.0.0.1",
		zoneName)
	options := "selector='all'"
	f.line("launch=bind\nbind-config=%s\nenable-lua-records=shared", filepath.Join(at.dir, "named.conf"))
	if checks != (checking{}) {
		options += fmt.Sprintf(", timeout=%d, minimumFailures=%d", int(checks.timeout.Seconds()), checks.failures)
		f.line("lua-health-checks-interval=%d", int(checks.interval.Seconds()))
	}
	for k, one := range c.cases {
		zone.line("d%d 5 IN LUA A \"ifurlup('http://%s:%d/health', {{'%s','%s'}}, {%s})\"", k, "backend.test",
			one.victim.At.Port(), one.victim.At.Addr(), one.standby.At.Addr(), options)
	}
	path, err := zone.write(at.dir, "zone")
	if err != nil {
		return nil, err
	}
	named.line("zone %q { type master; file %q; };", zoneName, path)
	if _, err := named.write(at.dir, "named.conf"); err != nil {
		return nil, err
	}
	f.line("local-address=127.0.0.1\nlocal-port=%d\nsocket-dir=%s", at.port, at.dir)
	f.line("receiver-threads=1\ndistributor-threads=1\nloglevel=3\nsecurity-poll-suffix=\nversion-string=anonymous")
	_, err = f.write(at.dir, "pdns.conf")
	return []string{"pdns_server", "--config-dir=" + at.dir, "--daemon=no", "--guardian=no", "--disable-syslog",
		"--write-pid=no"}, err
}
