package keysync // inside: it uses bootTime

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const day = 24 * time.Hour

// startTogether starts nodes without keys at the same time.
func startTogether(n *network, names ...string) []*node { return startWith(n, nil, names...) }

// startWith is startTogether with more peers for each node.
func startWith(n *network, more []string, names ...string) []*node {
	nodes := make([]*node, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { nodes[i] = n.start(name, n.t.TempDir(), append(others(names, name), more...)...) })
	}
	all.Wait()
	return nodes
}

func others(names []string, but string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == but })
}

func stopAll(nodes ...*node) {
	for _, n := range nodes {
		n.stop()
	}
}

// told returns the tags of the keys that a node offers to the parent.
func (n *node) told() (tags []uint16) {
	for _, k := range n.zones.Keys() {
		if k.Signing && !k.Provisional {
			tags = append(tags, k.Tag())
		}
	}
	return tags
}

// crew contains the nodes that answer.
type crew struct{ list atomic.Pointer[[]*node] }

func crewOf(nodes ...*node) *crew {
	c := new(crew)
	c.set(nodes...)
	return c
}

func (c *crew) set(nodes ...*node) {
	nodes = slices.Clone(nodes)
	c.list.Store(&nodes)
}

func (c *crew) nodes() []*node { return *c.list.Load() }

// watched starts to validate the answers of nodes, with the DS records that one of them offers.
func watched(t *testing.T, ds []uint16, nodes func() []*node) (end func()) {
	t.Helper()
	v := &validator{t: t, nodes: nodes, ds: ds}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.watch(ctx, 700*time.Millisecond)
	}()
	return func() {
		cancel()
		<-done
		if v.count == 0 {
			t.Error("nothing was validated")
		}
	}
}

// Two or three nodes start without keys.
//
// Fault 32.
func TestRow32_NodesThatStartEmptyAtOnceEndWithOneKey(t *testing.T) {
	for _, names := range [][]string{{"a", "b"}, {"a", "b", "c"}} {
		test(t, func(t *testing.T, n *network) {
			began := time.Now()
			nodes := startTogether(n, names...)
			if took := time.Since(began); took > bootRefused {
				t.Errorf("they served after %s", took)
			}
			var ds []uint16 // the parent uses the first DS record that a node offers
			for len(ds) == 0 {
				for _, n := range nodes {
					if ds = n.told(); len(ds) > 0 {
						break
					}
				}
				time.Sleep(time.Millisecond)
			}
			end := watched(t, ds, crewOf(nodes...).nodes)
			time.Sleep(time.Minute)
			alike(t, 1, nodes...)
			time.Sleep(2 * day)
			alike(t, 1, nodes...)
			end()
			stopAll(nodes...)
		})
	}
}

// Nodes that start at the same time have the same key within two seconds, and answer within one second.
func TestBootstrap_NodesThatStartTogetherMeetAtOnce(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		defer stopAll(nodes...)
		time.Sleep(time.Second) // of synctest
		alike(t, 1, nodes...)
	})
}

// A node answers immediately for zones with keys, even if a peer that may have the key of a new zone is down.
func TestBootstrap_ANewZoneDelaysNoOther(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		n.isolate("b", true)
		a := n.start("a", t.TempDir(), "b")
		a.zones.SetExpected([]string{"new.example."})
		began := time.Now()
		a.Bootstrap(t.Context())
		if took := time.Since(began); took > 0 {
			t.Errorf("the start took %s, though %s has a key", took, apex)
		}
		a.stop()
	})
}

func TestSync_ANodeThatStartsLaterTakesTheKeyBeforeItAnswers(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a := n.start("a", t.TempDir(), "b", "c")
		running := crewOf(a)
		time.Sleep(time.Minute)
		end := watched(t, a.told(), running.nodes)
		time.Sleep(3 * time.Hour)
		began := time.Now()
		b := n.start("b", t.TempDir(), "a", "c")
		if !slices.Equal(b.told(), a.told()) || time.Since(began) > bootTime {
			t.Errorf("it begins with %v after %s", b.tags(), time.Since(began))
		}
		running.set(a, b)
		time.Sleep(day)
		alike(t, 1, a, b)
		end()
		stopAll(a, b)
	})
}

func TestSync_NodesThatStartedApartSignWithBothKeysOnceTheyMeet(t *testing.T) {
	for _, parent := range []int{0, 1} {
		test(t, func(t *testing.T, n *network) {
			n.isolate("a", true)
			nodes := startTogether(n, "a", "b")
			time.Sleep(day)
			ds := nodes[parent].told()
			n.isolate("a", false)
			time.Sleep(2 * time.Hour) // a poll interval, and its jitter
			end := watched(t, ds, crewOf(nodes...).nodes)
			alike(t, 2, nodes...)
			time.Sleep(day)
			alike(t, 2, nodes...)
			end()
			stopAll(nodes...)
		})
	}
}

func TestSync_AWipedNodeTakesTheKeysBack(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		time.Sleep(2 * time.Hour)
		want := nodes[0].told()
		running := crewOf(nodes...)
		end := watched(t, want, running.nodes)
		running.set(nodes[:2]...)
		nodes[2].stop()
		time.Sleep(time.Minute)
		nodes[2] = n.start("c", t.TempDir(), "a", "b")
		running.set(nodes...)
		alike(t, 1, nodes...)
		time.Sleep(day)
		alike(t, 1, nodes...)
		if !slices.Equal(nodes[2].told(), want) {
			t.Errorf("it signs with %v, want %v", nodes[2].told(), want)
		}
		end()
		stopAll(nodes...)
	})
}

func TestAbout_IsToldWithTheKeys(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b")
		time.Sleep(2 * time.Hour) // virtual
		about, told := nodes[0].About("http://b")
		if about.Region != "of b" || about.Port != 53 || time.Since(told) > 90*time.Minute {
			t.Errorf("%+v, told %s", about, told)
		}
		if got := nodes[0].Gossip(); len(got) != 1 || got["b"] != gossipOf("b") {
			t.Errorf("the peers gossip at %v", got)
		}
		if about, told := nodes[0].About("http://c"); about != (About{}) || !told.IsZero() {
			t.Errorf("nobody told %+v", about)
		}
		stopAll(nodes...)
	})
}
