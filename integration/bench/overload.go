//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// frozenFor is the time between SIGSTOP and SIGCONT to a node.
const frozenFor = 2 * time.Second

// overloads are the client's rates, as multiples of the node's capacity.
var overloads = []float64{1.2, 2, 5}

// overload limits a node to a fraction of a core, o.share, and sends more queries than the node can answer. It prints
// the rate and the age of the answers. In the last row, the load is half of the capacity, and the node is frozen for
// two seconds.
func overload(ctx context.Context, o options) error {
	scratch, err := os.MkdirTemp("", "gslb-overload-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	o.tell()
	fmt.Printf(
		"the node has %.0f %% of a core\n\n| server | queried | q/s | answered/s | of capacity | in time/s | p1 ms | "+
			"p50 ms | p99 ms | most ms | dropped by the kernel |\n|---|---|---|---|---|---|---|---|---|---|---|\n", o.share*100)
	var nodes []*overloaded
	for _, s := range all {
		if s.name != "gslb-weighted" && s.name != "gslb-weighted-before" {
			continue
		}
		begun, err := begin(ctx, o, s, 10, filepath.Join(scratch, s.name))
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		n := &overloaded{begun}
		end, err := confine(n.run.cmd.Process.Pid, filepath.Base(scratch)+s.name, o.share)
		defer func() {
			n.run.stop()
			end()
		}()
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	for range o.rounds {
		for _, n := range nodes {
			if err := n.round(ctx, o); err != nil {
				return fmt.Errorf("%s: %w", n.server.name, err)
			}
		}
	}
	return nil
}

// overloaded is a node with a fraction of a core.
type overloaded struct{ *subject }

// round measures the capacity of a node, overloads the node, and then freezes it.
func (n *overloaded) round(ctx context.Context, o options) error {
	many := o
	many.shape.window = 500
	seen, err := n.ask(ctx, many)
	if err != nil {
		return err
	}
	capacity := float64(seen.Answered) / seen.Seconds
	for _, times := range overloads {
		if err := n.steadily(ctx, o, fmt.Sprintf("%g x", times), times*capacity, capacity); err != nil {
			return err
		}
	}
	pid := n.run.cmd.Process.Pid
	freeze := time.AfterFunc(warmUp+500*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGSTOP) })
	thaw := time.AfterFunc(warmUp+500*time.Millisecond+frozenFor, func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	defer func() { freeze.Stop(); thaw.Stop(); _ = syscall.Kill(pid, syscall.SIGCONT) }()
	o.seconds = max(o.seconds, 4)
	return n.steadily(ctx, o, "0.5 x, frozen for 2 s", 0.5*capacity, capacity)
}

func (n *overloaded) steadily(ctx context.Context, o options, what string, rate, capacity float64) error {
	before := dropped(n.port)
	o.shape = shape{64, 1}
	seen, err := n.ask(ctx, o, "-rate", fmt.Sprint(rate), "-patience", "3s")
	if err != nil {
		return err
	}
	answered := float64(seen.Answered) / seen.Seconds
	fmt.Printf("| %s | %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.0f | %.0f | %.0f | %d |\n", n.server.name, what, rate,
		answered, answered/capacity, float64(seen.InTime)/seen.Seconds, seen.P1, seen.P50, seen.P99, seen.Most,
		dropped(n.port)-before)
	return nil
}

// confine limits a process to a fraction of a core with a separate control group, of version 1 or 2. The weight of the
// group is high, so that the process gets its fraction on a busy machine. end removes the group.
func confine(pid int, name string, share float64) (end func(), err error) {
	const period = 100_000 // microseconds
	quota := strconv.Itoa(int(share * period))
	dir, files := "/sys/fs/cgroup/cpu/"+name, [][2]string{{"cpu.cfs_period_us", strconv.Itoa(period)},
		{"cpu.cfs_quota_us", quota}, {"cpu.shares", "262144"}}
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		dir, files = "/sys/fs/cgroup/"+name, [][2]string{{"cpu.max", quota + " " + strconv.Itoa(period)},
			{"cpu.weight", "10000"}}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return func() {}, fmt.Errorf("this needs root and control groups: %w", err)
	}
	end = func() { _ = os.Remove(dir) }
	for _, f := range append(files, [2]string{"cgroup.procs", strconv.Itoa(pid)}) {
		if err := os.WriteFile(filepath.Join(dir, f[0]), []byte(f[1]), 0); err != nil {
			return end, err
		}
	}
	return end, nil
}
