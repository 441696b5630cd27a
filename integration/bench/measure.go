//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ticks is the number of units per second of CPU times in /proc (USER_HZ): 100 on every Linux.
const ticks = 100

// sample is a measurement of a server in a round.
type sample struct {
	cpu    float64   // CPU time of the server per answered query at saturation, in microseconds
	steady []float64 // the same at each steady rate
	rate   float64   // answered queries per second
	other  float64   // cores that other processes used in the meantime: noise
	memory float64   // resident memory in MiB
	ready  float64   // milliseconds from the start to the first answer
	failed uint64    // wrong or lost responses
}

// measure starts a server, measures it at saturation and at each steady rate, and stops it. An error that begins with
// "skipped" means that the server cannot be measured on this machine.
func measure(ctx context.Context, o options, of server, names int, dir string) (sample, error) {
	s, err := begin(ctx, o, of, names, dir)
	if err != nil {
		return sample{}, err
	}
	defer s.run.stop()
	short := o
	short.seconds = 0.2
	if _, err := s.ask(ctx, short); err != nil { // the first queries have cold caches
		return sample{}, err
	}
	settle(s.run.cmd.Process.Pid)
	clientBefore, busy, at := ownChildren(), machineBusy(), time.Now()
	seen, spent, err := s.cost(ctx, o)
	if err != nil {
		return sample{}, err
	}
	wall, others, client := time.Since(at).Seconds(), machineBusy()-busy, ownChildren()-clientBefore
	if seen.Answered == 0 {
		return sample{}, fmt.Errorf("skipped: no query was answered, %d wrongly", seen.Wrong)
	}
	one := sample{
		cpu: spent / float64(seen.All) * 1e6, rate: float64(seen.Answered) / seen.Seconds, failed: seen.Wrong + seen.Lost,
		other: (others - spent - client) / wall, memory: memory(session(s.run.cmd.Process.Pid)),
		ready: float64(s.ready.Milliseconds()),
	}
	for _, rate := range o.rates {
		seen, spent, err := s.cost(ctx, o, "-rate", fmt.Sprint(rate))
		if err != nil {
			return sample{}, err
		}
		if seen.All == 0 {
			return sample{}, fmt.Errorf("skipped: at %g queries a second none was answered", rate)
		}
		one.steady = append(one.steady, spent/float64(seen.All)*1e6)
	}
	return one, nil
}

// settle waits until a server has been idle for six seconds, for at most five minutes. The work of the start, such as
// garbage collection or signing, ends in that time. gslb with 100 000 names stores the status of their 400 000 servers
// for three and a half minutes. It counts the answers per destination every 15 seconds, which takes longer for new
// names.
func settle(group int) {
	const look, enough, atMost, inARow = 500 * time.Millisecond, 0.01, 5 * time.Minute, 12
	for end, idle := time.Now().Add(atMost), 0; idle < inARow && time.Now().Before(end); {
		before := cpuOf(session(group))
		time.Sleep(look)
		if idle++; cpuOf(session(group))-before > enough {
			idle = 0
		}
	}
}

// cost calls ask, and returns the CPU time of the server during the call, in seconds.
func (s *subject) cost(ctx context.Context, o options, flags ...string) (seen tally, spent float64, err error) {
	before := cpuOf(session(s.run.cmd.Process.Pid))
	seen, err = s.ask(ctx, o, flags...)
	return seen, cpuOf(session(s.run.cmd.Process.Pid)) - before, err
}

// ask runs the load client on the last core, with the questions for the server and further flags.
func (s *subject) ask(ctx context.Context, o options, flags ...string) (seen tally, err error) {
	self, err := os.Executable()
	if err != nil {
		return seen, err
	}
	args := []string{"-c", strconv.Itoa(cores() - 1), self, loadCommand, "-port", strconv.Itoa(s.port), "-names",
		strconv.Itoa(s.names), "-seconds", fmt.Sprint(o.seconds), "-sockets", strconv.Itoa(o.shape.sockets), "-window",
		strconv.Itoa(o.shape.window), "-ask", string(s.server.asking), fmt.Sprintf("-signed=%t", s.server.signed)}
	cmd := exec.CommandContext(ctx, "taskset", append(args, flags...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return seen, fmt.Errorf("load client: %w", err)
	}
	return seen, json.Unmarshal(out, &seen)
}

// freePort returns a port of 127.0.0.1 that is free over UDP and TCP.
func freePort() (int, error) {
	for {
		tcp, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := tcp.Addr().(*net.TCPAddr).Port
		udp, err := net.ListenPacket("udp4", tcp.Addr().String())
		_ = tcp.Close()
		if err == nil {
			return port, udp.Close()
		}
	}
}

func cores() int { return runtime.NumCPU() }

// load returns the machine's load averages.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

// session returns the processes of a session. The children of a server belong to the session of the server.
func session(id int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		fields := statFields(path)
		if len(fields) > 3 && fields[3] == strconv.Itoa(id) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// statFields returns the fields after the command in /proc/PID/stat: state, parent, group, session ... It returns nil
// if the process has ended.
func statFields(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	return strings.Fields(rest)
}

// cpuOf returns the CPU time of living processes in seconds, including the kernel's work for them.
func cpuOf(pids []int) (seconds float64) {
	for _, pid := range pids {
		if used, err := processTime(pid); err == nil {
			seconds += used.Seconds()
		}
	}
	return seconds
}

// ownChildren returns the CPU time of this process's ended children, in seconds.
func ownChildren() float64 {
	fields := statFields("/proc/self/stat")
	return (number(fields[13]) + number(fields[14])) / ticks
}

// machineBusy returns the total busy time of all cores, in seconds.
func machineBusy() float64 {
	text, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(text), "\n")
	f := strings.Fields(first)
	return (number(f[1]) + number(f[2]) + number(f[3]) + number(f[6]) + number(f[7])) / ticks
}

// memory returns the resident memory of processes, in MiB. Shared pages are counted for each process.
func memory(pids []int) (mebibytes float64) {
	for _, pid := range pids {
		if fields := statFields(fmt.Sprintf("/proc/%d/stat", pid)); len(fields) > 21 {
			mebibytes += number(fields[21]) * float64(os.Getpagesize()) / (1 << 20)
		}
	}
	return mebibytes
}

func number(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}
