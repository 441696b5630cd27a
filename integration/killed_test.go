package integration_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// times is how often something is done: as an environment variable says, for a long run, or a few times.
func times(t *testing.T, variable string, few int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: it is a number of times, such as 100", variable, text)
	}
	return n
}

// Row 10: however often a node is killed, at whatever moment of its start or later, it answers within a second of the
// next start as before, is ready only after it has checked every backend, and its agents come back to it with the pins
// that they had. GSLB_RESTARTS=100 makes it a hundred times.
func TestOverwatchCrash_ManyTimesAtAnyMoment(t *testing.T) {
	s := startSite(t, 1, 2)
	n := s.Nodes[0]
	before := s.Pins(t, n)
	restarts := times(t, "GSLB_RESTARTS", 10)
	testbed.Saved()
	var slowest time.Duration
	var started time.Time
	for i := range restarts {
		if _, err := n.Kill(); err != nil {
			t.Fatal(err)
		}
		started = time.Now()
		testbed.Start(t, n)
		if i%3 == 2 { // in the middle of its start
			testbed.Pause(t.Context(), time.Duration(rand.IntN(200))*time.Millisecond)
			continue
		}
		slowest = max(slowest, s.answersAgain(t, n, started))
		testbed.Pause(t.Context(), time.Duration(rand.IntN(700))*time.Millisecond)
	}
	if restarts%3 == 0 {
		s.answersAgain(t, n, started)
	}
	t.Logf("%d restarts; the slowest first answer came after %s", restarts, slowest.Round(time.Millisecond))

	testbed.Until(t, testbed.StartBound, n.Name+" to be ready", func(ctx context.Context) error {
		answer, err := n.Client.Readiness(ctx)
		if err != nil {
			return err
		}
		if !answer.Ready {
			return errors.New(answer.Message)
		}
		list, err := n.Client.Backends(ctx, api.BackendFilter{Service: testbed.AppName})
		if err != nil {
			return err
		}
		if len(list.Backends) != len(s.Backends) {
			t.Errorf("it is ready and knows %d backends", len(list.Backends))
		}
		for _, b := range list.Backends {
			if b.ValidationHealthy == nil {
				t.Errorf("it is ready and has not checked %s", b.Address)
			}
		}
		return nil
	})
	for i, b := range s.Backends {
		s.Status(t, n, b, testbed.ReconnectBound, func(v api.Backend) error {
			if v.AgentLastSeen == nil || !v.AgentLastSeen.After(started) {
				return fmt.Errorf("%s was not heard since the last restart", s.Agents[i].Name)
			}
			return testbed.WantSound(v)
		})
	}
	t.Logf("both agents were heard %s after the last start", time.Since(started).Round(time.Millisecond))
	if after := s.Pins(t, n); !maps.Equal(before, after) {
		t.Errorf("pins before %v, after %v", before, after)
	}
}

// answersAgain waits for the first good answer after a start, which must come within a second in which processor and
// disk are there for it, and says how long after it came. It asks anew every 100 ms, as a query that a process took
// with it is answered by nobody. An answer that is none of the backends, or says that the name does not exist, fails
// the test (I2).
func (s *site) answersAgain(t *testing.T, n *harness.Node, started time.Time) time.Duration {
	t.Helper()
	client := &dns.Client{Timeout: 100 * time.Millisecond}
	disk := waitsForDisk(t.Context(), n.PID())
	testbed.Until(t, testbed.StartBound, n.Name+" to answer again", func(context.Context) error {
		r, _, err := client.Exchange(new(dns.Msg).SetQuestion(testbed.AppName+".", dns.TypeA), n.DNS.String())
		if err != nil {
			return err
		}
		if r.Rcode != dns.RcodeSuccess || len(r.Answer) == 0 {
			t.Fatalf("the answer after a restart is %v", r)
		}
		for _, rr := range r.Answer {
			if a, ok := rr.(*dns.A); !ok || !slices.ContainsFunc(s.Backends,
				func(b *harness.Backend) bool { return b.At.Addr().String() == a.A.String() }) {
				t.Fatalf("%s is nobody's address", rr)
			}
		}
		return nil
	})
	answered := time.Now()
	promise := testbed.DNSBackBound + waitedForCPU(t, n.PID()) + disk()
	testbed.InTime(t, n.Name+" to answer again", promise, started, answered)
	return answered.Sub(started)
}

// waitedForCPU is for how long the threads of a process, added up, could have run and did not because others did.
func waitedForCPU(t *testing.T, pid int) (waited time.Duration) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var ran, delay int64
		if _, err := fmt.Sscan(string(text), &ran, &delay); err == nil {
			waited += time.Duration(delay)
		}
	}
	return waited
}

// waitsForDisk looks from now on whether a thread of a process waits for a disk, which others may keep busy for
// seconds; end says for how long one did.
func waitsForDisk(ctx context.Context, pid int) (end func() time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	waited := make(chan time.Duration, 1)
	go func() {
		const look = 5 * time.Millisecond
		var sum time.Duration
		for last := time.Now(); testbed.Pause(ctx, look); {
			now := time.Now()
			if uninterruptible(pid) {
				sum += now.Sub(last)
			}
			last = now
		}
		waited <- sum
	}()
	return func() time.Duration {
		cancel()
		return <-waited
	}
}

// uninterruptible says whether a thread of a process is in the state in which it waits for a disk (proc_pid_stat(5)).
func uninterruptible(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return slices.ContainsFunc(threads, func(path string) bool {
		text, _ := os.ReadFile(path) // nothing if it has ended
		_, state, _ := strings.Cut(string(text), ") ")
		return strings.HasPrefix(state, "D")
	})
}

// Row 14: a node that is killed while the API creates and changes domains has, when it is back, every domain that was
// acknowledged, in the API and in the answers, and its store is whole. GSLB_KILLS=100 makes it a hundred kills; those
// of the store alone are in overwatch/internal/state/store.
func TestCreated_NothingAcknowledgedIsLostByKills(t *testing.T) {
	s := startSite(t, 1, 1)
	n := s.Nodes[0]
	acknowledged := map[string]int{} // name to TTL
	kills := times(t, "GSLB_KILLS", 5)
	for round := range kills {
		var mu sync.Mutex
		var writers sync.WaitGroup
		had := len(acknowledged)
		for w := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					name := fmt.Sprintf("k%d-%d-%d.%s", round, w, i, testbed.ZoneName)
					if _, err := n.Client.CreateDomain(t.Context(),
						api.DomainChange{Name: name, Regions: &[]string{"eu"}}); err != nil {
						return
					}
					ttl := 30 + i
					_, err := n.Client.ChangeDomain(t.Context(), name, api.DomainChange{TTL: &ttl})
					mu.Lock()
					acknowledged[name] = 0 // whatever it is
					if err == nil {
						acknowledged[name] = ttl
					}
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		testbed.Pause(t.Context(), time.Duration(100+rand.IntN(300))*time.Millisecond)
		testbed.Until(t, testbed.StartBound, "something to be created", func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			if len(acknowledged) == had {
				return errors.New("nothing is")
			}
			return nil
		})
		if _, err := n.Kill(); err != nil {
			t.Fatal(err)
		}
		writers.Wait()
		testbed.Start(t, n)
		s.Ready(t, n)
		list, err := n.Client.Domains(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]int{}
		for _, d := range list.Domains {
			there[d.Name] = d.TTL
		}
		for name, ttl := range acknowledged {
			if got, found := there[name]; !found || ttl != 0 && got != ttl {
				t.Fatalf("after kill %d %s is there: %t, with TTL %d; TTL %d was acknowledged", round+1, name, found, got, ttl)
			}
		}
		asked := 0
		for name := range acknowledged {
			if r := testbed.Exchange(t, "udp", n, name, dns.TypeA); r.Rcode == dns.RcodeNameError {
				t.Fatalf("after kill %d %s is not answered", round+1, name)
			}
			if asked++; asked == 50 {
				break
			}
		}
		if err := testbed.Said(n.Unit, "set aside"); err == nil {
			t.Fatal("the store was damaged")
		}
	}
	t.Logf("%d domains were acknowledged over %d kills, all are there", len(acknowledged), kills)
}
