package faults_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness/attack"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// While the API creates and deletes names during a flood of queries for other names, every answer and every proof of
// non-existence is secure.
//
// Fault 36: 1 000 API changes run during a flood of DNS queries. All answers validate.
func TestRow36_EveryAnswerIsSecureWhileTheAPIWritesAThousandTimes(t *testing.T) {
	const writes, writers = 1000, 4
	_, n := signed.Site(t, "nsec")
	r := signed.Unbound(t, n, signed.DS(t, n).DSRecord)
	var group sync.WaitGroup
	var done atomic.Int64
	for w := range writers {
		group.Go(func() {
			for i := range writes / writers / 2 {
				name := fmt.Sprintf("w%d-%d.%s", w, i%7, testbed.ZoneName)
				if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": name}); err != nil {
					t.Error(err)
					return
				}
				if err := n.Client.DeleteDomain(t.Context(), name); err != nil {
					t.Error(err)
					return
				}
				done.Add(2)
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		group.Wait()
	}()
	end := attack.Storms(t, n.DNS, attack.Malformed, attack.RandomName)
	// If writes are faster than a resolver, the last answers arrive after the last write.
	const proofs = 100
	secure, bound := 0, time.Now().Add(testbed.Hang)
	for running := true; running || secure < proofs && time.Now().Before(bound); {
		select {
		case <-over:
			running = false
		default:
		}
		name := fmt.Sprintf("w%d-%d.%s", rand.IntN(writers), rand.IntN(7), testbed.ZoneName)
		if rand.IntN(2) == 0 {
			name = signed.Names[rand.IntN(len(signed.Names))]
		}
		rtype := signed.Types[rand.IntN(len(signed.Types))]
		if !signed.Askable(name, rtype) {
			continue
		}
		// A created name has no backend: SERVFAIL is the expected answer for its addresses, and is not bogus.
		proven, err := r.Bogus(name, rtype)
		if err != nil {
			t.Error(err)
		}
		if proven {
			secure++
		}
	}
	t.Logf("%d packets of others meanwhile", end())
	if done.Load() != writes || secure < proofs {
		t.Errorf("%d writes, %d secure answers", done.Load(), secure)
	}
	t.Logf("%d writes, %d secure answers", done.Load(), secure)
}
