//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

const (
	changingNames = 16 // maximum number of services of an agent
	changingEach  = 4  // backends of each name: 64, the maximum for an agent
	changingCheck = 64 * time.Millisecond
	followBound   = 20 * time.Second
	changesToken  = "0123456789abcdef0123456789abcdef"
)

func changingName(i int) string { return fmt.Sprintf("c%02d.%s", i, zoneName) }

// patients is an HTTP server for the health checks of all backends. The path of a check contains the number of its
// backend.
type patients struct {
	port    int
	mode    atomic.Int32 // 0: constant; 1: one backend changes per second; 2: each backend changes at each check
	turns   [changingNames * changingEach]atomic.Uint32
	changes atomic.Uint64 // answers that differ from the previous answer for the same backend
}

func (p *patients) serve() (stop func(), err error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.port = listener.Addr().(*net.TCPAddr).Port
	server := &http.Server{Handler: p}
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }, nil
}

// ServeHTTP answers a check of the backend with the number in the path.
func (p *patients) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || i < 0 || i >= len(p.turns) {
		http.NotFound(w, r)
		return
	}
	before := p.turns[i].Load()
	ill := uint32(0)
	switch p.mode.Load() {
	case 1:
		if i == 0 {
			ill = uint32(time.Now().Unix() & 1)
		}
	case 2:
		ill = 1 - before
	}
	if p.turns[i].Swap(ill) != ill {
		p.changes.Add(1)
	}
	if ill == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// changes measures the cost of health changes for a node with many names, and their effect on clients. An agent watches
// backends that never change, that change once per second, or that change at every check. A client queries the other
// names at a steady rate.
func changes(ctx context.Context, o options) error {
	scratch, err := os.MkdirTemp("", "gslb-changes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	names := o.names[len(o.names)-1]
	fmt.Printf("%s, %d cores, load %s, %d rounds of %g s, %d names, %g queries a second\n",
		time.Now().Format(time.DateTime), cores(), load(), o.rounds, o.seconds, names, o.rate)
	var subjects []*changing
	for i, env := range strings.Split(o.env, ";") {
		c := &changing{env: strings.Fields(env)}
		stop, err := c.start(ctx, o, names, filepath.Join(scratch, strconv.Itoa(i)))
		defer stop()
		if err != nil {
			return fmt.Errorf("with %q: %w", env, err)
		}
		subjects = append(subjects, c)
	}
	for range o.rounds { // alternating, so that other load affects all modes equally
		for _, c := range subjects {
			for mode := range c.results {
				if err := c.phase(ctx, o, mode); err != nil {
					return fmt.Errorf("with %q: %w", c.env, err)
				}
			}
		}
	}
	fmt.Println(
		"\n| environment | changes/s | p50 ms | p99 ms | p99.9 ms (each round) | most ms | lost | CPU of the node | CPU " +
			"us per change | until all were followed ms | collections | MiB |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range subjects {
		c.report()
	}
	return nil
}

// changing is a node with an agent, and its results.
type changing struct {
	*subject

	env      []string
	patients patients
	output   string           // file with the output of the node
	results  [3][]phaseResult // by mode
}

type phaseResult struct {
	seen    tally
	cpu     float64 // cores that the node used
	changes float64 // changes per second
	follow  time.Duration
	gcs     float64 // garbage collections of the node, counted by GODEBUG=gctrace=1
}

// start starts a node and an agent, and waits until the node answers with all backends of the agent.
func (c *changing) start(ctx context.Context, o options, names int, dir string) (stop func(), err error) {
	stop = func() {}
	c.output = filepath.Join(dir, "output")
	gossip, err := freePort()
	if err != nil {
		return stop, err
	}
	closing, err := c.patients.serve()
	if err != nil {
		return stop, err
	}
	stop = closing
	node := server{name: "gslb-changing", environment: c.env, prepare: func(at setup) ([]string, error) {
		f := c.node(at, gossip)
		path, err := f.writeOverwatch(at, "weighted")
		return []string{filepath.Join(at.bin, "gslb-overwatch"), "--config", path}, err
	}}
	if c.subject, err = begin(ctx, o, node, names, dir); err != nil {
		return stop, err
	}
	path, err := c.agent(dir, gossip).write(dir, "agent.yaml")
	if err != nil {
		return stop, err
	}
	agent := exec.Command("taskset", "-c", strconv.Itoa(cores()-1), filepath.Join(o.bin, "gslb-agent"), "--config", path)
	agent.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := os.Create(filepath.Join(dir, "agent-output"))
	if err != nil {
		return stop, err
	}
	defer out.Close()
	agent.Stdout, agent.Stderr = out, out
	if err := agent.Start(); err != nil {
		return stop, err
	}
	stop = func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
		c.run.stop()
		closing()
	}
	if _, err := c.followed(30 * time.Second); err != nil {
		return stop, fmt.Errorf("%w; last line of the agent: %s", err, lastLine(filepath.Join(dir, "agent-output")))
	}
	settle(c.run.cmd.Process.Pid)
	return stop, nil
}

func (c *changing) node(at setup, gossip int) *file {
	f := overwatchFile(at, "weighted", unsigned, func(f *file) {
		f.line("  agent_tokens:")
		for i := range changingNames {
			f.line("    %s: %s", changingName(i), changesToken)
		}
		f.line("  gossip: {bind_address: \"127.0.0.1:%d\", encryption_key: %q}", gossip, gossipKey())
	})
	f.line("domains:")
	for i := range changingNames {
		f.line("  - {name: %s, routing_algorithm: weighted, regions: [r1], ttl: 60}", changingName(i))
	}
	return f
}

func (c *changing) agent(dir string, gossip int) *file {
	f := &file{}
	f.line("mode: agent\ndata_dir: %s\nagent:", filepath.Join(dir, "agent-data"))
	f.line("  identity:\n    agent_id: bench\n    region: r1\n    service_tokens:")
	for i := range changingNames {
		f.line("      %s: %s", changingName(i), changesToken)
	}
	f.line("  gossip: {encryption_key: %q, overwatch_nodes: [\"127.0.0.1:%d\"]}", gossipKey(), gossip)
	f.line("  drain_time: 0s\n  backends:")
	for i := range changingNames * changingEach {
		f.line("    - {service: %s, address: 127.0.0.%d, port: %d, weight: 10, health_check: {type: http, path: /%d, "+
			"address: 127.0.0.1, "+
			"interval: %s, timeout: %[5]s, failure_threshold: 1, success_threshold: 1}}", changingName(i/changingEach),
			1+i%changingEach, c.patients.port, i, changingCheck)
	}
	f.line("logging: {level: error, format: json}\nmetrics: {enabled: false}")
	return f
}

// phase measures a round in one mode.
func (c *changing) phase(ctx context.Context, o options, mode int) error {
	c.patients.mode.Store(int32(mode))
	count, collected, began := c.patients.changes.Load(), c.collections(), time.Now()
	seen, spent, err := c.cost(ctx, o, "-rate", fmt.Sprint(o.rate))
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	r := phaseResult{seen: seen, cpu: spent / took,
		changes: float64(c.patients.changes.Load()-count) / took,
		gcs:     float64(c.collections() - collected)}
	c.patients.mode.Store(0)
	if r.follow, err = c.followed(followBound); err != nil {
		return err
	}
	c.results[mode] = append(c.results[mode], r)
	return nil
}

func (c *changing) collections() int {
	text, _ := os.ReadFile(c.output)
	return strings.Count("\n"+string(text), "\ngc ")
}

// followed waits until the node answers every name with each of its healthy backends. It returns the duration of the
// wait, which includes the time of the checks.
func (c *changing) followed(bound time.Duration) (time.Duration, error) {
	client := &dns.Client{Timeout: time.Second}
	began := time.Now()
	for i := 0; i < changingNames; {
		met := map[string]bool{}
		for range 4 * changingEach {
			reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(changingName(i)+".", dns.TypeA),
				"127.0.0.1:"+strconv.Itoa(c.port))
			if err == nil && len(reply.Answer) == 1 {
				met[reply.Answer[0].(*dns.A).A.String()] = true
			}
		}
		if len(met) == changingEach {
			i++
			continue
		}
		if time.Since(began) > bound {
			return 0, errors.New("the node has not followed the changes in " + bound.String())
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(began), nil
}

func (c *changing) report() {
	quiet := 0.0
	for mode, list := range c.results {
		median := func(of func(phaseResult) float64) float64 {
			var values []float64
			for _, r := range list {
				values = append(values, of(r))
			}
			m, _, _ := spread(values)
			return m
		}
		cpu, rate := median(func(r phaseResult) float64 { return r.cpu }),
			median(func(r phaseResult) float64 { return r.changes })
		each := "-"
		if mode == 0 {
			quiet = cpu
		} else if mode == 2 && rate > 0 {
			each = fmt.Sprintf("%.0f", (cpu-quiet)/rate*1e6)
		}
		lost, high := uint64(0), ""
		for _, r := range list {
			lost += r.seen.Lost + r.seen.Wrong
			high += fmt.Sprintf(" %.2f", r.seen.P999)
		}
		fmt.Printf("| %s | %.0f | %.2f | %.2f |%s | %.1f | %d | %.2f | %s | %.0f | %.0f | %.0f |\n", strings.Join(c.env, " "),
			rate,
			median(func(r phaseResult) float64 { return r.seen.P50 }), median(func(r phaseResult) float64 { return r.seen.P99 }),
			high,
			median(func(r phaseResult) float64 { return r.seen.Most }), lost, cpu, each,
			median(func(r phaseResult) float64 { return r.follow.Seconds() * 1000 }),
			median(func(r phaseResult) float64 { return r.gcs }), memory(session(c.run.cmd.Process.Pid)))
	}
}
