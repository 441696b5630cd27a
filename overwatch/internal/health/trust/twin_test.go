package trust // inside: it uses twinGrace and troubleLasts

import (
	"testing"
	"time"

	"gslb.internal/shared/wire"
)

// stated creates a heartbeat with the interval of 10 s.
func (s *sender) stated() []byte {
	s.rig.t.Helper()
	m := wire.Heartbeat{IntervalMillis: 10_000, MissedThreshold: 3}
	payload, err := m.MarshalBinary()
	if err != nil {
		s.rig.t.Fatal(err)
	}
	return s.seal(wire.TypeHeartbeat, payload)
}

// troubled returns the codes of the troubles of the rig.
func (r *rig) troubled() (codes []wire.RejectCode) {
	for _, one := range r.trust.Troubles() {
		codes = append(codes, one.Code)
	}
	return codes
}

// wantTrouble checks that the rig has exactly one trouble with the code, or none for the code 0.
func (r *rig) wantTrouble(when string, code wire.RejectCode) {
	r.t.Helper()
	got := r.troubled()
	if code == 0 && len(got) > 0 || code != 0 && (len(got) != 1 || got[0] != code) {
		r.t.Errorf("%s: troubles %v, want %s", when, got, code)
	}
}

// A copied data_dir: the node accepts the process with the later epoch, answers the earlier one, and reports the
// duplicate until the earlier one is silent.
func TestOpen_ACopiedIdentityIsReported(t *testing.T) {
	r := newRig(t)
	original := r.agent("a1")
	copied := original.again()
	original.enrol("app.test")
	r.advance(time.Minute)
	copied.enrol("app.test")
	r.refused(original.stated(), ReasonReplay) // the message may have been delayed
	r.advance(twinGrace)
	for range 2 {
		refusal := r.refused(original.stated(), Reason(wire.CodeDuplicate.String()))
		if refusal.Silent || refusal.Epoch != copied.epoch || refusal.Reject().Epoch != copied.epoch {
			t.Errorf("the answer: %+v", refusal)
		}
		r.advance(answerEvery)
	}
	r.wantTrouble("while both report", wire.CodeDuplicate)
	if m := r.taken(copied.stated()); !m.Duplicate {
		t.Error("the later process is not told")
	}
	if n := r.lines("two agents use the same identity"); n != 1 {
		t.Errorf("%d log lines", n)
	}
	r.advance(21 * time.Second)
	r.wantTrouble("after the original has stopped", 0)
	if m := r.taken(copied.stated()); m.Duplicate {
		t.Error("the later process is told of a process that has stopped")
	}
}

// The earlier process may enroll with a later epoch as soon as the later process has deregistered or is silent.
func TestOpen_TheEarlierProcessMayReturnWhenTheLaterStops(t *testing.T) {
	for name, stop := range map[string]func(*rig, *sender){
		"goodbye": func(r *rig, copied *sender) { r.taken(copied.seal(wire.TypeDeregister, nil)) },
		"killed":  func(r *rig, _ *sender) { r.advance(13 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			original := r.agent("a1")
			copied := original.again()
			original.enrol("app.test")
			copied.enrol("app.test")
			r.advance(twinGrace)
			r.refused(original.stated(), Reason(wire.CodeDuplicate.String()))
			stop(r, copied)
			r.advance(answerEvery)
			refusal := r.refused(original.stated(), Reason(wire.CodeNewEpoch.String()))
			original.epoch = refusal.Epoch + 1
			original.enrol("app.test")
			r.taken(original.stated())
			r.wantTrouble("after the return", 0)
			r.advance(twinGrace)
			r.refused(copied.stated(), Reason(wire.CodeDuplicate.String()))
		})
	}
}

// Only a heartbeat states the interval, so no other message of the earlier process makes the later one count as silent.
func TestOpen_OnlyAHeartbeatFindsTheLaterProcessSilent(t *testing.T) {
	r := newRig(t)
	original := r.agent("a1")
	copied := original.again()
	original.enrol("app.test")
	copied.enrol("app.test")
	duplicate := Reason(wire.CodeDuplicate.String())
	for range 3 {
		r.advance(5 * time.Second) // within the interval of 10 s
		r.refused(original.seal(wire.TypeTransition, nil), duplicate)
		r.advance(answerEvery)
		r.refused(original.enrolment("app.test"), duplicate)
		r.taken(copied.stated())
	}
	r.taken(copied.seal(wire.TypeDeregister, nil))
	r.advance(answerEvery)
	r.refused(original.enrolment("app.test"), Reason(wire.CodeNewEpoch.String()))
}

// Another Enrol of the later process, as after a reload, does not interrupt the report of the duplicate.
func TestOpen_ADuplicateOutlastsAnEnrolOfTheLaterProcess(t *testing.T) {
	r := newRig(t)
	original := r.agent("a1")
	copied := original.again()
	original.enrol("app.test")
	copied.enrol("app.test")
	for range 2 {
		r.advance(twinGrace)
		r.refused(original.stated(), Reason(wire.CodeDuplicate.String()))
	}
	copied.enrol("app.test")
	r.wantTrouble("after another Enrol", wire.CodeDuplicate)
}

// Recordings of processes that are older than the stored windows make no duplicate, however many restarts came after.
func TestOpen_OldRecordingsMakeNoDuplicate(t *testing.T) {
	r := newRig(t)
	process := r.agent("a1")
	var recordings [][]byte
	for range maxFormer + 3 {
		process.enrol("app.test")
		recordings = append(recordings, process.stated())
		r.taken(recordings[len(recordings)-1])
		process = process.again()
		r.advance(time.Minute)
	}
	for range 2 {
		for _, recording := range recordings {
			r.refused(recording, ReasonReplay)
			r.advance(answerEvery)
		}
	}
	r.wantTrouble("after the recordings", 0)
}

// Neither a recording nor a forged message makes an agent a duplicate, nor does the last message of a process before an
// ordinary restart.
func TestOpen_OnlyNewAuthenticMessagesMakeADuplicate(t *testing.T) {
	r := newRig(t)
	original, stranger := r.agent("a1"), r.agent("a1")
	original.enrol("app.test")
	recorded := original.stated()
	r.taken(recorded)
	forged := stranger.stated()
	copy(forged[5:37], original.id.KeyID[:]) // the key id
	again := original.again()
	again.enrol("app.test")
	late, goodbye := original.stated(), original.seal(wire.TypeDeregister, nil)
	r.refused(late, ReasonReplay)
	r.advance(time.Minute)
	for range 3 {
		r.refused(recorded, ReasonReplay)
		r.refused(forged, ReasonSignature)
		r.refused(goodbye, ReasonReplay)
		r.advance(answerEvery)
	}
	r.wantTrouble("after recordings", 0)
}

// A new certificate under a pinned name is a trouble if it comes with a service token, until the pin is deleted.
func TestTroubles_ANewCertificateUnderAPinnedName(t *testing.T) {
	r := newRig(t)
	r.agent("a1").enrol("app.test")
	mismatch := Reason(wire.CodePinMismatch.String())
	r.refused(r.agent("a1").enrolment("app.test=guessed"), mismatch)
	r.wantTrouble("without the token", 0)
	other := r.agent("a1")
	r.refused(other.enrolment("app.test"), mismatch)
	r.wantTrouble("with the token", wire.CodePinMismatch)
	if one := r.trust.Troubles()[0]; one.AgentID != "a1" || one.KeyID != other.id.KeyID || !one.From.IsValid() {
		t.Errorf("%+v", one)
	}
	if err := r.trust.Unpin(t.Context(), "a1"); err != nil {
		t.Fatal(err)
	}
	r.wantTrouble("after the pin was deleted", 0)
	other.enrol("app.test")
	r.wantTrouble("after the enrolment", 0)
}

// The refusal of an expired certificate is a trouble for as long as the agent retries.
func TestTroubles_AnExpiredCertificate(t *testing.T) {
	r := newRig(t)
	a := r.agent("a1")
	a.enrol("app.test")
	r.advance(500 * 24 * time.Hour)
	r.refused(a.stated(), Reason(wire.CodeExpired.String()))
	r.wantTrouble("expired", wire.CodeExpired)
	r.advance(troubleLasts)
	r.wantTrouble("after the agent has stopped", 0)
}
