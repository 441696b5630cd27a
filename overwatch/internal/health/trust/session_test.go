package trust // inside: it looks at sender

import (
	"net/netip"
	"testing"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// process is a process of an agent that has a session with the node.
type process struct {
	*sender
	half    *identity.Exchange
	session *identity.Session
}

// inSession enrols a new process of the agent that requests a session.
func (s *sender) inSession(services ...string) *process {
	s.rig.t.Helper()
	p := &process{sender: s.again(), half: identity.NewExchange()}
	p.seq = s.seq
	m := s.rig.taken(p.asking(p.half.Share(), services...))
	if m.Session != nil {
		s.rig.t.Error("an Enrol is in a session")
	}
	p.agree()
	return p
}

// asking creates an Enrol that requests a session.
func (s *sender) asking(share identity.Share, services ...string) []byte {
	return s.enrolmentWith(func(m *wire.Enrol) { m.Share = share }, services...)
}

// agree derives the session like the agent.
func (p *process) agree() {
	p.rig.t.Helper()
	var err error
	p.session, err = p.half.Agree(identity.Pairing{Agent: p.id.KeyID, Node: nodeKey, Boot: p.rig.boot, Epoch: p.epoch,
		AgentShare: p.half.Share(), NodeShare: p.rig.half.Share()})
	if err != nil {
		p.rig.t.Fatal(err)
	}
}

// code creates the next message in the session.
func (p *process) code(kind wire.Type) []byte {
	p.seq++
	return p.session.Seal(identity.AgentToNode, identity.Envelope{Major: wire.Major, Minor: wire.Minor, Type: uint8(kind),
		Seq: p.seq, Payload: []byte("contents")})
}

func TestSession_AHeartbeatIsBelievedByItsCodeAndNothingElseIs(t *testing.T) {
	r := newRig(t)
	p := r.agent("eu-web-1").inSession("app.test")
	m := r.taken(p.code(wire.TypeHeartbeat))
	if m.Type != wire.TypeHeartbeat || m.Agent.ID() != "eu-web-1" || string(m.Payload) != "contents" || m.Session == nil {
		t.Errorf("%+v", m)
	}
	r.speaks(m.Agent, "app.test")
	if m = r.taken(p.beat()); m.Session != nil {
		t.Error("a signed heartbeat is in a session")
	}
	for _, kind := range []wire.Type{wire.TypeTransition, wire.TypeDeregister, wire.TypeSignal, wire.TypeDrain,
		wire.TypeEnrol} {
		reason := ReasonSignature
		if kind == wire.TypeEnrol {
			reason = ReasonMalformed
		}
		r.untold(p.code(kind), reason)
	}
	last := p.code(wire.TypeHeartbeat)
	r.taken(last)
	r.untold(last, ReasonReplay)
}

// The session is that of the last Enrol. After an Enrol without a share, there is no session.
func TestSession_EndsWithAnEnrolThatAsksForNone(t *testing.T) {
	r := newRig(t)
	p := r.agent("eu-web-1").inSession("app.test")
	r.taken(p.code(wire.TypeHeartbeat))
	p.enrol("app.test")
	r.untold(p.code(wire.TypeHeartbeat), ReasonSignature)
	r.taken(p.beat())
}

// An attacker who has the gossip key, every certificate and every share, all of which are transmitted, cannot use the
// session.
func TestSession_OthersCannotSpeakInIt(t *testing.T) {
	r := newRig(t)
	victim := r.agent("eu-web-1").inSession("app.test")
	other := r.agent("eu-db-1").inSession("db.test")
	stranger := identity.NewExchange()
	for name, half := range map[string]*identity.Exchange{"another agent": other.half, "a stranger": stranger} {
		forged, err := half.Agree(identity.Pairing{Agent: victim.id.KeyID, Node: nodeKey, Boot: r.boot, Epoch: victim.epoch,
			AgentShare: half.Share(), NodeShare: r.half.Share()})
		if err != nil {
			t.Fatal(err)
		}
		p := &process{sender: victim.sender, session: forged}
		if refusal := r.untold(p.code(wire.TypeHeartbeat), ReasonSignature); refusal.AgentID != "eu-web-1" {
			t.Errorf("%s: %v", name, refusal)
		}
	}
	// An Enrol with another share that the agent did not sign does not change the session.
	forger := &sender{rig: r, id: other.id, epoch: victim.epoch, seq: victim.seq}
	raw := forger.enrolmentWith(func(m *wire.Enrol) {
		m.AgentID, m.Certificate, m.Share = "eu-web-1", victim.id.DER,
			stranger.Share()
	}, "app.test")
	copy(raw[5:37], victim.id.KeyID[:])
	if _, refusal := r.trust.Open(raw, netip.MustParseAddr("192.0.2.1")); refusal == nil {
		t.Error("a forged Enrol is believed")
	}
	r.taken(victim.code(wire.TypeHeartbeat))
}

func TestSession_IsThatOfTheNewestProcess(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	old := a.inSession("app.test")
	recorded := old.asking(old.half.Share(), "app.test")
	r.taken(recorded)
	late := old.code(wire.TypeHeartbeat)
	next := old.inSession("app.test")
	r.untold(late, ReasonReplay)
	r.untold(recorded, ReasonReplay)
	r.taken(next.code(wire.TypeHeartbeat))
	plain := next.again() // an earlier version, or one that wants none
	r.taken(plain.enrolment("app.test"))
	stale := &process{sender: plain, half: next.half, session: next.session}
	r.untold(stale.code(wire.TypeHeartbeat), ReasonReplay)
	stale.agree()
	r.untold(stale.code(wire.TypeHeartbeat), ReasonSignature)
	r.taken(plain.beat())
}

func TestSession_EndsWithThePinAndWithTheProcessOfTheNode(t *testing.T) {
	r := newRig(t)
	revoked, unpinned, kept := r.agent("a").inSession("app.test"), r.agent("b").inSession("app.test"),
		r.agent("c").inSession("app.test")
	must(t, r.trust.Revoke(t.Context(), "a", "stolen"))
	r.told(revoked.code(wire.TypeHeartbeat), wire.CodeRevoked)
	must(t, r.trust.Unpin(t.Context(), "b"))
	r.refused(unpinned.code(wire.TypeHeartbeat), Reason(wire.CodeNotEnrolled.String()))
	recorded := kept.code(wire.TypeHeartbeat)
	r.restart()
	r.refused(recorded, Reason(wire.CodeBootNonce.String()))
	kept.agree() // the new process does not know the session
	r.untold(kept.code(wire.TypeHeartbeat), ReasonSignature)
	r.taken(kept.asking(kept.half.Share(), "app.test"))
	r.taken(kept.code(wire.TypeHeartbeat))
}

func TestSession_AShareOfNobodyIsRefused(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	r.untold(a.asking(identity.Share{1}, "app.test"), ReasonMalformed)
	if _, there := r.trust.Get("eu-web-1"); there {
		t.Error("pinned all the same")
	}
	a.enrol("app.test")
}
