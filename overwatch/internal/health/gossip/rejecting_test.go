package gossip // inside: it uses rejections and greetings

import (
	"fmt"
	"math"
	"net/netip"
	"testing"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// The report of an agent lasts until its next heartbeat without the report, or until the agent is silent. The number of
// reports is limited.
func TestRejections_FollowTheHeartbeats(t *testing.T) {
	r, now := rejections{nodes: make(map[wire.NodeCertificate]map[string]time.Time)}, time.Now()
	of := func(ids ...string) *wire.Heartbeat {
		m := &wire.Heartbeat{IntervalMillis: 10_000}
		for _, id := range ids {
			m.Rejected = append(m.Rejected, wire.NodeCertificate{NodeID: id, KeyID: [32]byte{1}})
		}
		return m
	}
	want := func(when, want string, at time.Time) {
		t.Helper()
		got := ""
		for _, one := range r.list(at) {
			got += fmt.Sprint(one.NodeID, one.Agents)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	r.replaceReport("a1", of("ow-2", "ow-3"), now)
	r.replaceReport("a2", of("ow-2"), now)
	want("two agents", "ow-2[a1 a2]ow-3[a1]", now)
	r.replaceReport("a1", of(), now)
	want("one has accepted", "ow-2[a2]", now)
	want("the other is silent", "", now.Add(31*time.Second))
	for i := range 10_000 {
		r.replaceReport(fmt.Sprint("agent-", i), of("ow-2", fmt.Sprint("made-up-", i)), now)
	}
	if len(r.nodes) > maxRejectedNodes || len(r.nodes[of("ow-2").Rejected[0]]) > maxRejectingAgents {
		t.Errorf("%d nodes are stored", len(r.nodes))
	}
	hasty := of("ow-4")
	hasty.IntervalMillis = math.MaxUint32
	now = now.Add(31 * time.Second)
	r.replaceReport("a3", hasty, now)
	want("after the silence of all", "ow-4[a3]", now)
	want("the interval is bounded", "", now.Add(rejectedBeats*maxRejectedInterval))
}

// An agent that reads the Hello repeatedly and sends nothing rejects this node. One message ends that, and so does
// its silence.
func TestGreetings_CountTheAgentsThatSendNothing(t *testing.T) {
	g, now := greetings{all: make(map[string]greeting)}, time.Now()
	key, from := identity.KeyID{1}, netip.MustParseAddr("192.0.2.7")
	want := func(when string, want int, at time.Time) {
		t.Helper()
		if got, _ := g.countSilent(at); got != want {
			t.Errorf("%s: %d agents, want %d", when, got, want)
		}
	}
	name := frame.AgentName(key, 1_700_000_000_000)
	g.add("ow-2", from, now)
	g.add("ow-2", from, now.Add(greetingsApart))
	g.add(name, from, now)
	want("after one", 0, now)
	g.add(name, from, now.Add(greetingsApart))
	want("after two", 1, now.Add(greetingsApart))
	want("after its silence", 0, now.Add(greetingsApart+greetingLasts+1))
	g.remove(key, 1_700_000_000_000)
	want("after a message", 0, now.Add(greetingsApart))
	for i := range 2 * maxGreetings {
		g.add(frame.AgentName(key, uint64(i)), from, now)
	}
	if len(g.all) > maxGreetings {
		t.Errorf("%d greetings are stored", len(g.all))
	}
}
