//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
)

// Times of the failover benchmark.
const (
	failoverPace   = 20 * time.Millisecond  // interval between queries for a name: the resolution of the results
	failoverAnswer = 200 * time.Millisecond // timeout of a query
	failoverQuiet  = 4 * time.Second        // time without the failed address that completes a failover
	failoverBound  = 130 * time.Second      // a longer failover is reported as missing
	failoverStart  = 60 * time.Second       // time limit until all servers answer with all backends
	drainTime      = 2 * time.Second        // drain of agents before a graceful stop
)

// fault is a way in which a backend fails.
type fault struct {
	name string
	// begin makes the victim fail. It returns the time of the failure.
	begin func(ctx context.Context, c *failoverCase) (time.Time, error)
}

var faults = []fault{
	{"kill -9", signaled(syscall.SIGKILL)},
	{"closed port", signaled(syscall.SIGTERM)},
	{"SIGSTOP", signaled(syscall.SIGSTOP)},
	{"HTTP 503", ordered("/unhealthy")},
	{"machine gone", machineGone},
	{"half of the requests fail", ordered("/flaky")},
	{"graceful stop", gracefulStop},
}

// chooseFaults returns the faults with these names, separated by commas; all for "".
func chooseFaults(list string) (chosen []fault, err error) {
	if list == "" {
		return faults, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		at := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
		if at < 0 {
			return nil, fmt.Errorf("-faults: %q is no fault of this benchmark: use names of its table", name)
		}
		chosen = append(chosen, faults[at])
	}
	return chosen, nil
}

// maxFailoverNames is the number of names for which a contestant has addresses: two per name in a /24 network.
const maxFailoverNames = 126

// signaled returns a fault that sends a signal to the victim.
func signaled(s syscall.Signal) func(context.Context, *failoverCase) (time.Time, error) {
	return func(_ context.Context, c *failoverCase) (time.Time, error) { return now(c.victim.Signal(s)) }
}

// ordered returns a fault that sends a command to the victim.
func ordered(order string) func(context.Context, *failoverCase) (time.Time, error) {
	return func(ctx context.Context, c *failoverCase) (time.Time, error) { return now(tell(ctx, c.victim, order)) }
}

func now(err error) (time.Time, error) { return time.Now(), err }

// tell sends a command to a backend.
func tell(ctx context.Context, b *harness.Backend, order string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.At.String()+order, nil)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// machineGone drops all packets to the victim and kills its agent.
func machineGone(ctx context.Context, c *failoverCase) (time.Time, error) {
	if c.agent != nil {
		if err := c.agent.Signal(syscall.SIGKILL); err != nil {
			return time.Time{}, err
		}
	}
	rules := fmt.Sprintf("table ip %s {\n chain in {\n type filter hook input priority 0;\n ip daddr %s drop\n }\n}\n",
		"gone"+strings.ReplaceAll(c.victim.At.Addr().String(), ".", "_"), c.victim.At.Addr())
	nft := exec.CommandContext(ctx, "nft", "-f", "-")
	nft.Stdin = strings.NewReader(rules)
	if out, err := nft.CombinedOutput(); err != nil {
		return time.Time{}, fmt.Errorf("nft: %w: %s", err, out)
	}
	return time.Now(), nil
}

// gracefulStop ends the victim by SIGTERM. It first starts a drain at the agent, if there is an agent, and waits for
// the drain.
func gracefulStop(ctx context.Context, c *failoverCase) (time.Time, error) {
	if c.agent != nil {
		notify := exec.CommandContext(ctx, c.agentProgram, "notify", "draining", "--wait", "--config", c.agent.Path)
		if out, err := notify.CombinedOutput(); err != nil {
			return time.Time{}, fmt.Errorf("gslb-agent notify: %w: %s", err, out)
		}
	}
	return now(c.victim.Signal(syscall.SIGTERM))
}

// failoverCase is a name with two backends. One of them is the victim.
type failoverCase struct {
	fault           fault
	name            string
	victim, standby *harness.Backend
	agent           *harness.Agent // agent of the victim; may be nil
	agentProgram    string
	took            time.Duration // time to the last answer with the victim; negative: the failover did not end
}

// contestant is a DNS server with a name for each fault.
type contestant struct {
	name  string
	cases []*failoverCase
	at    netip.AddrPort
	// start starts the server.
	start func(ctx context.Context, c *contestant) error
}

// failover measures the time from the failure of a backend to the last answer with its address: for gslb with and
// without agents, gdnsd and PowerDNS, at default settings and at equal intervals. All servers run concurrently, each
// with separate backends.
func failover(ctx context.Context, o options) error {
	if err := network.Allowed(); err != nil {
		return err
	}
	if os.Getenv(inNamespace) == "" {
		return enterNamespace(ctx)
	}
	if out, err := exec.CommandContext(ctx, "ip", "link", "set", "dev", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("ip link set lo up: %w: %s", err, out)
	}
	scratch, err := os.MkdirTemp("", "gslb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	binaries, err := harness.Build(ctx, o.bin, scratch)
	if err != nil {
		return err
	}
	o.tell()
	chosen, err := chooseFaults(o.faults)
	if err != nil {
		return err
	}
	if names := len(chosen) * o.copies; o.copies < 1 || names > maxFailoverNames {
		return fmt.Errorf("-copies %d with %d faults makes %d names: use 1 to %d", o.copies, len(chosen), names,
			maxFailoverNames)
	}
	results := newFailoverResults(chosen)
	for round := range o.rounds {
		if err := failoverRound(ctx, binaries, fmt.Sprintf("%s/%d", scratch, round), o, results); err != nil {
			return err
		}
		// The next round has backends at the addresses of machineGone.
		if out, err := exec.CommandContext(ctx, "nft", "flush", "ruleset").CombinedOutput(); err != nil {
			return fmt.Errorf("nft flush ruleset: %w: %s", err, out)
		}
	}
	results.print()
	return nil
}

// inNamespace is set in the environment of the process in a separate network namespace.
const inNamespace = "GSLB_BENCH_NAMESPACE"

// enterNamespace runs this program in a new network namespace, in which it has the right to drop packets.
func enterNamespace(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	network.Enter(cmd)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), inNamespace+"=1"), os.Stdout, os.Stderr
	return cmd.Run()
}

// failoverRound starts all contestants, makes all victims fail, and adds the times to results.
func failoverRound(ctx context.Context, binaries harness.Binaries, dir string, o options, results *failoverResults,
) error {
	cluster, err := harness.NewCluster(harness.Options{Binaries: binaries, Timing: failoverTiming})
	if err != nil {
		return err
	}
	defer func() { _ = cluster.Close() }()
	all := contestants(cluster, binaries, dir)
	if o.contestant != "" {
		all = slices.DeleteFunc(all, func(c *contestant) bool { return c.name != o.contestant })
		if len(all) == 0 {
			return fmt.Errorf("-only %q is no server of this benchmark: use a name of its table", o.contestant)
		}
	}
	defer stopRivals(all)
	for i, c := range all {
		if err := c.prepare(cluster, i, slices.Repeat(results.faults, o.copies)); err != nil {
			return err
		}
		if err := c.listening(ctx); err != nil {
			return err
		}
		if err := c.start(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, c := range all {
		if err := c.ready(ctx); err != nil {
			cluster.Story.Tell(os.Stderr, storyLines)
			return err
		}
	}
	time.Sleep(failoverSettle)
	var group sync.WaitGroup
	errs := make(chan error, len(all)*len(results.faults)*o.copies)
	for _, c := range all {
		for _, one := range c.cases {
			group.Go(func() {
				if err := one.measure(ctx, c.at); err != nil {
					errs <- fmt.Errorf("%s, %s: %w", c.name, one.fault.name, err)
				}
			})
		}
	}
	group.Wait()
	close(errs)
	for err := range errs {
		return err
	}
	results.add(all)
	return nil
}

// storyLines is the number of printed lines of each program if a contestant does not answer.
const storyLines = 5

// failoverSettle is longer than the longest check interval, so that each server has checked each backend.
const failoverSettle = 35 * time.Second

// prepare creates the names and backends of the i-th contestant, a name for each of faults.
func (c *contestant) prepare(cluster *harness.Cluster, i int, faults []fault) error {
	for k, f := range faults {
		one := &failoverCase{fault: f, name: fmt.Sprintf("d%d.%s", k, zoneName)}
		base := byte(2*k + 1)
		for n, b := range []**harness.Backend{&one.victim, &one.standby} {
			port, err := freePort()
			if err != nil {
				return err
			}
			if one.victim != nil {
				port = int(one.victim.At.Port()) // both backends have one port, as in a DNS answer without ports
			}
			at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, byte(10 + i), base + byte(n)}), uint16(port))
			*b = cluster.AddBackendAt(fmt.Sprintf("%s-%d-%d", c.name, k, n), at)
			if err := (*b).Start(); err != nil {
				return err
			}
		}
		c.cases = append(c.cases, one)
	}
	return nil
}

// listening waits until all backends accept connections. gdnsd needs 20 checks for a backend whose first check fails.
func (c *contestant) listening(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, failoverStart)
	defer cancel()
	for _, one := range c.cases {
		for _, b := range []*harness.Backend{one.victim, one.standby} {
			err := harness.Until(ctx, "a backend of "+c.name+" to accept", func(ctx context.Context) error {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", b.At.String())
				if err != nil {
					return err
				}
				return conn.Close()
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ready waits until the answer for each name contains both backends.
func (c *contestant) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, failoverStart)
	defer cancel()
	for _, one := range c.cases {
		err := harness.Until(ctx, c.name+" to answer "+one.name, func(context.Context) error {
			has := map[netip.Addr]bool{}
			for _, a := range addressesOf(c.at, one.name) {
				has[a] = true
			}
			if !has[one.victim.At.Addr()] || !has[one.standby.At.Addr()] {
				return fmt.Errorf("%v", has)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measure makes the victim fail at a random time, and queries until the answers no longer contain its address.
func (c *failoverCase) measure(ctx context.Context, at netip.AddrPort) error {
	time.Sleep(rand.N(failoverSpread))
	var failed time.Time
	var failure error
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		failed, failure = c.fault.begin(ctx, c)
	}()
	var last time.Time
	tick := time.NewTicker(failoverPace)
	defer tick.Stop()
	for range tick.C {
		sent := time.Now()
		for _, a := range addressesOf(at, c.name) {
			if a == c.victim.At.Addr() {
				last = sent
			}
		}
		select {
		case <-begun:
		case <-ctx.Done():
			return ctx.Err()
		default:
			continue
		}
		switch {
		case failure != nil:
			return failure
		case time.Since(failed) > failoverBound:
			c.took = -1
			return nil
		case time.Since(failed) > failoverQuiet && time.Since(last) > failoverQuiet:
			c.took = max(last.Sub(failed), 0)
			return nil
		}
	}
	return nil
}

// failoverSpread is the range of the random failure times. Failures therefore happen at random phases of the checks.
const failoverSpread = 10 * time.Second

// addressesOf returns the IPv4 addresses in the answer of a server; nil without an answer.
func addressesOf(at netip.AddrPort, name string) (list []netip.Addr) {
	client := &dns.Client{Timeout: failoverAnswer}
	reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA), at.String())
	if err != nil {
		return nil
	}
	for _, rr := range reply.Answer {
		if a, ok := rr.(*dns.A); ok {
			if addr, ok := netip.AddrFromSlice(a.A.To4()); ok {
				list = append(list, addr)
			}
		}
	}
	return list
}
