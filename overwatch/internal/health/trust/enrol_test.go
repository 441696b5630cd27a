package trust // inside: it uses attempt and lines

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

func TestEnrol_FirstUsePinsDurablyBeforeItIsAcknowledged(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	m := a.enrol("app.test", "db.test")
	if !m.NewlyPinned || m.Type != wire.TypeEnrol || len(m.Refused) != 0 {
		t.Errorf("message is %+v", m)
	}
	r.speaks(m.Agent, "app.test", "db.test")
	if !r.pins.has("eu-web-1") {
		t.Error("acknowledged before it was stored")
	}
	record, _ := r.trust.Get("eu-web-1")
	if record.KeyID != a.id.KeyID || record.Region != "eu" || record.Version != "1.0.0" || !record.FirstSeen.Equal(noon) ||
		record.Status != StatusValid || record.Serial != a.id.Serial {
		t.Errorf("record is %+v", record)
	}
	if r.lines("agent pinned") != 1 {
		t.Errorf("logged: %s", r.logged.String())
	}
}

func TestEnrol_PinsSurviveARestartAndOnlyTheCertificateIsNeededThen(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	r.restart()
	r.speaks(r.taken(a.beat()).Agent, "app.test")
	writes := r.pins.writes
	r.speaks(a.enrol("app.test").Agent, "app.test")
	r.speaks(a.enrol("app.test=wrong").Agent, "app.test") // known by its certificate
	if r.pins.writes != writes {
		t.Errorf("%d writes for enrolments that change nothing", r.pins.writes-writes)
	}
}

func TestEnrol_WrongTokenIsRefused(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	for _, service := range []string{"app.test=wrong", "app.test=" + dbToken, "app.test=",
		"app.test=TOKEN OF THE SERVICE APP, 0123456789"} {
		if refusal := r.told(a.enrolment(service), wire.CodeWrongToken); refusal.Service != "app.test" ||
			refusal.AgentID != "eu-web-1" {
			t.Errorf("refusal is %+v", refusal)
		}
	}
	if r.pins.has("eu-web-1") {
		t.Error("pinned")
	}
}

func TestEnrol_AnotherServicesTokenProvesNothing(t *testing.T) {
	r := newRig(t)
	r.told(r.agent("eu-web-1").enrolment("db.test="+appToken), wire.CodeWrongToken)
}

// An agent with a known certificate that sends one wrong proof keeps its access, and receives no refusal, because the
// other proofs are sufficient.
func TestEnrol_AWrongProofOfWhatItSpeaksForIsNotHeldAgainstIt(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	m := a.enrol("app.test=an earlier token, 0123456789", "db.test")
	r.speaks(m.Agent, "app.test", "db.test")
	if len(m.Refused) != 0 {
		t.Errorf("refused: %+v", m.Refused)
	}
}

// The tokens change between the check of the proofs and the check of the agent's services.
func TestEnrol_AWrongProofOfWhatItNoLongerSpeaksForIsRefused(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	sealed, err := identity.Parse(a.enrolment("app.test=an earlier token, 0123456789"))
	must(t, err)
	open := attempt{Trust: r.trust, now: r.now(), sealed: sealed}
	open.pinned, _ = r.trust.findByKey(sealed.KeyID)
	must(t, open.request.UnmarshalBinary(sealed.Payload))
	proved, refused := open.checkProofs()
	r.trust.SetTokens(map[string][]string{"app.test": {"another token, 0123456789 0123456789"}}, nil)
	if len(proved)+len(refused) > 0 || open.hasRights() {
		t.Fatalf("proved %v, refused %v, and speaks: not what this test is about", proved, refused)
	}
	if refusal := open.refuseUnproved(refused); refusal.Code != wire.CodeNotEnrolled || refusal.Detail != tokensChanged {
		t.Errorf("refusal is %+v", refusal)
	}
}

func TestEnrol_UnknownServiceIsRefused(t *testing.T) {
	r := newRig(t)
	r.told(r.agent("eu-web-1").enrolment("no.test="+appToken), wire.CodeUnknownService)
}

func TestEnrol_AnEmptyTokenIsNoToken(t *testing.T) {
	r := newRig(t)
	r.trust.SetTokens(map[string][]string{"app.test": {""}}, nil)
	r.told(r.agent("eu-web-1").enrolment("app.test="), wire.CodeUnknownService)
}

func TestEnrol_OneGoodProofPinsAndTheOthersAreTold(t *testing.T) {
	r := newRig(t)
	m := r.agent("eu-web-1").enrol("app.test", "db.test=wrong", "no.test=wrong")
	r.speaks(m.Agent, "app.test")
	want := []wire.RefusedClaim{{Service: "db.test", Code: wire.CodeWrongToken},
		{Service: "no.test", Code: wire.CodeUnknownService}}
	if !slices.Equal(m.Refused, want) {
		t.Errorf("refused %+v", m.Refused)
	}
	if r.lines("agent pinned without this service") != 2 {
		t.Errorf("logged %s", r.logged.String())
	}
	if m.Agent.MaySpeakFor("db.test") {
		t.Error("speaks for what it did not prove")
	}
}

func TestEnrol_KnownCertificateGainsAServiceThatItProves(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	before := a.enrol("app.test").Agent
	m := a.enrol("db.test")
	r.speaks(m.Agent, "app.test", "db.test")
	r.speaks(before, "app.test", "db.test")
	if m.NewlyPinned {
		t.Error("pinned anew")
	}
	r.restart()
	r.speaks(r.taken(a.beat()).Agent, "app.test", "db.test")
}

func TestEnrol_ProofOfAnotherCertificateIsWorthNothing(t *testing.T) {
	r := newRig(t)
	victim, thief := r.agent("eu-web-1"), r.agent("eu-web-2")
	var stolen []wire.Proof
	victim.enrolmentWith(func(m *wire.Enrol) { stolen = m.Proofs }, "app.test")
	r.told(thief.enrolmentWith(func(m *wire.Enrol) { m.Proofs = stolen }, "app.test"), wire.CodeWrongToken)
}

func TestEnrol_AnotherCertificateForAPinnedIDIsRefusedUntilThePinIsDeleted(t *testing.T) {
	r := newRig(t)
	old, renewed := r.agent("eu-web-1"), r.agent("eu-web-1")
	old.enrol("app.test")
	r.told(renewed.enrolment("app.test"), wire.CodePinMismatch)
	r.taken(old.beat())
	must(t, r.trust.Unpin(t.Context(), "eu-web-1"))
	if m := renewed.enrol("app.test"); !m.NewlyPinned {
		t.Error("not pinned")
	}
	r.told(old.again().enrolment("app.test"), wire.CodePinMismatch)
	r.taken(renewed.beat())
}

func TestEnrol_OfSomebodyElsesCertificateOrIDIsRefused(t *testing.T) {
	r := newRig(t)
	a, other := r.agent("eu-web-1"), r.agent("eu-web-2")
	r.untold(a.enrolmentWith(func(m *wire.Enrol) { m.Certificate = other.id.DER }, "app.test"), ReasonMalformed)
	r.untold(a.enrolmentWith(func(m *wire.Enrol) { m.AgentID = "eu-web-9" }, "app.test"), ReasonMalformed)
	r.untold(a.seal(wire.TypeEnrol, []byte("garbage")), ReasonMalformed)
	// The envelope of one agent contains the Enrol of another agent.
	r.untold(a.enrolmentWith(func(m *wire.Enrol) { m.AgentID, m.Certificate = "eu-web-2", other.id.DER }, "app.test"),
		ReasonMalformed)
	if len(r.trust.Agents()) != 0 {
		t.Error("somebody was pinned")
	}
}

func TestEnrol_SealedByAnotherKeyIsRefused(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	raw := a.enrolment("app.test")
	raw[len(raw)-1] ^= 1
	r.untold(raw, ReasonSignature)
	raw[len(raw)-1] ^= 1
	r.taken(raw) // it was not used up
}

func TestEnrol_AtMost16Services(t *testing.T) {
	r := newRig(t)
	tokens := map[string][]string{}
	var names []string
	for i := range wire.MaxServices + 2 {
		name := fmt.Sprintf("s%02d.test", i)
		tokens[name] = []string{appToken}
		names = append(names, name+"="+appToken)
	}
	r.trust.SetTokens(tokens, nil)
	a := r.agent("eu-web-1")
	a.enrol(names[:wire.MaxServices-1]...)
	m := a.enrol(names[wire.MaxServices-1:]...)
	if len(m.Agent.Services()) != wire.MaxServices || len(m.Refused) != 2 || m.Refused[0].Code != wire.CodeLimit {
		t.Errorf("speaks for %d services, refused %+v", len(m.Agent.Services()), m.Refused)
	}
}

// Fault 13.
func TestEnrol_WithoutRoomOnTheDiskIsNotAcknowledgedAndWorksLater(t *testing.T) {
	r := newRig(t)
	known, fresh := r.agent("eu-web-1"), r.agent("eu-web-2")
	known.enrol("app.test")
	r.pins.setFull(true)
	r.told(fresh.enrolment("app.test"), wire.CodeUnavailable)
	r.told(known.enrolment("db.test"), wire.CodeUnavailable)
	for i := range 5 {
		r.refused(r.agent(fmt.Sprintf("more-%d", i)).enrolment("app.test"), Reason(wire.CodeUnavailable.String()))
	}
	if n := r.lines("storing a pin failed"); n != 1 {
		t.Errorf("%d lines", n)
	}
	r.speaks(r.taken(known.beat()).Agent, "app.test") // those that are pinned are not affected
	known.enrol("app.test")
	// A proof of a token that could not be stored does not count, even after the proofs are checked again.
	newer := "token of the service app, its next"
	r.trust.SetTokens(map[string][]string{"app.test": {newer, appToken}}, rigPolicies)
	r.told(known.enrolment("app.test="+newer), wire.CodeUnavailable)
	r.trust.SetTokens(map[string][]string{"app.test": {newer}}, rigPolicies)
	r.refused(known.beat(), Reason(wire.CodeNotEnrolled.String()))
	r.trust.SetTokens(r.tokens, rigPolicies)
	r.speaks(r.taken(known.beat()).Agent, "app.test")
	r.untold(fresh.beat(), ReasonUnknownKey)
	if _, there := r.trust.Get("eu-web-2"); there {
		t.Error("pinned in memory, not on disk")
	}
	r.pins.setFull(false)
	r.speaks(known.enrol("db.test").Agent, "app.test", "db.test")
	r.speaks(fresh.enrol("app.test").Agent, "app.test")
	r.pins.setFull(true) // once more, which is worth a line again
	r.refused(r.agent("late").enrolment("app.test"), Reason(wire.CodeUnavailable.String()))
	if n := r.lines("storing a pin failed"); n != 2 {
		t.Errorf("%d lines after the disk was full twice", n)
	}
}

func TestEnrol_RegionAndVersionFollowTheAgent(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	m := r.taken(a.enrolmentWith(func(m *wire.Enrol) { m.Region, m.Version = "us", "2.0.0" }, "app.test"))
	if m.Agent.Region() != "us" {
		t.Errorf("region %s", m.Agent.Region())
	}
	r.restart()
	if record, _ := r.trust.Get("eu-web-1"); record.Region != "us" || record.Version != "2.0.0" {
		t.Errorf("record %+v", record)
	}
}

func TestAgent_ZeroSpeaksForNothing(t *testing.T) {
	var a Agent
	if a.ID() != "" || a.Region() != "" || len(a.Services()) != 0 || a.MaySpeakFor("app.test") ||
		a.Allowed("app.test", netip.MustParseAddrPort("10.0.0.1:80")) {
		t.Error("the zero Agent is somebody")
	}
	_ = a.KeyID()
}
