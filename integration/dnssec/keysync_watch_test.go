package dnssec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// watcher continuously queries validating resolvers, one for each node. They cache keys for their TTL.
type watcher struct {
	t      *testing.T
	secure atomic.Int64
	bogus  atomic.Int64
}

// watchKeys starts to watch. The returned function ends the watch and fails the test for each bogus answer.
func watchKeys(t *testing.T, anchor string, nodes ...*harness.Node) (end func()) {
	t.Helper()
	w := &watcher{t: t}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, n := range nodes {
		r := signed.UnboundWith(t, n, anchor, "infra-host-ttl: 1\n  val-bogus-ttl: 1")
		all.Go(func() {
			for range testbed.Every(ctx, 20*time.Millisecond) {
				w.look(n, r)
			}
		})
	}
	return func() {
		t.Helper()
		cancel()
		all.Wait()
		if w.secure.Load() == 0 {
			t.Error("not one secure answer was seen")
		}
		t.Logf("%d answers were secure, %d bogus", w.secure.Load(), w.bogus.Load())
	}
}

func (w *watcher) look(n *harness.Node, r *signed.Resolver) {
	secure, err := r.Bogus(fmt.Sprintf("n%x.%s", rand.Uint64(), testbed.ZoneName), dns.TypeA) // a name that no cache has
	if secure {
		w.secure.Add(1)
	}
	if err != nil {
		w.bogus.Add(1)
		w.t.Errorf("through %s: %v", n.Name, err)
	}
}
