package monitor // inside: it replaces the list of sockets

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/agent/internal/sockets"
	"gslb.internal/shared/check"
)

// listed is a lister with a fixed list.
type listed struct {
	set   sockets.Set
	err   error
	calls int
}

func (l *listed) List() (sockets.Set, error) { l.calls++; return l.set, l.err }
func (l *listed) Close() error               { return nil }

func setOf(ports ...uint16) sockets.Set {
	set := sockets.Set{}
	for _, p := range ports {
		set[netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), p)] = struct{}{}
	}
	return set
}

// Only the loss of a socket of a local backend hurries its checks: once, and for backends that want it.
func TestPresence_HurriesBackendsThatLoseTheirSocket(t *testing.T) {
	r := newRig(t, outcomes(s), outcomes(s), outcomes(s))
	watches := r.list()
	for i, w := range watches {
		w.backend.WatchSocket = i != 1
	}
	hurried := func() (ports []uint16) {
		for _, w := range watches {
			select {
			case <-w.hurried:
				ports = append(ports, w.backend.Port)
			default:
			}
		}
		return ports
	}
	local := func(netip.Addr) bool { return true }
	p, l := presence{}, &listed{}
	for _, step := range []struct {
		name  string
		set   sockets.Set
		local func(netip.Addr) bool
		want  int
	}{
		{"no socket yet", setOf(), local, 0},
		{"all listen", setOf(8000, 8001, 8002), local, 0},
		{"two are gone, one of them unwatched", setOf(8002), local, 1},
		{"still gone", setOf(8002), local, 0},
		{"of another machine", setOf(), func(netip.Addr) bool { return false }, 0},
	} {
		l.set = step.set
		if err := p.update(l, watches, step.local); err != nil {
			t.Fatal(err)
		}
		if got := hurried(); len(got) != step.want || step.want == 1 && got[0] != 8000 {
			t.Errorf("%s: %v", step.name, got)
		}
	}
	l.err = errors.New("no permission")
	if err := p.update(l, watches, local); err == nil {
		t.Error("an error of the list is lost")
	}
	if err := p.update(l, watches[1:2], local); err != nil || l.calls != 6 {
		t.Errorf("%v, %d lists: a list was made that no backend needs", err, l.calls)
	}
}

// hurriedAfter runs a monitor with a hurried backend and returns the time from hurry to each later check.
func hurriedAfter(t *testing.T, refused bool) (after []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := outcomes(s, s, f, f, f, f)
		find := p.find
		r := newRig(t, p)
		r.list()[0].backend.Check.FastInterval = 0
		var began time.Time
		time.AfterFunc(7*time.Second, func() {
			began = time.Now()
			r.list()[0].hurry()
		})
		p.find = func(ctx context.Context, n int) check.Result {
			result := find(ctx, n)
			result.Refused = refused && result.Outcome == check.Failure
			return result
		}
		r.runFor(t, 20*time.Second)
		for _, at := range p.starts {
			if !at.Before(began) {
				after = append(after, at.Sub(began))
			}
		}
	})
	return after
}

// A hurried check starts immediately. It is repeated every 50 ms while connections are refused, until the backend is
// unhealthy; other failures are repeated at the fast interval.
func TestHurry_RepeatsRefusedChecksUntilTheThreshold(t *testing.T) {
	const ms = time.Millisecond
	for refused, want := range map[bool][]time.Duration{
		true:  {0, 50 * ms, 100 * ms, 5100 * ms},
		false: {0, 1000 * ms, 2000 * ms, 7000 * ms},
	} {
		got := hurriedAfter(t, refused)
		if len(got) < len(want) {
			t.Fatalf("refused: %t: checks after %v", refused, got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("refused: %t: check %d after %s, want %s", refused, i, got[i], want[i])
			}
		}
	}
}
