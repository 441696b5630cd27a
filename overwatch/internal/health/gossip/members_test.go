package gossip // inside: it uses newMembers and roleLine

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"gslb.internal/shared/logging/logtest"
)

func peerNode(name string) *memberlist.Node {
	return &memberlist.Node{Name: name, Addr: net.IPv4(192, 0, 2, 9), Port: 7946, Meta: []byte(roleLine + "\nus\n2.0")}
}

func TestMembers_StatusFollowsPingsAndDepartures(t *testing.T) {
	start := time.Now()
	m := newMembers(Member{Name: "ow-1", Self: true, Status: StatusAlive}, time.Second)
	m.addMember(peerNode("ow-2"), start)
	m.addMember(peerNode("ow-1"), start) // memberlist also reports this node
	at := func(d time.Duration) Member { return m.list(start.Add(d))[1] }
	if got := at(0); got.Status != StatusAlive || got.Region != "us" || got.Version != "2.0" ||
		got.Address.String() != "192.0.2.9:7946" {
		t.Errorf("after joining: %+v", got)
	}
	if got := at(7 * time.Second); got.Status != StatusSuspect {
		t.Errorf("after silence: %+v", got)
	}
	m.recordPing("ow-2", time.Millisecond, start.Add(7*time.Second))
	if got := at(7 * time.Second); got.Status != StatusAlive || got.RTT != time.Millisecond {
		t.Errorf("after an answer: %+v", got)
	}
	m.markDead("ow-2")
	if got := at(13 * time.Second); got.Status != StatusAlive {
		t.Errorf("called dead after it answered: %+v", got)
	}
	if name, at, ok := m.nextDead(); name != "ow-2" || at.String() != "192.0.2.9:7946" || !ok {
		t.Errorf("asked is %s at %s, %v", name, at, ok)
	}
	if got := at(14 * time.Second); got.Status != StatusDead {
		t.Errorf("called dead, and silent: %+v", got)
	}
	m.recordPing("ow-2", time.Millisecond, start.Add(20*time.Second))
	if got := at(20 * time.Second); got.Status != StatusAlive {
		t.Errorf("called dead, and answering again: %+v", got)
	}
	m.addMember(peerNode("ow-2"), start.Add(20*time.Second))
	if _, _, ok := m.nextDead(); ok {
		t.Error("who came back is asked")
	}
	m.markDead("ow-1")
	m.updateMember(peerNode("ow-1"))
	if self := m.list(start)[0]; !self.Self || self.Status != StatusAlive || self.Region != "" {
		t.Errorf("this node: %+v", self)
	}
}

func TestMembers_AreBoundedAndTheDeadMakeRoom(t *testing.T) {
	m := newMembers(Member{Name: "self", Self: true}, time.Second)
	for i := range maxMembers - 1 {
		m.addMember(peerNode(fmt.Sprint("n", i)), time.Now())
	}
	if m.hasRoomFor("new") || !m.hasRoomFor("n3") {
		t.Error("a full list has room for a new node, or none for a known one")
	}
	m.markDead("n3")
	m.byName["n3"].LastSeen = time.Time{}
	if !m.hasRoomFor("new") {
		t.Error("a dead node makes no room")
	}
}

func TestDelegate_OnlyOverwatchNodesBecomeMembersAndOnlyWithSeedsOrPeers(t *testing.T) {
	for _, try := range []struct {
		name  string
		seeds []string
		edit  func(*memberlist.Node)
		taken bool
	}{
		{"overwatch node", []string{"x:1"}, func(*memberlist.Node) {}, true},
		{"no seeds", nil, func(*memberlist.Node) {}, false},
		{"a peer", nil, func(n *memberlist.Node) { n.Name = "peer" }, true},
		{"a peer elsewhere", nil, func(n *memberlist.Node) { n.Name, n.Port = "peer", 1 }, false},
		{"a peer that is an agent", nil, func(n *memberlist.Node) { n.Name, n.Meta = "peer", nil }, false},
		{"nowhere", nil, func(n *memberlist.Node) { n.Addr, n.Port = nil, 0 }, false},
		{"agent", []string{"x:1"}, func(n *memberlist.Node) { n.Meta = nil }, false},
		{"odd metadata", []string{"x:1"}, func(n *memberlist.Node) { n.Meta = []byte("gslb overwatch\nx") }, false},
		{"multicast", []string{"x:1"}, func(n *memberlist.Node) { n.Addr = net.IPv4(224, 0, 0, 1) }, false},
		{"no address", []string{"x:1"}, func(n *memberlist.Node) { n.Addr = nil }, false},
		{"this node", nil, func(n *memberlist.Node) { n.Name = "ow-1" }, true},
	} {
		o := testOptions(t)
		o.Seeds, o.Peers = try.seeds, func() map[string]netip.AddrPort {
			return map[string]netip.AddrPort{"peer": netip.MustParseAddrPort("192.0.2.9:7946")}
		}
		d := &delegate{node: &Node{options: o, members: newMembers(Member{Name: "ow-1"}, time.Second)}}
		n := peerNode("ow-2")
		try.edit(n)
		if err := d.NotifyAlive(n); (err == nil) != try.taken {
			t.Errorf("%s: %v", try.name, err)
		}
	}
}

// A seed that joined through its own connection counts as heard, even without a successful request to it.
func TestUnheard_ASeedThatIsAMemberWasHeard(t *testing.T) {
	o, now := testOptions(t), time.Now()
	o.Seeds = []string{"192.0.2.9:7946", "192.0.2.10:7946"}
	n := &Node{options: o, members: newMembers(Member{Name: "ow-1", Self: true}, time.Second)}
	n.members.addMember(peerNode("ow-2"), now)
	n.seeds.tried = map[string]time.Time{o.Seeds[0]: now, o.Seeds[1]: now}
	if list := n.SilentNodes(); len(list) != 1 || list[0].Node != o.Seeds[1] || !list[0].NeverSeen {
		t.Errorf("%+v", list)
	}
}

func TestDrops_StrangersAreNamedOnceAMinute(t *testing.T) {
	var logged logtest.Buffer
	d, _ := newDrops(zerolog.New(&logged))
	start := time.Now()
	peer := netip.MustParseAddrPort("192.0.2.7:1")
	for i := range 100 {
		d.countUndecryptable(peer, start.Add(time.Duration(i)*time.Second))
	}
	text := logged.String()
	if lines := strings.Count(text, "\n"); lines != 2 {
		t.Errorf("%d lines", lines)
	}
	if !strings.Contains(text, `"from":"192.0.2.7","packets":60`) {
		t.Errorf("log: %s", text)
	}
}

func FuzzParseMeta(f *testing.F) {
	f.Add([]byte(roleLine + "\nus\n2.0"))
	f.Fuzz(func(t *testing.T, meta []byte) {
		if region, version, ok := parseMeta(meta); !ok && region+version != "" {
			t.Error("something was read of what is not ours")
		}
	})
}

// Fault 12.
func TestSkews_AreMentionedOnceUntilTheClockIsRight(t *testing.T) {
	var logged logtest.Buffer
	s, now := newSkews(zerolog.New(&logged)), time.Now()
	for range 3 {
		s.checkClock("a1", now.Add(24*time.Hour).UnixMilli(), now)
		s.checkClock("a2", now.Add(-30*time.Second).UnixMilli(), now)
	}
	s.checkClock("a1", now.UnixMilli(), now)
	s.checkClock("a1", now.Add(-time.Hour).UnixMilli(), now)
	s.checkClock("a3", -1<<63, now)
	text := logged.String()
	if strings.Count(text, "\n") != 3 || !strings.Contains(text, `"ahead":"24h0m0s"`) ||
		!strings.Contains(text, `"ahead":"-1h0m0s"`) {
		t.Errorf("log: %s", text)
	}
}
