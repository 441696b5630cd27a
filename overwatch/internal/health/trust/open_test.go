package trust // inside: it uses answersBurst, checksBurst, lines and noticesBurst

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

func TestOpen_BelievesAPinnedAgent(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	for _, kind := range []wire.Type{wire.TypeHeartbeat, wire.TypeTransition, wire.TypeDeregister, wire.TypeSignal,
		wire.TypeDrain} {
		m := r.taken(a.seal(kind, []byte("contents")))
		if m.Type != kind || m.Epoch != a.epoch || m.Seq != a.seq || string(m.Payload) != "contents" ||
			m.SentAtMillis != r.now().UnixMilli() || m.NewlyPinned {
			t.Errorf("message is %+v", m)
		}
		if m.Agent.ID() != "eu-web-1" || m.Agent.KeyID() != a.id.KeyID || m.Agent.Region() != "eu" {
			t.Errorf("agent is %s, %s, %s", m.Agent.ID(), m.Agent.KeyID().Fingerprint(), m.Agent.Region())
		}
		r.speaks(m.Agent, "app.test")
	}
}

func TestOpen_NoOctetOfAMessageCanBeChanged(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	enrolment := a.enrolment("app.test")
	for i := range enrolment {
		changed := bytes.Clone(enrolment)
		changed[i] ^= 0x01
		if m, refusal := r.trust.Open(changed, netip.MustParseAddr("192.0.2.1")); refusal == nil {
			t.Fatalf("octet %d of an Enrol does not matter: %+v", i, m)
		}
	}
	if r.pins.has("eu-web-1") {
		t.Fatal("pinned by a changed message")
	}
	r.taken(enrolment)
	beat := a.beat()
	for i := range beat {
		changed := bytes.Clone(beat)
		changed[i] ^= 0x01
		if _, refusal := r.trust.Open(changed, netip.MustParseAddr("192.0.2.1")); refusal == nil {
			t.Fatalf("octet %d of a Heartbeat does not matter", i)
		}
	}
	r.taken(beat) // none of the changed ones used up its sequence number
}

func TestOpen_RefusesGarbage(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	for name, raw := range map[string][]byte{
		"nothing":     nil,
		"text":        []byte("GET / HTTP/1.1\r\n\r\n"),
		"too large":   make([]byte, wire.MaxMessage+1),
		"only a head": a.beat()[:identity.Overhead-1],
	} {
		if refusal := r.untold(raw, ReasonMalformed); refusal.AgentID != "" {
			t.Errorf("%s is attributed to %s", name, refusal.AgentID)
		}
	}
}

// Fault 21.
func TestOpen_RefusesAReplayInTheSameProcess(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	enrolment := a.enrolment("app.test")
	r.taken(enrolment)
	r.untold(enrolment, ReasonReplay)
	first, second := a.beat(), a.beat()
	r.taken(second)
	r.untold(second, ReasonReplay)
	r.untold(first, ReasonReplay)
	b := a.again()
	r.taken(b.beat())
	r.untold(a.beat(), ReasonReplay) // from the agent's process before
}

// Fault 21.
func TestOpen_RefusesARecordingInALaterProcess(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	enrolment := a.enrolment("app.test")
	r.taken(enrolment)
	beat := a.beat()
	r.restart()
	r.told(beat, wire.CodeBootNonce)
	r.told(enrolment, wire.CodeBootNonce)
	if r.lines(`"level":"warn"`) != 0 { // every agent sends such a message after every restart of a node
		t.Errorf("logged %s", r.logged.String())
	}
	m := a.enrol("app.test") // the agent's answer to that
	if m.NewlyPinned {
		t.Error("the pin did not survive the restart")
	}
	r.taken(a.beat())
}

// Fault 21.
func TestOpen_RefusesARecordingAtAnotherNode(t *testing.T) {
	here, there := newRig(t), newRig(t)
	a := here.agent("eu-web-1")
	enrolment := a.enrolment("app.test")
	here.taken(enrolment)
	there.untold(enrolment, Reason(wire.CodeBootNonce.String())) // the other node does not know the agent
	b := &sender{rig: there, id: a.id, epoch: a.epoch}
	b.enrol("app.test")
	there.told(a.beat(), wire.CodeBootNonce)
}

// Fault 21.
func TestOpen_RefusesAMessageSealedByAnotherKey(t *testing.T) {
	r := newRig(t)
	a, other := r.agent("eu-web-1"), r.agent("eu-web-2")
	a.enrol("app.test")
	other.enrol("app.test")
	other.seq = 1000
	raw := other.beat()
	copy(raw[5:37], a.id.KeyID[:])
	r.untold(raw, ReasonSignature)
	r.taken(a.beat()) // and its sequence was not used up
}

// Fault 21.
func TestOpen_RefusesAMessageOfTheOtherDirection(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	r.untold(a.id.Seal(identity.NodeToAgent, identity.Envelope{
		Major: wire.Major, Type: uint8(wire.TypeHeartbeat), BootNonce: r.boot, Epoch: a.epoch, Seq: 100,
	}), ReasonSignature)
}

func TestOpen_RefusesWhatNoAgentSends(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	for _, kind := range []wire.Type{0, wire.TypeHello, wire.TypeAck, wire.TypeReject, 200} {
		r.untold(a.seal(kind, nil), ReasonUnknownType)
	}
}

// Fault 21.
func TestOpen_RefusesAnotherMajorVersionWithAReasonAndTakesAnotherMinor(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	envelope := identity.Envelope{Major: wire.Major, Minor: 200, Type: uint8(wire.TypeHeartbeat), BootNonce: r.boot,
		Epoch: a.epoch, Seq: 100}
	r.taken(a.id.Seal(identity.AgentToNode, envelope))
	envelope.Major = wire.Major + 1
	refusal := r.told(a.id.Seal(identity.AgentToNode, envelope), wire.CodeVersion)
	if !strings.Contains(refusal.Detail, "2.200") ||
		!strings.Contains(refusal.Detail, fmt.Sprintf("speaks %d.%d", wire.Major, wire.Minor)) {
		t.Errorf("detail: %q", refusal.Detail)
	}
}

// Fault 21.
func TestOpen_RefusesAnUnknownKey(t *testing.T) {
	r := newRig(t)
	r.untold(r.agent("eu-web-1").beat(), ReasonUnknownKey)
}

// Fault 12.
// Fault 21.
// Fault 22.
func TestOpen_RefusesACertificateThatExpiredOrIsNotYetValid(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	r.advance(identity.Validity - 2*time.Hour)
	r.taken(a.beat())
	r.advance(2 * time.Hour)
	r.told(a.beat(), wire.CodeExpired)
	r.told(a.enrolment("app.test"), wire.CodeExpired)
	old := r.agentAt("eu-web-2", r.now().Add(-identity.Validity))
	r.told(old.enrolment("app.test"), wire.CodeExpired)

	ahead := r.agentAt("eu-web-3", r.now().Add(24*time.Hour))
	ahead.enrol("app.test") // its clock is a day ahead: accepted
	far := r.agentAt("eu-web-4", r.now().Add(72*time.Hour))
	r.told(far.enrolment("app.test"), wire.CodeNotYetValid)
	r.advance(72 * time.Hour)
	far.enrol("app.test")
}

func TestReject_IsAboutTheMessageThatWasRefused(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	refusal := r.told(a.enrolment("app.test=wrong"), wire.CodeWrongToken)
	got := refusal.Reject()
	want := wire.Reject{AckedType: wire.TypeEnrol, AckedSeq: a.seq, AckedKey: a.id.KeyID, Code: wire.CodeWrongToken,
		Service: "app.test", Detail: refusal.Detail}
	if got != want || refusal.Detail == "" {
		t.Errorf("got %+v", got)
	}
	if strings.Contains(r.logged.String(), appToken) || strings.Contains(refusal.Detail, appToken) {
		t.Error("the token is shown")
	}
}

// An attacker with the gossip key and without an agent's key must not be able to make the node send messages to the
// agent.
func TestReject_IsNotSentForAMessageThatTheAgentDidNotSeal(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "stolen"))
	forged := a.beat()
	forged[len(forged)-1] ^= 1
	r.advance(answerEvery)
	r.untold(forged, Reason(wire.CodeRevoked.String()))
	wrong := r.agent("eu-web-2").enrolment("app.test=wrong")
	wrong[len(wrong)-1] ^= 1
	r.untold(wrong, Reason(wire.CodeWrongToken.String()))
}

// Forged messages under an agent's key id neither prevent the answers to the agent's refusals nor their audit entries,
// unless there are more messages than a node checks.
func TestReject_ForgedMessagesTakeNoneOfThoseToAPinnedAgent(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "stolen"))
	revoked, version := Reason(wire.CodeRevoked.String()), Reason(wire.CodeVersion.String())
	forged := a.beat()
	forged[len(forged)-1] ^= 1
	unchecked := a.id.Seal(identity.AgentToNode, identity.Envelope{Major: wire.Major + 1, Type: uint8(wire.TypeHeartbeat),
		BootNonce: r.boot, Epoch: a.epoch, Seq: 100})
	r.advance(answerEvery)
	for range checksBurst - 1 {
		r.untold(forged, revoked)
	}
	if r.refused(unchecked, version).Silent {
		t.Error("another version is not answered")
	}
	r.untold(unchecked, version)
	if r.refused(a.beat(), revoked).Silent {
		t.Error("the agent's own message is not answered any more")
	}
	r.untold(a.beat(), revoked)
	r.advance(answerEvery)
	for range checksPerSecond {
		r.untold(forged, revoked)
	}
	r.untold(a.beat(), revoked) // more is not checked
	r.told(a.beat(), wire.CodeRevoked)
}

func TestReject_IsBoundedPerAgentAndInAll(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "stolen"))
	revoked := Reason(wire.CodeRevoked.String())
	r.told(a.beat(), wire.CodeRevoked)
	for range 100 {
		r.untold(a.beat(), revoked)
	}
	r.told(a.beat(), wire.CodeRevoked)

	stranger, answered := r.agent("eu-web-2"), 0
	for range 3 * answersBurst {
		if !r.refused(stranger.enrolment("app.test=wrong"), Reason(wire.CodeWrongToken.String())).Silent {
			answered++
		}
	}
	if answered > answersBurst {
		t.Errorf("%d answers at once, at most %d", answered, answersBurst)
	}
	r.told(stranger.enrolment("app.test=wrong"), wire.CodeWrongToken) // a second later there are answers again
}

func TestLog_OneLinePerAgentAndCode(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	for range 5 {
		r.told(a.enrolment("app.test=wrong"), wire.CodeWrongToken)
	}
	if n := r.lines("message of an agent was rejected"); n != 1 {
		t.Errorf("%d lines for the same refusal", n)
	}
	r.told(a.enrolment("no.test=wrong"), wire.CodeUnknownService)
	if n := r.lines("message of an agent was rejected"); n != 2 {
		t.Errorf("%d lines for two kinds of refusal", n)
	}
	a.enrol("app.test")
	for range 100 {
		r.taken(a.beat())
	}
	if n := r.lines("\n"); n != 3 {
		t.Errorf("%d lines in all: %s", n, r.logged.String())
	}
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "stolen"))
	for range 5 {
		r.told(a.beat(), wire.CodeRevoked)
	}
	if n := r.lines("message of an agent was rejected"); n != 3 {
		t.Errorf("%d lines of refusals", n)
	}
}

func TestLog_MadeUpAgentsDoNotFloodIt(t *testing.T) {
	r := newRig(t)
	for i := range 5 * noticesBurst {
		r.refused(r.agent("made-up-"+strings.Repeat("x", i%60)+string(rune('a'+i/60))).enrolment("app.test=wrong"),
			Reason(wire.CodeWrongToken.String()))
	}
	if n := r.lines("message of an agent was rejected"); n > noticesBurst {
		t.Errorf("%d lines", n)
	}
}

func FuzzOpen(f *testing.F) {
	r := newRig(f)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	f.Add(a.beat())
	f.Add(a.enrolment("db.test"))
	f.Add(r.agent("eu-web-2").enrolment("app.test", "db.test=wrong"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := len(r.trust.Agents())
		m, refusal := r.trust.Open(raw, netip.MustParseAddr("192.0.2.1"))
		switch {
		case refusal == nil && m.Agent.ID() == "":
			t.Error("believed nobody")
		case refusal != nil && len(r.trust.Agents()) != before:
			t.Error("a refused message pinned somebody")
		}
	})
}
