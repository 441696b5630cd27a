package trust // inside: it uses answerEvery and lines

import (
	"errors"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/wire"
)

func TestReissue_PinsTheNextCertificateAndRefusesTheOldOne(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		r := newRig(t)
		a := r.agent("eu-web-1")
		held := a.enrol("app.test").Agent
		must(t, r.trust.Reissue(t.Context(), "eu-web-1"))
		if _, pinned := r.trust.Get("eu-web-1"); pinned || held.MaySpeakFor("app.test") {
			t.Error("the old certificate still speaks")
		}
		if refusal := r.told(a.beat(), wire.CodeRevoked); !strings.Contains(refusal.Detail, "--reset-identity") {
			t.Errorf("detail %q", refusal.Detail)
		}
		if restarted {
			r.restart()
		}
		r.told(a.again().enrolment("app.test"), wire.CodeRevoked)
		b := r.agent("eu-web-1")
		// The expected reissue proves nothing by itself.
		r.told(b.enrolment("app.test=a wrong token of more than 32 octets"), wire.CodeWrongToken)
		if m := b.enrol("app.test"); !m.NewlyPinned {
			t.Error("the new certificate is not pinned")
		}
		r.taken(b.beat())
		r.told(a.again().again().enrolment("app.test"), wire.CodePinMismatch)
		r.restart()
		if record, pinned := r.trust.Get("eu-web-1"); !pinned || record.KeyID != b.id.KeyID {
			t.Errorf("after a restart: %+v", record)
		}
	}
}

func TestReissue_IsAWayBackForARevokedAgentAndNotForItsOldCertificate(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "stolen"), r.trust.Reissue(t.Context(), "eu-web-1"))
	r.told(a.again().enrolment("app.test"), wire.CodeRevoked) // whoever stole it has it still
	r.agent("eu-web-1").enrol("app.test")
}

func TestReissue_OfNobodyIsAnError(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"nobody", ""} {
		if err := r.trust.Reissue(t.Context(), id); !errors.Is(err, ErrNotPinned) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestReissue_OnAFullDiskChangesNothing(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	r.pins.setFull(true)
	if err := r.trust.Reissue(t.Context(), "eu-web-1"); !errors.Is(err, store.ErrNotDurable) {
		t.Errorf("error %v", err)
	}
	r.taken(a.beat())
}

func TestUnpin_EndsAReissue(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	must(t, r.trust.Reissue(t.Context(), "eu-web-1"), r.trust.Unpin(t.Context(), "eu-web-1"))
	if err := r.trust.Unpin(t.Context(), "eu-web-1"); !errors.Is(err, ErrNotPinned) {
		t.Errorf("again: %v", err)
	}
	r.restart()
	a.again().enrol("app.test")
}

// After an operator's change, the node logs the next refusal again: an agent that was refused as revoked is now refused
// for another reason.
func TestReissue_TheNextRefusalIsToldInTheLog(t *testing.T) {
	r := newRig(t)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "eu-web-1", "stolen"))
	r.told(a.beat(), wire.CodeRevoked)
	before := r.lines("message of an agent was rejected")
	must(t, r.trust.Reissue(t.Context(), "eu-web-1"))
	r.advance(answerEvery)
	r.told(a.beat(), wire.CodeRevoked)
	if n := r.lines("message of an agent was rejected") - before; n != 1 {
		t.Errorf("%d lines after the reissue:\n%s", n, r.logged.String())
	}
}
