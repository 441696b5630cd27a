package gossip // inside: it uses dropReasons

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/wire"
)

func TestNode_EnrolledAgentIsHeardAndAcknowledged(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()

	a.datagram(a.heartbeat())
	if c := n.registry.next(t); c.agent != "a1" || c.heartbeat == nil || c.heartbeat.Backends[0].Service != testService {
		t.Errorf("registry was told %+v", c)
	}
	if ack := a.ack(); ack.AckedType != wire.TypeHeartbeat || ack.AckedSeq != a.seq {
		t.Errorf("ack %+v", ack)
	}

	if err := a.stream(a.seal(wire.TypeTransition, &wire.Transition{Backend: testBackend()})); err != nil {
		t.Fatal(err)
	}
	if c := n.registry.next(t); c.backend == nil || c.backend.Port != 8080 {
		t.Errorf("registry was told %+v", c)
	}
	if ack := a.ack(); ack.AckedType != wire.TypeTransition || ack.AckedSeq != a.seq {
		t.Errorf("ack %+v", ack)
	}

	a.datagram(a.seal(wire.TypeSignal, &wire.Signal{Backends: []wire.Warned{{
		Service: testService, Address: testBackend().Address, Port: 8080, Warnings: wire.Warnings{CPUMillis: 30_000},
	}}}))
	if c := n.registry.next(t); c.signal == nil || c.signal.Backends[0].Warnings.CPUMillis != 30_000 {
		t.Errorf("registry was told %+v", c)
	}
	if ack := a.ack(); ack.AckedType != wire.TypeSignal || ack.AckedSeq != a.seq {
		t.Errorf("ack %+v", ack)
	}

	a.datagram(a.seal(wire.TypeDrain, &wire.Drain{OverMillis: 5000}))
	if c := n.registry.next(t); c.drain == nil || c.drain.OverMillis != 5000 {
		t.Errorf("registry was told %+v", c)
	}
	if ack := a.ack(); ack.AckedType != wire.TypeDrain || ack.AckedSeq != a.seq {
		t.Errorf("ack %+v", ack)
	}

	a.datagram(a.seal(wire.TypeDeregister, &wire.Deregister{Reason: "stopped"}))
	if c := n.registry.next(t); c.agent != "a1" || c.heartbeat != nil || c.backend != nil {
		t.Errorf("registry was told %+v", c)
	}
	eventually(t, "the heartbeat is counted", func() bool {
		return n.metric(t, "gslb_gossip_messages_total",
			"heartbeat") == 1
	})
}

func TestNode_AnswersAreSealedForOneProcessOfTheAgent(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	if err := a.greet(); err != nil {
		t.Fatal(err)
	}
	a.datagram(a.enrolment())
	sealed := a.answer()
	if sealed.Epoch != a.epoch || sealed.BootNonce != a.boot || sealed.KeyID != n.options.Identity.KeyID {
		t.Errorf("envelope %+v", sealed.Envelope)
	}
	if !sealed.Verify(identity.NodeToAgent, n.options.Identity.PublicKey) {
		t.Error("the node's signature does not hold")
	}
}

func TestNode_EnrolByStreamIsAnsweredWhereThePingsComeFrom(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	if err := a.greet(); err != nil {
		t.Fatal(err)
	}
	a.reach()
	if err := a.stream(a.enrolment()); err != nil {
		t.Fatal(err)
	}
	if ack := a.ack(); ack.AckedType != wire.TypeEnrol {
		t.Errorf("ack %+v", ack)
	}
}

func TestNode_RefusedClaimsAreInTheAck(t *testing.T) {
	r := newTestRegistry()
	r.outcome.Refused = []wire.RefusedClaim{{Service: "x.example.com", Address: netip.MustParseAddr("192.0.2.1"), Port: 1,
		Code: wire.CodeConflictingClaim}}
	n := startNode(t, func(o *Options) { o.Registry = r })
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	a.datagram(a.heartbeat())
	if ack := a.ack(); len(ack.Refused) != 1 || ack.Refused[0] != r.outcome.Refused[0] {
		t.Errorf("ack %+v", ack)
	}
	eventually(t, "the refused claim is counted",
		func() bool { return n.metric(t, "gslb_gossip_claims_refused_total", "conflicting_claim") == 1 })
}

func TestNode_AckThatIsTooLongLeavesOutExplanations(t *testing.T) {
	r := newTestRegistry()
	for i := range 70 {
		r.outcome.Refused = append(r.outcome.Refused, wire.RefusedClaim{
			Service: strings.Repeat("x", 60) + ".example.com", Address: netip.MustParseAddr("2001:db8::1"), Port: uint16(i + 1),
			Code: wire.CodePolicy,
		})
	}
	n := startNode(t, func(o *Options) { o.Registry = r })
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	a.datagram(a.heartbeat())
	if ack := a.ack(); len(ack.Refused) == 0 || len(ack.Refused) == 70 || len(ack.Services) != 1 {
		t.Errorf("%d refusals and %d services came", len(ack.Refused), len(ack.Services))
	}
}

func TestNode_WrongGossipKeyIsCountedAndNamedOnce(t *testing.T) {
	var logged logtest.Buffer
	n := startNode(t, func(o *Options) { o.Logger = zerolog.New(&logged) })
	a := newTestAgent(t, "a1", otherKey, n.Addr())
	if err := a.greet(); err == nil {
		t.Error("Hello succeeded with another key")
	}
	for range 3 {
		a.ping()
	}
	eventually(t, "each is counted", func() bool { return n.metric(t, "gslb_gossip_dropped_total", "key") == 4 })
	text := logged.String()
	if strings.Count(text, "another gossip key") != 1 || !strings.Contains(text, `"from":"127.0.0.1"`) {
		t.Errorf("log: %s", text)
	}
}

func TestNode_PreviousGossipKeyStillOpens(t *testing.T) {
	n := startNode(t, func(o *Options) { o.Keys = [][]byte{otherKey, gossipKey} })
	a := newTestAgent(t, "a1", otherKey, n.Addr())
	a.enrol()
	old := newTestAgent(t, "a2", gossipKey, n.Addr())
	if err := old.stream(old.seal(wire.TypeHeartbeat, &wire.Heartbeat{})); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the old key's message is read", func() bool {
		return n.metric(t, "gslb_gossip_refused_total", "boot_nonce") == 1
	})
}

func TestNode_ReplayAndTamperedMessagesAreRefused(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	message := a.heartbeat()
	a.datagram(message)
	n.registry.next(t)
	a.datagram(message)
	if err := a.stream(message); err != nil {
		t.Fatal(err)
	}
	tampered := a.heartbeat()
	tampered[len(tampered)-70] ^= 1
	a.datagram(tampered)
	eventually(t, "both replays and the tampered message are counted", func() bool {
		return n.metric(t, "gslb_gossip_refused_total", "replay") == 2 &&
			n.metric(t, "gslb_gossip_refused_total", "signature") == 1
	})
	if len(n.registry.calls) != 0 {
		t.Error("the registry was told of a replay")
	}
}

func TestNode_RecordingFitsNoLaterProcess(t *testing.T) {
	first := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, first.Addr())
	a.enrol()
	recorded := a.heartbeat()
	first.stop()
	second := startNode(t, nil)
	a.node = second.Addr()
	a.datagram(recorded)
	eventually(t, "the recording is refused", func() bool {
		return second.metric(t, "gslb_gossip_refused_total", "boot_nonce") == 1
	})
	if len(second.registry.calls) != 0 {
		t.Error("the registry was told of a recording")
	}
}

func TestNode_WrongTokenIsAnsweredWithItsCode(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	if err := a.greet(); err != nil {
		t.Fatal(err)
	}
	a.datagram(a.seal(wire.TypeEnrol, &wire.Enrol{
		AgentID: "a1", Certificate: a.id.DER,
		Proofs: []wire.Proof{{Service: testService, MAC: identity.Proof("wrong", testService, a.id.KeyID, a.boot, a.epoch)}},
	}))
	if r := a.reject(); r.Code != wire.CodeWrongToken || r.Service != testService || r.AckedSeq != a.seq {
		t.Errorf("reject %+v", r)
	}
}

func TestNode_AgentsBecomeNoMembers(t *testing.T) {
	n := startNode(t, func(o *Options) { o.Seeds = []string{"127.0.0.1:1"} })
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	if m := n.Members(); len(m) != 1 || m[0].Name != "ow-1" || !m[0].Self || m[0].Status != StatusAlive {
		t.Errorf("members %+v", m)
	}
}

func TestNode_SeedsAreListedAndMonitored(t *testing.T) {
	first := startNode(t, func(o *Options) { o.ProbeInterval, o.ProbeTimeout = 100*time.Millisecond, 50*time.Millisecond })
	second := startNode(t, func(o *Options) {
		o.NodeID, o.Seeds = "ow-2", []string{first.Addr().String()}
		o.ProbeInterval, o.ProbeTimeout = 100*time.Millisecond, 50*time.Millisecond
	})
	eventually(t, "the second node lists the first, with a round-trip time", func() bool {
		m := second.Members()
		return len(m) == 2 && m[0].Name == "ow-1" && m[0].Region == "eu" && m[0].Address == first.Addr() && m[0].RTT > 0 &&
			m[0].Status == StatusAlive
	})
	if m := first.Members(); len(m) != 1 {
		t.Errorf("a node without seeds lists %+v", m)
	}
	first.stop()
	eventually(t, "the first node's death is noticed", func() bool { return second.Members()[0].Status != StatusAlive })
}

// A seed that never answered is reported until the node has reached it once.
func TestNode_SeedsThatAreNeverReachedAreNamed(t *testing.T) {
	const nobody = "127.0.0.1:1"
	first := startNode(t, nil)
	second := startNode(t, func(o *Options) { o.NodeID, o.Seeds = "ow-2", []string{first.Addr().String(), nobody} })
	eventually(t, "one seed is reached and the other is not", func() bool {
		never := second.UnreachedSeeds()
		return len(second.Members()) == 2 && len(never) == 1 && !never[nobody].IsZero()
	})
	first.stop()
	if never := second.UnreachedSeeds(); len(never) != 1 {
		t.Errorf("once reached, a node is a member: %v", never)
	}
}

// Fault 19.
func TestDoor_DropsNothingThatMemberlistSends(t *testing.T) {
	quick := func(o *Options) {
		o.ProbeInterval, o.ProbeTimeout, o.GossipInterval = 50*time.Millisecond, 25*time.Millisecond, 10*time.Millisecond
	}
	var nodes []*testNode
	seeds := []string{"127.0.0.1:1"}
	for _, name := range []string{"ow-1", "ow-2", "ow-3"} {
		n := startNode(t, func(o *Options) {
			quick(o)
			o.NodeID, o.Seeds = name, append([]string(nil), seeds...)
		})
		nodes, seeds = append(nodes, n), append(seeds, n.Addr().String())
	}
	eventually(t, "all list all", func() bool {
		for _, n := range nodes {
			if len(n.Members()) != len(nodes) {
				return false
			}
		}
		return true
	})
	a := newTestAgent(t, "a1", gossipKey, nodes[0].Addr())
	a.enrol()
	a.reach()
	nodes[2].stop() // the other nodes suspect the node, and then treat it as dead
	eventually(t, "the death is agreed on", func() bool {
		return nodes[0].Members()[2].Status == StatusDead && nodes[1].Members()[2].Status == StatusDead
	})
	for i, n := range nodes[:2] {
		for _, reason := range dropReasons {
			if reason == frame.Incomplete {
				continue // the end of the third node, or a probe's time, may cut a stream short
			}
			if got := n.metric(t, "gslb_gossip_dropped_total", string(reason)); got != 0 {
				t.Errorf("node %d dropped %v packets and streams of its like: %s", i+1, got, reason)
			}
		}
	}
}

func TestNode_RestartedAgentIsHeardUnderItsPin(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	last := a.heartbeat()
	a.epoch, a.seq = a.epoch+1, 0
	a.enrol()
	a.datagram(a.heartbeat())
	n.registry.next(t)
	a.ack()
	a.datagram(last) // of the process before
	eventually(t, "the late message is refused",
		func() bool { return n.metric(t, "gslb_gossip_refused_total", "replay") == 1 })
}

func TestNode_BindTroubleNamesKeyAndRemedy(t *testing.T) {
	taken := startNode(t, nil).Addr().String()
	for _, try := range []struct{ bind, want string }{
		{taken, "another process has the port"},
		{"192.0.2.1:7946", "no interface of this host has that address"},
		{"nonsense", "want an address of this host and a port"},
		{"host.example.com:7946", "want an address of this host and a port"},
		{"127.0.0.1:70000", "from 0 to 65535"},
	} {
		o := testOptions(t)
		o.Bind = try.bind
		_, err := New(o)
		if err == nil || !strings.Contains(err.Error(), try.want) ||
			!strings.Contains(err.Error(), "overwatch.gossip.bind_address") || !strings.Contains(err.Error(), try.bind) {
			t.Errorf("%s: %v", try.bind, err)
		}
	}
}

func TestNode_TCPPortInUseFreesTheUDPPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	o := testOptions(t)
	o.Bind = ln.Addr().String()
	if _, err := New(o); err == nil {
		t.Fatal("bound")
	}
	udp, err := net.ListenPacket("udp", o.Bind)
	if err != nil {
		t.Fatal(err)
	}
	udp.Close()
}

func TestNode_ServesIPv6(t *testing.T) {
	if ln, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here")
	} else {
		ln.Close()
	}
	for _, bind := range []string{"[::1]:0", ":0"} {
		n := startNode(t, func(o *Options) { o.Bind = bind })
		for _, host := range []string{"::1", "127.0.0.1"} {
			if bind == "[::1]:0" && host != "::1" {
				continue
			}
			a := newTestAgent(t, "a-"+strings.ReplaceAll(host, ":", "x"), gossipKey,
				netip.AddrPortFrom(netip.MustParseAddr(host), n.Addr().Port()))
			a.enrol()
		}
	}
}

func TestNew_RefusesWhatIsMissing(t *testing.T) {
	for name, edit := range map[string]func(*Options){
		"no identity":   func(o *Options) { o.Identity = nil },
		"no boot nonce": func(o *Options) { o.Boot = identity.Nonce{} },
		"no node id":    func(o *Options) { o.NodeID = "" },
		"no keys":       func(o *Options) { o.Keys = nil },
		"short key":     func(o *Options) { o.Keys = [][]byte{gossipKey[:16]} },
		"bad seed":      func(o *Options) { o.Seeds = []string{"noport"} },
	} {
		o := testOptions(t)
		edit(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The Ack of an authenticated heartbeat introduces exactly the rejected nodes that have proved their certificate
// to this node, and the node lists all rejected nodes.
func TestNode_IntroducesProvedCertificatesOnly(t *testing.T) {
	proved := wire.NodeCertificate{NodeID: "ow-2", KeyID: [32]byte{2}}
	other := wire.NodeCertificate{NodeID: "ow-3", KeyID: [32]byte{3}}
	n := startNode(t, func(o *Options) {
		o.Introduces = func(id string, key identity.KeyID) bool { return id == proved.NodeID && key == proved.KeyID }
	})
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	a.datagram(a.seal(wire.TypeHeartbeat, &wire.Heartbeat{IntervalMillis: 10_000,
		Rejected: []wire.NodeCertificate{other, proved}}))
	if ack := a.ack(); len(ack.Introduced) != 1 || ack.Introduced[0] != proved {
		t.Errorf("ack %+v", ack)
	}
	list := n.RejectedNodes()
	if len(list) != 2 || list[0].NodeID != "ow-2" || list[1].NodeID != "ow-3" || list[1].Agents[0] != "a1" {
		t.Errorf("rejected nodes %+v", list)
	}
}
