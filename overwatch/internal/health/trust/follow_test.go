package trust // inside: it uses tokenName

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/wire"
)

// A revocation of another node has the same effect as a local revocation, even if the agent was never pinned on this
// node. An unpin of the other node ends it.
func TestFollow_ARevocationOfAnotherNode(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	held := a.enrol("app.test").Agent
	pin, _, _ := r.pins.LoadPin("eu-web-1")
	pin.Revoked, pin.RevokedReason = true, "stolen"
	must(t, r.pins.PutPin(pin))
	for range 2 {
		if lost, err := r.trust.ApplyPeerChange("eu-web-1", noon); err != nil || !lost {
			t.Fatal(lost, err)
		}
	}
	r.speaks(held)
	r.told(a.beat(), wire.CodeRevoked)
	r.told(r.agent("eu-web-1").enrolment("app.test"), wire.CodeRevoked)
	if uses := r.trust.Usage(); uses[0].Pins != 0 {
		t.Errorf("%+v", uses)
	}
	must(t, r.pins.DeletePin("eu-web-1"))
	if _, err := r.trust.ApplyPeerChange("eu-web-1", noon); err != nil {
		t.Fatal(err)
	}
	r.agent("eu-web-1").enrol("app.test")

	stranger := r.agent("us-web-1")
	must(t, r.pins.PutPin(store.Pin{AgentID: "us-web-1", CertificateDER: stranger.id.DER, Revoked: true}))
	if lost, err := r.trust.ApplyPeerChange("us-web-1", noon); err != nil || lost {
		t.Fatal(lost, err)
	}
	r.told(stranger.enrolment("app.test"), wire.CodeRevoked)
}

// An agent process that started before an unpin cannot enrol again, and a later process can. New pins stay.
func TestFollow_AnUnpinOfAnotherNode(t *testing.T) {
	r := newRig(t)
	a, b := r.agent("eu-web-1"), r.agent("eu-web-2")
	a.enrol("app.test")
	b.enrol("app.test")
	must(t, r.pins.DeletePin("eu-web-1"), r.pins.DeletePin("eu-web-2"))
	for id, at := range map[string]time.Time{"eu-web-1": noon.Add(time.Hour), "eu-web-2": noon.Add(-time.Hour)} {
		if lost, err := r.trust.ApplyPeerChange(id, at); err != nil || !lost {
			t.Fatal(lost, err)
		}
	}
	r.told(a.enrolment("app.test"), wire.CodeNotEnrolled)
	a.again().enrol("app.test")
	b.enrol("app.test")
	if lost, err := r.trust.ApplyPeerChange("eu-web-2", noon); err != nil || lost {
		t.Fatal(lost, err)
	}
	r.taken(b.beat())
}

// A reissue and a lock of another node also apply on this node.
func TestFollow_AReissueAndALockOfAnotherNode(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	record, _ := r.trust.Get("eu-web-1")
	must(t, r.pins.ChangePins(store.PinChange{Put: []store.Pin{{AgentID: "eu-web-1", Superseded: record.KeyID}},
		Lock: []store.TokenLock{{Service: "app.test", Tokens: [][16]byte{tokenName(appToken, "app.test")}}}}))
	if _, err := r.trust.ApplyPeerChange("eu-web-1", noon); err != nil {
		t.Fatal(err)
	}
	r.told(a.again().enrolment("app.test"), wire.CodeRevoked)
	must(t, r.trust.ApplyPeerLock("app.test"))
	r.told(r.agent("eu-web-2").enrolment("app.test"), wire.CodeLocked)
	must(t, r.pins.ChangePins(store.PinChange{Unlock: []string{"app.test"}}), r.trust.ApplyPeerLock("app.test"))
	r.agent("eu-web-1").enrol("app.test")
}
