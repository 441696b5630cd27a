package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/attack"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// tightMemory is the memory limit of the Go runtime of a node during an attack (fault 28). tightBound is the maximum
// memory of the process, which is higher because the limit is approximate and excludes memory of the kernel.
const (
	tightMemory = "GOMEMLIMIT=64MiB"
	tightBound  = 128 << 20
)

// Malformed messages, random names and queries for all types arrive at the same time. A steady client receives every
// answer in time.
//
// Fault 24: Malformed queries, random names and queries for ANY flood the DNS port. Other clients receive all
// answers.
func TestFlood_OfDNSDisturbsNoClient(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	before, began := testbed.Memory(t, n.PID()), time.Now()
	end := attack.Storms(t, n.DNS, attack.Noise, attack.Malformed, attack.RandomName, attack.Anything)
	tcpAnswers(t, n, 5*time.Second)
	t.Logf("%d packets in %s", end(), time.Since(began).Round(time.Millisecond))
	steady(t, s, n, began, slowest)
	if grown := testbed.Memory(t, n.PID()) - before; grown > floodMemory {
		t.Errorf("memory grew by %d MiB, allowed are %d", grown>>20, floodMemory>>20)
	}
	s.Status(t, n, s.Backends[0], time.Second, testbed.WantSound)
}

// TCP clients that send nothing, send single octets, or never read their answers do not prevent answers over UDP or
// over a new connection.
//
// Fault 25: 3 000 TCP clients on the DNS port are idle, slow, or read no answer. Other clients receive all answers.
func TestCrowd_OfTCPClientsOnDNSKeepsNobodyOut(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	before, began := testbed.Memory(t, n.PID()), time.Now()
	tcpCrowd(t, n, 3000)
	var open float64 // before the node gives up on those that say nothing
	testbed.Until(t, testbed.StartBound, "1000 connections to be open, without which the test tests nothing",
		func(context.Context) error {
			if open = testbed.Metric(t, n, "gslb_dns_tcp_connections"); open < 1000 {
				return fmt.Errorf("%v are", open)
			}
			return nil
		})
	t.Logf("3000 connections after %s", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	tcpAnswers(t, n, 4*time.Second)
	steady(t, s, n, began, slowest)
	grown := testbed.Memory(t, n.PID()) - before
	t.Logf("%v connections are open, memory grew by %d MiB", open, grown>>20)
	if grown > floodMemory {
		t.Errorf("memory grew by %d MiB, allowed are %d", grown>>20, floodMemory>>20)
	}
}

// manyConnections is the number of TCP connections that one test opens. Each needs a file descriptor. It exceeds the
// maximum of a node, 4096.
const manyConnections = 10_000

// With 10 000 connections, new connections replace the connections that have waited longest. A client with queries is
// served, and the memory for the connections is bounded.
func TestCrowd_OfTenThousandOnDNSTakesBoundedRoom(t *testing.T) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < manyConnections+200 {
		t.Skipf("this process may open %d files: run ulimit -n %d before", files.Cur, manyConnections+1000)
	}
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	before, began := testbed.Memory(t, n.PID()), time.Now()
	attack.Crowd(t, n.DNS, manyConnections, attack.Silent)
	t.Logf("%d connections after %s", manyConnections, time.Since(began).Round(time.Millisecond))
	tcpAnswers(t, n, 2*time.Second)
	s.NoFailures(t, n, s.Began)
	const kept = 4096
	open, ended := testbed.Metric(t, n, "gslb_dns_tcp_connections"),
		testbed.Metric(t, n, `gslb_dns_tcp_evicted_total{limit="total"}`)+testbed.Metric(t, n,
			`gslb_dns_tcp_closed_total{reason="idle"}`)
	grown := testbed.Memory(t, n.PID()) - before
	t.Logf("%v connections are open, %v were closed, memory grew by %d MiB", open, ended, grown>>20)
	if open > kept || ended < manyConnections*9/10-kept {
		t.Errorf("%v connections are open and %v were closed; at most %d may be open", open, ended, kept)
	}
	if grown > floodMemory {
		t.Errorf("memory grew by %d MiB, allowed are %d", grown>>20, floodMemory>>20)
	}
}

// tcpCrowd opens connections to a node's DNS port: half of them send nothing, most of the others send slowly, some
// never read.
func tcpCrowd(t *testing.T, n *harness.Node, count int) {
	t.Helper()
	mute, deafs := count/2, count/15
	attack.Crowd(t, n.DNS, mute, attack.Silent)
	attack.Crowd(t, n.DNS, count-mute-deafs, attack.Dripping(string([]byte{0, 40, 1, 2, 3, 4, 5, 6, 7}), time.Second))
	attack.Crowd(t, n.DNS, deafs, attack.Deaf)
}

// Connections to the API with incomplete or slow requests do not affect DNS, and other clients receive answers within a
// second.
//
// Fault 26: 600 connections to the API send slow or incomplete requests. Other clients receive all answers.
func TestCrowd_OnTheAPIKeepsNobodyOut(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	began := time.Now()
	attack.OnAPI(t, n.API, 600)
	slowestAnswer := apiAnswers(t, n, 5*time.Second)
	t.Logf("600 connections; the slowest answer of the API took %s", slowestAnswer.Round(time.Millisecond))
	steady(t, s, n, began, slowest)
}

// apiAnswers queries a node's API over a new connection each time, and fails the test for each answer that takes a
// second.
func apiAnswers(t *testing.T, n *harness.Node, over time.Duration) (longest time.Duration) {
	t.Helper()
	began := time.Now()
	testbed.During(t, over, 50*time.Millisecond, func() {
		client, err := api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Timeout: testbed.Patience})
		if err != nil {
			t.Fatal(err)
		}
		asked := time.Now()
		if _, err := client.Backends(t.Context(), api.BackendFilter{}); err != nil {
			t.Fatalf("the API, %s after the beginning: %v", time.Since(began), err)
		}
		answered := time.Now()
		longest = max(longest, answered.Sub(asked))
		testbed.InTime(t, "an answer of the API", time.Second, asked, answered)
	})
	return longest
}

// Random data arrives on every port at the same time: faults 18, 19, 24, 25 and 26 together. Under a tight memory
// limit, the node answers every lookup, receives reports of its agents, detects the failure of a backend, and stays
// within its memory limit. GSLB_FULL uses the volume of each separate fault.
//
// Fault 28: All ports are flooded at the same time, with `GOMEMLIMIT=64MiB`. No lookup fails.
func TestFlood_OnEveryPortAtOnceUnderATightMemoryLimit(t *testing.T) {
	s := testbed.NewSite(t, 1, 2)
	n := s.Nodes[0]
	n.Env = append(slices.Clone(n.Env), tightMemory)
	s.StartAll(t)
	began := time.Now()
	endDNS := attack.Storms(t, n.DNS, attack.Noise, attack.Malformed, attack.RandomName, attack.Anything)
	endGossip := attack.Storms(t, n.Gossip, attack.Noise, attack.Framed)
	ctx, cancel := context.WithCancel(t.Context())
	streams := garbageStreams(ctx, t, n.DNS, n.Gossip, n.API, n.Prom, s.Agents[0].Prom)
	idleStreams(t, n.Gossip, testbed.InFull(2000, 300))
	tcpCrowd(t, n, testbed.InFull(3000, 1500))
	attack.OnAPI(t, n.API, testbed.InFull(600, 150))
	tcpAnswers(t, n, 3*time.Second)
	killed := testbed.Kill(t, s.Backends[0])
	s.Gone(t, n, s.Backends[0].At.Addr(), killed, s.Timing.Detection()+time.Second) // the machine is full
	most := testbed.Memory(t, n.PID())
	cancel()
	t.Logf("%d packets, %d streams in %s; memory %d MiB", endDNS()+endGossip(), streams(),
		time.Since(began).Round(time.Millisecond), most>>20)
	if most > tightBound {
		t.Errorf("the node has %d MiB, allowed are %d", most>>20, tightBound>>20)
	}
	steady(t, s, n, began, slowest)
	s.Status(t, n, s.Backends[1], 5*time.Second, func(v api.Backend) error {
		if v.AgentLastSeen == nil || time.Since(*v.AgentLastSeen) > 2*s.Timing.Heartbeat {
			return errors.New("its agent is not heard")
		}
		return testbed.WantStatus(v, api.EffectiveHealthy, true)
	})
	for _, u := range []*harness.Unit{n.Unit, s.Agents[0].Unit} {
		if !u.Running() {
			t.Errorf("%s has ended", u.Name)
		}
	}
}

// garbageStreams sends random data to some TCP ports, one connection after the other, until ctx ends. The returned
// function waits for the end and returns the number of connections.
func garbageStreams(ctx context.Context, t *testing.T, to ...netip.AddrPort) func() int {
	t.Helper()
	count := make(chan int, len(to))
	for k, at := range to {
		go func() {
			made := 0
			random := rand.New(rand.NewPCG(3, uint64(k)))
			for range testbed.Every(ctx, 10*time.Millisecond) {
				made++
				c, err := attack.Stranger("tcp", made).DialContext(ctx, "tcp", at.String())
				if err == nil {
					_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
					_, _ = c.Write(attack.Noise(random))
					_ = c.Close()
				}
			}
			count <- made
		}()
	}
	return func() (made int) {
		for range to {
			made += <-count
		}
		return made
	}
}
