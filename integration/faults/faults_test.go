package faults_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/relay"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// relayed returns a site with one node, whose agents all connect through relays.
func relayed(t *testing.T, backends int) (*testbed.Site, []*relay.Relay) {
	t.Helper()
	s := testbed.NewSite(t, 1, backends)
	var relays []*relay.Relay
	for _, a := range s.Agents {
		r := relay.New(t, s.Nodes[0].Gossip)
		a.File.Agent.Gossip.OverwatchNodes[0] = r.At.String()
		relays = append(relays, r)
	}
	s.StartAll(t)
	return s, relays
}

// UDP only: agents that cannot send packets send their messages over TCP, and no agent is reported as silent.
//
// Fault 6.
func TestPartition_WithoutUDPAgentsUseTCP(t *testing.T) {
	t.Parallel()
	s, relays := relayed(t, 2)
	n := s.Nodes[0]
	for _, r := range relays {
		r.CutPackets.Store(true)
	}
	// The state at the start of the cut remains for a while in any case.
	s.HeardAlways(t, n, s.Backends[0], 3*s.Timing.StaleThreshold)
	killed := testbed.Kill(t, s.Backends[1])
	s.Gone(t, n, s.Backends[1].At.Addr(), killed, s.Timing.Detection())
	s.NoFailures(t, n, s.Began)
}

// Without any agent, the node's own checks preserve the answers. Without any backend, the answer is the configured
// fallback answer and never NXDOMAIN.
//
// Fault 9: All agents fail, then all backends. The answers do not change while the backends work. Then the answer is
// SERVFAIL, never NXDOMAIN.
func TestAllAgentsGone_AnswersStay(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 3)
	n := s.Nodes[0]
	for _, a := range s.Agents {
		testbed.Kill(t, a)
	}
	for _, b := range s.Backends {
		s.Status(t, n, b, s.Timing.StaleThreshold+time.Second+testbed.StaleResolution,
			testbed.StatusIs(api.EffectiveStale, true))
		s.Answered(t, n, b.At.Addr(), time.Now(), 5*time.Second)
	}
	s.NoFailures(t, n, s.Began)
	for _, b := range s.Backends {
		testbed.Kill(t, b)
	}
	ended := time.Now()
	testbed.Until(t, s.Timing.OwnDetection()+time.Second, "SERVFAIL", func(context.Context) error {
		for _, a := range s.Watch.Since(n, testbed.AppName, ended) {
			if a.Err == nil && a.Rcode == dns.RcodeNameError {
				t.Fatalf("the answer was that the name does not exist: %+v", a)
			}
			if a.Err == nil && a.Rcode == dns.RcodeServerFailure {
				return nil
			}
		}
		return errors.New("not yet")
	})
	for _, b := range s.Backends {
		testbed.Start(t, b)
	}
	back := time.Now()
	for _, b := range s.Backends {
		s.Answered(t, n, b.At.Addr(), back, s.Timing.Recovery()+5*time.Second)
	}
}

// With a full disk, DNS and health continue, durable changes are rejected with an error, and a new agent is not
// acknowledged. After space is freed, all functions recover automatically.
//
// Fault 13: The disk is full, or does not respond. DNS and health continue, and changes are rejected with 507 or
// 503.
func TestDiskFull_AnswersGoOnAndChangesAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		testbed.Missing(t, "a small disk of its own needs root")
	}
	disk := testbed.SmallDisk(t)
	s := testbed.NewSite(t, 1, 2)
	n, late := s.Nodes[0], s.Agents[1]
	n.File.DataDir = filepath.Join(disk, "data")
	s.Agents = s.Agents[:1]
	s.StartAll(t)

	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	// The first changes still fit into the space that the store has allocated.
	created, err := 0, error(nil)
	for ; err == nil && created < 5000; created++ {
		_, err = n.Client.CreateDomain(t.Context(), newDomain(created))
	}
	created-- // the last one was not
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusInsufficientStorage {
		t.Fatalf("creating a domain on a full disk: %v, want 507", err)
	}
	t.Logf("after %d domains: %v", created, err)
	if _, err := n.Client.Domain(t.Context(), newDomain(created).Text("name")); err == nil {
		t.Error("the domain that was refused is there")
	}
	if failing := testbed.Metric(t, n, "gslb_store_failing"); failing != 1 {
		t.Errorf("gslb_store_failing is %v on a full disk", failing)
	}
	testbed.Start(t, late)
	killed, err := s.Backends[0].Kill() // health goes on
	if err != nil {
		t.Fatal(err)
	}
	s.Gone(t, n, s.Backends[0].At.Addr(), killed, s.Timing.Detection())
	testbed.Start(t, s.Backends[0])
	s.Answered(t, n, s.Backends[0].At.Addr(), time.Now(), s.Timing.Recovery()+5*time.Second)
	if pins := s.Pins(t, n); len(pins) != 1 {
		t.Errorf("%d agents are pinned on a full disk, want the one of before", len(pins))
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Client.CreateDomain(t.Context(), newDomain(created)); err != nil {
		t.Errorf("creating a domain with room again: %v", err)
	}
	s.Status(t, n, s.Backends[1], 30*time.Second, testbed.WantSound)
	testbed.Until(t, time.Minute, "the node to see that there is room again", func(context.Context) error {
		if failing := testbed.Metric(t, n, "gslb_store_failing"); failing != 0 {
			return fmt.Errorf("gslb_store_failing is %v", failing)
		}
		return nil
	})
}

func newDomain(i int) api.DomainChange {
	return api.DomainChange{"name": fmt.Sprintf("new-%d.test.gslb.test", i), "regions": []string{"eu"}}
}

// fill writes until nothing more fits.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 512; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A node without free file descriptors answers over UDP and does not report backends as unhealthy for this reason. Then
// it recovers.
//
// Fault 27: The process has no free file descriptors. DNS over UDP continues, and no backend is reported as
// unhealthy for this reason.
func TestDescriptors_WithoutAnyLeftUDPIsAnsweredAndNobodyCalledUnhealthy(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	var before unix.Rlimit
	if err := unix.Prlimit(n.PID(), unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	scarce := unix.Rlimit{Cur: uint64(testbed.OpenFiles(t, n.PID())), Max: before.Max}
	if err := unix.Prlimit(n.PID(), unix.RLIMIT_NOFILE, &scarce, nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.Holds(t, "nobody is called unhealthy for checks that could not be made", func() error {
		testbed.Pause(t.Context(), 6*s.Timing.ValidationInterval) // many checks, which none can count without a descriptor
		for _, b := range s.Backends {
			recent := time.Now().Add(-2 * s.Timing.ValidationInterval)
			if last, _ := s.Watch.LastWith(n, testbed.AppName, b.At.Addr(), began); last.Before(recent) {
				return fmt.Errorf("%s was last answered %s after the descriptors had gone", b.Name, last.Sub(began))
			}
		}
		return nil
	})
	s.NoFailures(t, n, began)
	if err := unix.Prlimit(n.PID(), unix.RLIMIT_NOFILE, &before, nil); err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Backends {
		s.Status(t, n, b, 10*time.Second, testbed.WantSound)
		s.Answered(t, n, b.At.Addr(), began, time.Second)
	}
	s.NoFailures(t, n, s.Began)
	killed := testbed.Kill(t, s.Backends[0])
	s.Gone(t, n, s.Backends[0].At.Addr(), killed, s.Timing.Detection())
}

// A backend with hostile responses to checks becomes unhealthy with the reason, the other backends stay in the answers,
// and the memory of agent and node stays bounded.
//
// Fault 34: Backends send hostile responses to checks. Each backend is unhealthy with its reason.
func TestHostileBackends_AreUnhealthyWithTheReason(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 1)
	n := s.Nodes[0]
	hostile := map[string]func(net.Conn){
		"says nothing":          func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"closes at once":        func(net.Conn) {},
		"closes in mid-answer":  func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Le") },
		"is not HTTP":           func(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("\x16\x03\x01 garbage", 100)) },
		"drips its header":      func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\n", "X: y\r\n") },
		"has an endless header": func(c net.Conn) { endless(c, "HTTP/1.1 200 OK\r\nX: ", strings.Repeat("a", 64<<10)) },
		"redirects for ever": func(c net.Conn) {
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /health\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		},
	}
	at := byte(10)
	places := map[string]netip.AddrPort{}
	for name, behave := range hostile {
		at++
		place := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 3, at}), s.Backends[0].At.Port())
		l, err := net.Listen("tcp", place.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go serveBadly(l, behave)
		places[name] = place
		s.Agents[0].File.Agent.Backends = append(s.Agents[0].File.Agent.Backends, harness.AgentBackend{
			Service: testbed.AppName, Address: place.Addr(), Port: place.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
		})
	}
	s.StartAll(t)
	for name, place := range places {
		b := &harness.Backend{Unit: &harness.Unit{Name: name}, At: place}
		v := s.Status(t, n, b, s.Timing.OwnDetection()+3*time.Second, func(v api.Backend) error {
			if v.AgentHealthy == nil || *v.AgentHealthy || v.ValidationHealthy == nil || *v.ValidationHealthy {
				return errors.New("not yet found by both")
			}
			return testbed.WantStatus(v, api.EffectiveUnhealthy, false)
		})
		if v.ValidationError == nil || *v.ValidationError == "" {
			t.Errorf("a backend that %s has no reason: %+v", name, v)
			continue
		}
		t.Logf("a backend that %s: %s", name, *v.ValidationError)
	}
	memory, files := testbed.ResidentMiB(t, s.Agents[0].PID()), testbed.OpenFiles(t, s.Agents[0].PID())
	testbed.Pause(t.Context(), 5*time.Second) // some 16 checks of each
	if now := testbed.ResidentMiB(t, s.Agents[0].PID()); now > memory+32 {
		t.Errorf("the agent's memory went from %d to %d MiB", memory, now)
	}
	if now := testbed.OpenFiles(t, s.Agents[0].PID()); now > files+2*len(hostile) {
		t.Errorf("the agent's descriptors went from %d to %d", files, now)
	}
	s.NoFailures(t, n, s.Began)
}

func serveBadly(l net.Listener, behave func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			behave(c)
		}()
	}
}

// drip sends the first text once, and then the second text repeatedly and slowly.
func drip(c net.Conn, first, then string) {
	_, err := io.WriteString(c, first)
	for tick := time.NewTicker(50 * time.Millisecond); err == nil; _, err = io.WriteString(c, then) {
		<-tick.C
	}
}

// endless sends the first text once, and then the second text repeatedly at full speed.
func endless(c net.Conn, first, then string) {
	_, err := io.WriteString(c, first)
	for err == nil {
		_, err = io.WriteString(c, then)
	}
}

// Malformed packets from the node do not stop an agent, and the agent counts them.
//
// Fault 20: Malformed messages are encrypted with the correct gossip key. Each message is counted with its reason;
// agents and nodes continue.
func TestGarbage_TowardsAnAgentIsCountedAndHarmless(t *testing.T) {
	t.Parallel()
	s, relays := relayed(t, 1)
	garbage := make([]byte, 1200)
	// the previous messages may have been streams only
	testbed.Until(t, testbed.StartBound, "a packet of the agent's", func(context.Context) error {
		if !relays[0].Inject(garbage) {
			return errors.New("there is none")
		}
		return nil
	})
	for range 2000 {
		_, _ = rand.Read(garbage)
		relays[0].Inject(garbage)
	}
	s.HeardAlways(t, s.Nodes[0], s.Backends[0], 2*s.Timing.StaleThreshold)
	if !s.Agents[0].Running() {
		t.Error("the agent has ended")
	}
	testbed.Until(t, testbed.ToldBound, "the agent to count what it drops", func(context.Context) error {
		dropped := 0.0
		for _, reason := range []string{"size", "label", "cipher", "key", "malformed"} {
			dropped += testbed.MetricBy(t, http.DefaultClient, s.Agents[0].Prom,
				`gslb_agent_gossip_dropped_total{reason="`+reason+`"}`)
		}
		if dropped == 0 {
			return errors.New("it counts none")
		}
		return nil
	})
	s.NoFailures(t, s.Nodes[0], s.Began)
}
