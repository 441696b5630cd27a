package gossip // inside: it uses dropEnvelope, maxMembers and roleLine

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/wire"
)

// stranger is a peer of the upstream memberlist with its own sockets. It uses functions of memberlist that no program
// of this project uses.
type stranger struct {
	meta, state []byte
	broadcasts  [][]byte
}

func (s *stranger) NodeMeta(int) []byte             { return s.meta }
func (s *stranger) NotifyMsg([]byte)                {}
func (s *stranger) GetBroadcasts(int, int) [][]byte { return s.broadcasts }
func (s *stranger) LocalState(bool) []byte          { return s.state }
func (s *stranger) MergeRemoteState([]byte, bool)   {}

// peer starts a stranger and makes it join the node. The test checks the effect at the node.
func (s *stranger) peer(t *testing.T, n *testNode, edit func(*memberlist.Config)) *memberlist.Memberlist {
	t.Helper()
	c := memberlist.DefaultLocalConfig()
	c.Name, c.BindAddr, c.BindPort, c.Label, c.SecretKey, c.Delegate = "stranger", "127.0.0.1", 0, wire.Label, gossipKey, s
	c.GossipInterval, c.ProbeInterval, c.ProbeTimeout, c.PushPullInterval = 10*time.Millisecond, 50*time.Millisecond,
		25*time.Millisecond, 50*time.Millisecond
	c.TCPTimeout, c.Logger = patience, log.New(io.Discard, "", 0)
	if edit != nil {
		edit(c)
	}
	list, err := memberlist.Create(c)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = list.Join([]string{n.Addr().String()})
	return list
}

// Peers of the upstream library send messages that are legal in memberlist and unusual for a node. The node stays
// unchanged: it has the same members, processes its agents' messages, refuses and counts other messages, and its memory
// and goroutines stay limited.
//
// Fault 20.
func TestNode_StaysWellAmongStrangersOfTheUpstreamLibrary(t *testing.T) {
	overwatch := []byte(roleLine + "\nus\n1")
	many := func(size, count int) (list [][]byte) {
		for range count {
			list = append(list, append([]byte{byte(frame.User)}, bytes.Repeat([]byte("x"), size)...))
		}
		return list
	}
	for _, try := range []struct {
		name    string
		s       stranger
		edit    func(*memberlist.Config)
		counted []frame.Fault // reasons that the node may count, and must count if first; empty: none
	}{
		{"ordinary peer", stranger{}, func(c *memberlist.Config) { c.EnableCompression = false }, nil},
		{"compressed", stranger{}, func(c *memberlist.Config) { c.EnableCompression = true }, []frame.Fault{frame.Malformed}},
		{"unencrypted", stranger{}, func(c *memberlist.Config) { c.SecretKey = nil }, []frame.Fault{frame.Cipher}},
		{"without a label", stranger{}, func(c *memberlist.Config) { c.Label = "" }, []frame.Fault{frame.Label}},
		{"wrong label", stranger{}, func(c *memberlist.Config) { c.Label = "somebody-else" }, []frame.Fault{frame.Label}},
		{"wrong key", stranger{}, func(c *memberlist.Config) { c.SecretKey = otherKey }, []frame.Fault{frame.Key}},
		{"2 MiB of user state", stranger{state: make([]byte, 2<<20)},
			func(c *memberlist.Config) { c.EnableCompression = false }, []frame.Fault{frame.Size}},
		{"compounds of many messages", stranger{broadcasts: many(20, 50)},
			func(c *memberlist.Config) { c.EnableCompression = false }, []frame.Fault{frame.Malformed, dropEnvelope}},
		{"metadata of a node", stranger{meta: overwatch}, func(c *memberlist.Config) { c.EnableCompression = false }, nil},
		{"odd octets in its name", stranger{}, func(c *memberlist.Config) {
			c.Name,
				c.EnableCompression = "\x00\xff\n\"{}\u202e", false
		}, nil},
		{"name of 300 octets", stranger{}, func(c *memberlist.Config) {
			c.Name,
				c.EnableCompression = strings.Repeat("n", 300), false
		}, []frame.Fault{frame.Malformed}},
		{"name of the node itself", stranger{meta: overwatch},
			func(c *memberlist.Config) { c.Name, c.EnableCompression = "ow-1", false }, nil},
		{"cipher of an older protocol", stranger{}, func(c *memberlist.Config) {
			c.ProtocolVersion, c.EnableCompression = memberlist.ProtocolVersionMin, false
		}, []frame.Fault{frame.Cipher}},
	} {
		t.Run(try.name, func(t *testing.T) {
			n := startNode(t, nil)
			a := newTestAgent(t, "a1", gossipKey, n.Addr())
			a.enrol()
			list := try.s.peer(t, n, try.edit)
			defer list.Shutdown()
			if try.s.broadcasts != nil { // memberlist adds broadcasts to each packet
				at := &memberlist.Node{Name: "ow-1", Addr: n.Addr().Addr().AsSlice(), Port: n.Addr().Port()}
				if err := list.SendBestEffort(at, []byte("hello")); err != nil {
					t.Error(err)
				}
			}
			if try.counted != nil {
				eventually(t, "it is counted", func() bool {
					return n.metric(t, "gslb_gossip_dropped_total",
						string(try.counted[0])) > 0
				})
			}
			wantSound(t, n, a)
			for _, reason := range dropReasons {
				got := n.metric(t, "gslb_gossip_dropped_total", string(reason))
				if got > 0 && !slices.Contains(try.counted, reason) {
					t.Errorf("%v packets and streams are counted as %s", got, reason)
				}
			}
		})
	}
}

// wantSound checks that a node without seeds is its only member and processes messages of an agent.
func wantSound(t *testing.T, n *testNode, a *testAgent) {
	t.Helper()
	if m := n.Members(); len(m) != 1 || m[0].Name != "ow-1" || m[0].Address != n.Addr() || m[0].Status != StatusAlive {
		t.Errorf("its members are %+v", m)
	}
	a.datagram(a.heartbeat())
	a.ack()
}

// Many peers report each other and the node as dead, use the name of the node, leave and join again. A node with seeds
// accepts members. It keeps its name, processes its agents' messages, lists at most the maximum number of members, and
// limits its log lines.
//
// Fault 20.
func TestNode_StaysWellInACrowdThatGossipsAboutOthers(t *testing.T) {
	var said logtest.Buffer
	quick := func(o *Options) {
		o.ProbeInterval, o.ProbeTimeout, o.GossipInterval = 200*time.Millisecond, 150*time.Millisecond, 10*time.Millisecond
		o.Seeds = []string{"127.0.0.1:1"}
	}
	n := startNode(t, func(o *Options) {
		quick(o)
		o.Logger = o.Logger.Output(&said)
	})
	like := startNode(t, func(o *Options) {
		quick(o)
		o.NodeID, o.Seeds = "ow-2", []string{n.Addr().String()}
	})
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	runtime.GC()
	var heapBefore, heapAfter runtime.MemStats
	runtime.ReadMemStats(&heapBefore)
	goroutines := runtime.NumGoroutine()

	const rounds, aliases = 3, 9
	for round := range rounds {
		var crowd []*memberlist.Memberlist
		for i := range aliases {
			s := stranger{meta: []byte(roleLine + "\nus\n1")}
			peer := s.peer(t, n, func(c *memberlist.Config) {
				c.Name, c.EnableCompression = fmt.Sprintf("alias-%d-%d", round, i), false
				if i == 0 {
					c.Name = "ow-1" // a name conflict, which memberlist resolves
				}
			})
			crowd = append(crowd, peer)
		}
		for i, peer := range crowd {
			switch i % 3 {
			case 0: // leaves
				_ = peer.Leave(100 * time.Millisecond)
				_ = peer.Shutdown()
			case 1: // stops, and the others report it as dead
				_ = peer.Shutdown()
			default: // receives the reports that the others are dead, and then stops
			}
		}
		a.datagram(a.heartbeat())
		a.ack()
		for _, peer := range crowd {
			_ = peer.Shutdown()
		}
	}
	if statusOf(n, "ow-1") != StatusAlive || statusOf(like, "ow-2") != StatusAlive {
		t.Errorf("the node has %+v, its like %+v", n.Members(), like.Members())
	}
	for _, m := range n.Members() {
		if m.Name == "ow-1" && (!m.Self || m.Address != n.Addr()) {
			t.Errorf("another has its name: %+v", m)
		}
	}
	if got := len(n.Members()); got > maxMembers {
		t.Errorf("%d members, allowed are %d", got, maxMembers)
	}
	runtime.GC()
	runtime.ReadMemStats(&heapAfter)
	t.Logf("%d KiB more, %d goroutines more, after %d peers in this process; %d octets of log",
		(int64(heapAfter.HeapAlloc)-int64(heapBefore.HeapAlloc))>>10,
		runtime.NumGoroutine()-goroutines, rounds*aliases, len(said.String()))
	if grown := int64(heapAfter.HeapAlloc) - int64(heapBefore.HeapAlloc); grown > 64<<20 {
		t.Errorf("%d MiB more, allowed are 64", grown>>20)
	}
	if logged := len(said.String()); logged > 64<<10 {
		t.Errorf("%d octets were logged, allowed are 64 KiB", logged)
	}
}

func statusOf(n *testNode, name string) Status {
	for _, m := range n.Members() {
		if m.Name == name {
			return m.Status
		}
	}
	return ""
}
