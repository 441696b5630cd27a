package failback_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
)

// regionOrder are the regions of the simulated name in the order of failover.
var regionOrder = []string{"a", "b", "c"}

// simulated is a node with its own view of the regions.
type simulated struct {
	*failback.Tracker
	name   string
	store  *store.Store
	down   map[string]bool
	active string
}

// decide selects a region as failover does, and reports the decision.
func (n *simulated) decide() {
	awaits, serving := n.Awaiting(name), []string(nil)
	o := failback.Observation{Setting: manual, Listed: regionOrder}
	for _, region := range regionOrder {
		h := policy.RegionHealth{Region: region, Serving: 1, Required: 1}
		if n.down[region] {
			h.Serving, h.IsDown = 0, true
		} else {
			serving = append(serving, region)
		}
		o.Regions = append(o.Regions, h)
	}
	n.active = ""
	if at := slices.IndexFunc(serving, func(r string) bool { return !slices.Contains(awaits, r) }); at >= 0 {
		n.active = serving[at]
	} else if len(serving) > 0 {
		n.active = serving[0]
	}
	if n.active != "" {
		o.InUse = []string{n.active}
	}
	n.Observe(name, o)
	synctest.Wait()
}

// receive merges the objects of another node, and applies the changes.
func (n *simulated) receive(t *testing.T, from *simulated) {
	t.Helper()
	m, err := n.store.Merge(replica.Offer{Node: from.name, Synced: time.Now(), Objects: from.store.Objects()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range m.Taken {
		domain, region := store.FailbackOf(o.Key)
		n.Follow(store.Failback{Domain: domain, Region: region, Since: time.Now()}, !o.Deleted)
	}
	n.decide()
}

// Nodes with different views of the regions, which exchange their changes in any order, agree on the regions that await
// failback as soon as the regions stay as they are. They do not overwrite each other repeatedly. A node answers
// whenever a region can serve in its view.
func TestTracker_NodesWithDifferentViewsAgree(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		ctx, cancel := context.WithCancel(t.Context())
		var nodes []*simulated
		ended := make(chan error, len(dirs))
		for i, dir := range dirs {
			n := &simulated{name: fmt.Sprint("n", i), down: map[string]bool{}}
			var err error
			if n.store, err = store.Open(dir, store.Options{NodeID: n.name}); err != nil {
				t.Fatal(err)
			}
			n.Tracker = failback.New(failback.Options{Store: n.store, Changed: func(string) {}, Logger: zerolog.Nop()})
			go func() { ended <- n.Run(ctx) }()
			n.decide()
			nodes = append(nodes, n)
		}
		changes := func() (sum uint64) {
			for _, n := range nodes {
				sum += n.store.Replicas().Changes
			}
			return sum
		}
		for range 30 {
			for range 1 + random.IntN(8) {
				n := nodes[random.IntN(len(nodes))]
				switch random.IntN(3) {
				case 0, 1:
					region := regionOrder[random.IntN(len(regionOrder))]
					n.down[region] = !n.down[region]
					n.decide()
					if n.active == "" && (!n.down["a"] || !n.down["b"] || !n.down["c"]) {
						t.Fatalf("%s does not answer: %v", n.name, n.down)
					}
				default:
					n.receive(t, nodes[random.IntN(len(nodes))])
				}
				time.Sleep(time.Second)
			}
			for round, before := 0, uint64(0); changes() != before; round++ {
				if before = changes(); round > 2*len(nodes) {
					t.Fatal("the nodes still overwrite each other")
				}
				for _, n := range nodes {
					for _, from := range nodes {
						n.receive(t, from)
						time.Sleep(time.Second)
					}
				}
			}
			for _, n := range nodes[1:] {
				if got, want := n.Awaiting(name), nodes[0].Awaiting(name); !slices.Equal(got, want) {
					t.Fatalf("%v await failback on %s, %v on %s", got, n.name, want, nodes[0].name)
				}
			}
		}
		if n := changes(); n < 100 {
			t.Errorf("only %d changes", n)
		}
		cancel()
		for _, n := range nodes {
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if err := n.store.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
