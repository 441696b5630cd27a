package monitor // inside: it replaces the list of sockets and the dialer

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/agent/internal/sockets"
	"gslb.internal/shared/check"
)

// unsteady is a lister whose sockets disappear from single lists, as during the handover of a socket to a new process.
type unsteady struct {
	ports  []uint16
	random *rand.Rand
	lists  int
	gaps   int
}

func (u *unsteady) Close() error { return nil }

func (u *unsteady) List() (sockets.Set, error) {
	u.lists++
	set := sockets.Set{}
	for i, p := range u.ports {
		switch {
		case i%2 == 1 && u.random.IntN(20_000) == 0: // about every half hour
			u.gaps++
			continue
		case i%4 == 0: // of all addresses
			set[netip.AddrPortFrom(netip.IPv6Unspecified(), p)] = struct{}{}
		default:
			set[netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), p)] = struct{}{}
		}
	}
	return set, nil
}

// In a day, steady backends have no report of unhealthy: with the list of sockets, of which half have gaps, and with an
// idle connection, whose server ends it after a minute. The watches only start checks.
func TestMonitor_ADayWithoutAFalseReport(t *testing.T) {
	const backends = 8
	length := 24 * time.Hour
	if testing.Short() { // with the race detector; a run without it has the whole day
		length = time.Hour
	}
	synctest.Test(t, func(t *testing.T) {
		var scripts []*script
		for range backends {
			scripts = append(scripts, outcomes(s))
		}
		r := newRig(t, scripts...)
		l := &unsteady{random: rand.New(rand.NewPCG(1, 2))}
		r.openSockets = func() (lister, error) { return l, nil }
		steady := &server{idle: func(int) time.Duration { return time.Minute }}
		for i, w := range r.list() {
			w.backend.WatchSocket, w.backend.WatchConnection = i > 0, i == 0
			w.dial = steady.dial
			l.ports = append(l.ports, w.backend.Port)
		}
		r.runFor(t, length)
		for _, b := range r.changes {
			if b.Claim != claim(check.StateHealthy) {
				t.Errorf("a report of %v about %d", b.Claim, b.Port)
			}
		}
		if len(r.changes) != 2*backends { // the first success, and the success threshold
			t.Errorf("%d reports", len(r.changes))
		}
		regular := backends * int(length/(5*time.Second))
		extra := int(r.Checks()) - regular
		if l.gaps == 0 || extra < l.gaps/2 || extra > l.gaps+3+backends {
			t.Errorf("%d gaps, %d checks more than regular", l.gaps, extra)
		}
		t.Logf("%s: %d lists, %d gaps, %d checks, no false report", length, l.lists, l.gaps, r.Checks())
	})
}
