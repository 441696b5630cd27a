package faults_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A node that is killed repeatedly, at any time during or after its start, answers as before within a second of the
// next start. It is ready only after it has checked every backend, and its agents reconnect with their pins.
// GSLB_FULL=1 repeats this a hundred times.
//
// Fault 10: A node is killed with SIGKILL at any time and restarted. It answers as before within a second.
func TestOverwatchCrash_ManyTimesAtAnyMoment(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	before := s.Pins(t, n)
	restarts := testbed.InFull(100, 10)
	testbed.Saved()
	var slowest time.Duration
	var started time.Time
	for i := range restarts {
		testbed.Kill(t, n)
		started = time.Now()
		testbed.Start(t, n)
		if i%3 == 2 { // in the middle of its start
			anyMoment(t, 200*time.Millisecond)
			continue
		}
		slowest = max(slowest, s.AnswersAgain(t, n, started))
		anyMoment(t, 700*time.Millisecond)
	}
	if restarts%3 == 0 {
		s.AnswersAgain(t, n, started)
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
	for _, b := range s.Backends {
		s.Status(t, n, b, testbed.ReconnectBound, testbed.SoundSince(started))
	}
	t.Logf("both agents were heard %s after the last start", time.Since(started).Round(time.Millisecond))
	if after := s.Pins(t, n); !maps.Equal(before, after) {
		t.Errorf("pins before %v, after %v", before, after)
	}
}

// anyMoment waits for a random time up to the given maximum, before a kill.
func anyMoment(t *testing.T, most time.Duration) {
	t.Helper()
	testbed.Pause(t.Context(), rand.N(most)) // no state says when: any
}

// A node is killed while the API creates and changes domains. After the restart, it has every acknowledged domain in
// the API and in the answers, and its store is valid. GSLB_FULL=1 makes it a hundred kills.
// overwatch/internal/state/store has kill tests of the store itself.
//
// Fault 14.
func TestCreated_NothingAcknowledgedIsLostByKills(t *testing.T) {
	s := testbed.StartSite(t, 1, 1)
	n := s.Nodes[0]
	acknowledged := map[string]int{} // name to TTL
	kills := testbed.InFull(100, 5)
	for round := range kills {
		var mu sync.Mutex
		var writers sync.WaitGroup
		had := len(acknowledged)
		for w := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					name := fmt.Sprintf("k%d-%d-%d.%s", round, w, i, testbed.ZoneName)
					if _, err := n.Client.CreateDomain(t.Context(),
						api.DomainChange{"name": name, "regions": []string{"eu"}}); err != nil {
						return
					}
					ttl := 30 + i
					_, err := n.Client.ChangeDomain(t.Context(), name, api.DomainChange{"ttl": ttl})
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
		anyMoment(t, 400*time.Millisecond)
		testbed.Until(t, testbed.StartBound, "something to be created", func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			if len(acknowledged) == had {
				return errors.New("nothing is")
			}
			return nil
		})
		testbed.Kill(t, n)
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
