package faults_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/fleet"
	"gslb.internal/integration/harness/relay"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/wire"
)

// An agent that changes its report about its own backend ten times a second causes a bounded number of publications,
// few log lines and little CPU use. Other backends are not affected.
//
// Fault 4.
func TestFlap_AnAgentThatChangesItsMindTenTimesASecond(t *testing.T) {
	const over = 6 * time.Second
	s := testbed.NewSite(t, 1, 2)
	n := s.Nodes[0]
	// The check of the agent changes with every attempt. The check of the node succeeds.
	var flapping atomic.Bool
	var looks atomic.Int64
	looked := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 3, 50}), s.Backends[0].At.Port())
	l, err := net.Listen("tcp", looked.String())
	if err != nil {
		t.Fatal(err)
	}
	moody := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if look := looks.Add(1); flapping.Load() && look%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}
	go func() { _ = moody.Serve(l) }()
	t.Cleanup(func() { _ = moody.Close() })
	check := &s.Agents[0].File.Agent.Backends[0].HealthCheck
	check.Address = looked.Addr().String()
	check.Interval, check.Timeout, check.FailureThreshold, check.SuccessThreshold = 100*time.Millisecond,
		100*time.Millisecond, 1, 1
	s.StartAll(t)

	const publications = "gslb_dns_publications_total"
	lines := func() int { return linesAbout(s.Backends[0], n.Unit, s.Agents[0].Unit) }
	cost := func(d time.Duration) time.Duration {
		before := testbed.Cpu(t, n.PID())
		testbed.Pause(t.Context(), d) // over which processor time is measured
		return testbed.Cpu(t, n.PID()) - before
	}
	quiet := cost(over / 2)
	before, told, first := testbed.Metric(t, n, publications), lines(), looks.Load()
	began := time.Now()
	flapping.Store(true)
	busy := cost(over) / 2
	flapping.Store(false)
	seconds := time.Since(began).Seconds()
	published, changes, logged := testbed.Metric(t, n, publications)-before, looks.Load()-first, lines()-told
	t.Logf("%d changes in %.1f s: %v publications, %d lines, processor %s in %s instead of %s", changes, seconds,
		published, logged, busy, over/2, quiet)
	if changes < 10 {
		t.Errorf("only %d changes in %.1f s: the test tests nothing", changes, seconds)
	}
	if most := 12 * seconds; published > most {
		t.Errorf("%v publications in %.1f s, want %v at most", published, seconds, most)
	}
	if float64(logged) > 2*seconds {
		t.Errorf("%d lines in the logs of node and agent in %.1f s", logged, seconds)
	}
	if extra, allowed := busy-quiet, likeOurs(over/2/10); extra > allowed {
		t.Errorf("the node took %s of processor time more in %s, allowed are %s, a tenth of a core like ours", extra, over/2,
			allowed)
	}
	for range testbed.QuietAnswers {
		s.Answered(t, n, s.Backends[1].At.Addr(), time.Now(), time.Second)
	}
	s.Status(t, n, s.Backends[1], time.Second, testbed.WantSound)
	s.Status(t, n, s.Backends[0], testbed.StartBound, testbed.WantSound)
	s.NoFailures(t, n, s.Began)
}

// linesAbout counts the latest log lines of some programs about a backend. On a busy machine there may also be lines
// about other backends.
func linesAbout(b *harness.Backend, units ...*harness.Unit) (count int) {
	for _, u := range units {
		for _, l := range u.Output() {
			if strings.Contains(l.Text, b.At.String()) {
				count++
			}
		}
	}
	return count
}

// verification is the time for one Ed25519 verification on a core of the small reference server for the promises.
const verification = 60 * time.Microsecond

// likeOurs scales a promised processor time by the time that this machine needs to verify a signature. The result is at
// least the promise.
func likeOurs(promise time.Duration) time.Duration {
	public, private, _ := ed25519.GenerateKey(nil)
	message := make([]byte, 100)
	signature := ed25519.Sign(private, message)
	best := time.Hour
	for range 50 {
		began := time.Now()
		ed25519.Verify(public, message, signature)
		best = min(best, time.Since(began))
	}
	return max(promise, time.Duration(float64(promise)*float64(best)/float64(verification)))
}

// The rate limit of a node for the messages of one agent: the burst, and the rate per second.
const (
	agentBurst = 200
	agentRate  = 50
)

// An agent with a valid token reports its own backend healthy and unhealthy at the maximum rate that the node accepts.
//
// Fault 4.
func TestFlap_AnAgentThatChangesItsMindAsFastAsItCan(t *testing.T) {
	const over = 4 * time.Second
	s := testbed.NewSite(t, 1, 3)
	n, own := s.Nodes[0], s.Backends[2]
	s.Agents = s.Agents[:2]
	s.StartAll(t)
	moody, err := fleet.New(t.TempDir(), 1, fleet.Cipher(t, s.GossipKey), n.Gossip, testbed.AppName,
		s.Tokens[testbed.AppName], nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { moody.Close() })
	moody.Backends = moody.Backends[:1]
	moody.Backends[0].Address, moody.Backends[0].Port = own.At.Addr(), own.At.Port()
	moody.Registers(t)
	moody.Keeps(t)
	s.Status(t, n, own, testbed.StartBound, testbed.WantSound)

	const publications = "gslb_dns_publications_total"
	lines := func() int { return linesAbout(own, n.Unit) }
	before, used, told := testbed.Metric(t, n, publications), testbed.Cpu(t, n.PID()), lines()
	began, sent := time.Now(), 0
	// A slow machine may need longer to exceed the limit.
	tooMuch := func() bool {
		return testbed.Metric(t, n, `gslb_gossip_dropped_total{reason="agent_rate"}`) > 0 ||
			time.Since(began) > over+testbed.Patience
	}
	for ; time.Since(began) < over || !tooMuch(); sent++ {
		moody.Backends[0].Claim = []wire.Claim{wire.ClaimUnhealthy, wire.ClaimHealthy}[sent%2]
		_ = moody.Beat() // refused or not
	}
	seconds := time.Since(began).Seconds()
	published, took := testbed.Metric(t, n, publications)-before, testbed.Cpu(t, n.PID())-used
	t.Logf("%d changes in %.1f s: %v publications, %d lines, processor %s", sent, seconds, published, lines()-told, took)
	testbed.Counts(t, n, "what is too much of it", `gslb_gossip_dropped_total{reason="agent_rate"}`)
	if most := agentBurst + agentRate*seconds*1.2; published > most {
		t.Errorf("%v publications in %.1f s, want %v at most", published, seconds, most)
	}
	if logged := lines() - told; float64(logged) > 2*seconds {
		t.Errorf("%d lines in the node's log in %.1f s", logged, seconds)
	}
	if over := time.Duration(seconds * float64(time.Second)); took > likeOurs(over/4) {
		t.Errorf("the node took %s of processor time in %s, allowed are %s, a quarter of a core like ours", took, over,
			likeOurs(over/4))
	}
	ended := time.Now()
	for _, b := range s.Backends[:2] {
		s.Answered(t, n, b.At.Addr(), ended, 5*time.Second)
		s.Status(t, n, b, time.Second, testbed.WantSound)
	}
	s.NoFailures(t, n, s.Began)
}

// Disconnected nodes answer as before with their keys, and report the partition in status and metric. After the
// partition, they agree again.
//
// Fault 8: The network between nodes is cut. Keys and answers do not change, and the nodes report the cut.
func TestPartition_NodesCutOffFromOneAnotherAnswerWithTheKeysTheyHave(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 2, 2)
	a, b := s.Nodes[0], s.Nodes[1]
	to := [2]*relay.Relay{relay.New(t, b.API), relay.New(t, a.API)}
	for i, n := range s.Nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: time.Second,
			Secret: "a secret of the nodes, in more than 32 characters", Peers: []string{"http://" + to[i].At.String()}}
	}
	s.StartAll(t)
	keys := signed.SameKeys(t, 1, a, b)
	synced := func(want float64, peerOK bool) func(context.Context) error {
		return func(ctx context.Context) error {
			for _, n := range s.Nodes {
				status, err := n.Client.DNSSECStatus(ctx)
				if err != nil {
					return err
				}
				if len(status.Sync.Peers) != 1 || status.Sync.Peers[0].OK != peerOK ||
					(status.Sync.Peers[0].Error == nil) != peerOK {
					return fmt.Errorf("the status of %s is %+v", n.Name, status.Sync)
				}
				if got := testbed.Metric(t, n, "gslb_dnssec_sync_success"); got != want {
					return fmt.Errorf("gslb_dnssec_sync_success of %s is %v", n.Name, got)
				}
			}
			return nil
		}
	}
	testbed.Until(t, testbed.KeyBound, "the nodes to have exchanged keys", synced(1, true))
	cut := time.Now()
	for _, r := range to {
		r.Cut.Store(true)
	}
	testbed.Until(t, 30*time.Second, "the nodes to say that they are cut off", synced(0, false))
	t.Logf("said %s after the cut", time.Since(cut).Round(time.Millisecond))
	for _, n := range s.Nodes {
		if tags, err := testbed.KeyTags(t.Context(), n); err != nil || !slices.Equal(tags, keys) {
			t.Errorf("%s has keys %v, before %v (%v)", n.Name, tags, keys, err)
		}
	}
	killed := testbed.Kill(t, s.Backends[0])
	for _, n := range s.Nodes {
		s.Gone(t, n, s.Backends[0].At.Addr(), killed, s.Timing.Detection())
	}
	for _, r := range to {
		r.Cut.Store(false)
	}
	testbed.Until(t, testbed.KeyBound, "the nodes to exchange keys again", synced(1, true))
	for _, n := range s.Nodes {
		if tags, err := testbed.KeyTags(t.Context(), n); err != nil || !slices.Equal(tags, keys) {
			t.Errorf("%s has keys %v, before %v (%v)", n.Name, tags, keys, err)
		}
		s.NoFailures(t, n, s.Began)
	}
}

// The documented recovery: after --reset-identity, an agent with a reissued certificate reconnects automatically, and a
// revoked agent reconnects after its entry is deleted. Its backend returns to the answers each time. The other backend
// is not affected.
//
// Fault 22.
func TestTrust_TheWaysBackOfACertificate(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n, agent, b := s.Nodes[0], s.Agents[0], s.Backends[0]
	reset := func() {
		t.Helper()
		testbed.Stop(t, agent)
		testbed.Command(t, testbed.Binaries(t).Agent, "--config", agent.Path, "--reset-identity").Want(t, testbed.ExitOK)
		testbed.Start(t, agent)
	}
	pinned := s.Pins(t, n)[agent.Name]
	back := func(how string) {
		t.Helper()
		since := time.Now()
		s.Status(t, n, b, testbed.ReconnectBound, testbed.SoundSince(since))
		s.Answered(t, n, b.At.Addr(), since, 5*time.Second)
		now := s.Pins(t, n)[agent.Name]
		if now == pinned {
			t.Errorf("%s: the certificate is the one of before", how)
		}
		t.Logf("%s: back after %s", how, time.Since(since).Round(time.Millisecond))
		pinned = now
	}

	if _, err := n.Client.ReissueCertificate(t.Context(), agent.Name); err != nil {
		t.Fatal(err)
	}
	reset()
	back("reissued")

	if err := n.Client.RevokeCertificate(t.Context(), agent.Name); err != nil {
		t.Fatal(err)
	}
	s.Gone(t, n, b.At.Addr(), time.Now(), time.Second)
	reset()
	testbed.Until(t, testbed.RefusalBound, "the agent to say that it is refused",
		func(context.Context) error { return testbed.Said(agent.Unit, "revoked") })
	if _, err := n.Client.Unpin(t.Context(), agent.Name); err != nil {
		t.Fatal(err)
	}
	back("revoked, and its entry deleted")
	s.NoFailures(t, n, s.Began)
}

// Without the right to bind port 53, and without IPv6, the message contains the address and the missing requirement,
// the exit code is 1, and --validate reports the fault.
//
// Fault 35.
func TestStartup_WithoutTheRightToBindOrWithoutIPv6(t *testing.T) {
	if os.Geteuid() != 0 {
		testbed.Missing(t, "this test makes a network namespace: run it as root")
	}
	// The thread, and programs that it starts, give up the right. The thread ends with the test's goroutine.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		testbed.Missing(t, "making a network namespace: "+err.Error())
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		testbed.Missing(t, fmt.Sprintf("ip link set lo up: %v %s; run: apt-get install -y iproute2", err, out))
	}
	if out, err := exec.Command("ip", "-6", "address", "flush", "dev", "lo").CombinedOutput(); err != nil {
		testbed.Missing(t, fmt.Sprintf("ip -6 address flush dev lo: %v %s", err, out))
	}
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_NET_BIND_SERVICE, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct{ address, word string }{{"127.0.0.1:53", "CAP_NET_BIND_SERVICE"},
		{"[::1]:5353", "`ip address`"}} {
		s := testbed.NewSite(t, 1, 0)
		n := s.Nodes[0]
		// no other process is in this namespace
		n.File.DNS.ListenAddress, n.File.Overwatch.Gossip.BindAddress = at.address, "127.0.0.1:7946"
		n.File.API.Enabled, n.File.Metrics.Enabled = false, false
		testbed.Rewrite(t, n)
		program := testbed.Binaries(t).Overwatch
		testbed.Command(t, program, "--config", n.Path, "--validate").Want(t, testbed.ExitBadInput, "dns.listen_address",
			at.address, at.word)
		testbed.Command(t, program, "--config", n.Path).Want(t, testbed.ExitFailure, at.address, at.word)
	}
}
