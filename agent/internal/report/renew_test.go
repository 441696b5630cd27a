package report // inside: it uses link, self and status

import (
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/wire"
)

// proved returns the services of the newest Enrol.
func (n *fakeNode) proved(t *testing.T) (services []string) {
	t.Helper()
	enrols := n.got(wire.TypeEnrol, time.Time{})
	var m wire.Enrol
	if err := m.UnmarshalBinary(enrols[len(enrols)-1].sealed.Payload); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Proofs {
		services = append(services, p.Service)
	}
	return services
}

func TestRenew_AnotherServiceIsProvedBeforeItsBackendIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l, s := startStanding(t, n)
		defer l.stop()
		r := &Reporter{agent: l.self, places: []*place{{link: l.link}}}
		after(11 * time.Second)
		begun := time.Now()
		s.set(func(b *wire.Backend) { b.Service = "other.example.com" })
		r.RenewBackends(map[string]string{testService: testToken, "other.example.com": testToken}, false)
		after(500 * time.Millisecond)
		enrols, beats := n.got(wire.TypeEnrol, begun), n.got(wire.TypeHeartbeat, begun)
		if len(enrols) != 1 || len(n.proved(t)) != 2 {
			t.Fatalf("%d enrolments for %v", len(enrols), n.proved(t))
		}
		if len(beats) != 1 || !beats[0].at.After(enrols[0].at) {
			t.Errorf("%d heartbeats", len(beats))
		}
		if !l.status.read().Connected {
			t.Error("not connected any more")
		}
	})
}

func TestRenew_TheSameTokensAreProvedOnlyWhenAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		r := &Reporter{agent: l.self, places: []*place{{link: l.link}}}
		after(11 * time.Second)
		for enrolments, prove := range []bool{false, true} {
			begun := time.Now()
			r.RenewBackends(map[string]string{testService: testToken}, prove)
			after(500 * time.Millisecond)
			enrols, beats := n.got(wire.TypeEnrol, begun), n.got(wire.TypeHeartbeat, begun)
			if len(enrols) != enrolments || len(beats) != 1 {
				t.Errorf("prove %v: %d enrolments, %d heartbeats", prove, len(enrols), len(beats))
			}
		}
	})
}
