package publish // inside: it shares publisher_test.go

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// nowhere is a failback.Store that stores nothing.
type nowhere struct{}

func (nowhere) Write(*store.Batch, ...store.Entry) error { return nil }

// failingBack is a Publisher with a name of a main and a standby region.
type failingBack struct {
	*Publisher
	t       *testing.T
	b       *backends
	tracker *failback.Tracker
}

const failingBackName = "app.gslb.test"

func failingBackSettings(f model.Failback, algorithm string) Settings {
	s := testSettings()
	s.Domains = []config.Domain{{Name: failingBackName, RoutingAlgorithm: algorithm, TTL: 5, Enabled: true,
		Regions: []string{"main", "standby"}, Failback: f}}
	return s
}

func inFailback(t *testing.T, f model.Failback, test func(*failingBack)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &failingBack{t: t, b: new(backends)}
		changes := NewChanges()
		w.tracker = failback.New(failback.Options{Store: nowhere{}, Changed: changes.Mark, Logger: zerolog.Nop()})
		w.set("", "")
		var err error
		w.Publisher, err = New(Options{Settings: failingBackSettings(f, "failover"), Backends: w.b, Changes: changes,
			Failbacks: w.tracker, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- w.Publisher.Run(ctx) }()
		go func() { ended <- w.tracker.Run(ctx) }()
		test(w)
		cancel()
		<-ended
		<-ended
	})
}

// serve sets all backends: each line has an address, a region ("-" for none), and optionally "down".
func (w *failingBack) serve(lines ...string) {
	var list []*registry.Backend
	for _, line := range lines {
		fields := strings.Fields(line)
		b := &registry.Backend{ID: registry.ID{Service: failingBackName, Port: 80,
			Address: netip.MustParseAddr(fields[0])}, Weight: 100, Share: 1, Region: strings.Trim(fields[1], "-"),
			MayServe: len(fields) == 2, Reason: status.ReasonFailing}
		list = append(list, b)
	}
	w.b.mu.Lock()
	w.b.data = map[string][]*registry.Backend{failingBackName: list}
	w.b.mu.Unlock()
	w.Mark(failingBackName)
}

// If only one region has IPv6 addresses, it answers queries for AAAA, and still awaits failback for other queries.
func TestFailback_OfOneAddressFamily(t *testing.T) {
	inFailback(t, model.Failback{Manual: true}, func(w *failingBack) {
		sees := func(state, want string) {
			w.serve(mainAddress+" main "+state, "2001:db8::1 main "+state, standbyAddress+" standby")
			w.answers(want)
		}
		sees("", mainAddress)
		sees("down", standbyAddress)
		sees("", standbyAddress)
		w.answers(standbyAddress)
		wantAnswer(w.t, w.Publisher, failingBackName+".", "AAAA", failingBackName+". 5 IN AAAA 2001:db8::1")
		w.serve(mainAddress+" main", "2001:db8::1 main", standbyAddress+" standby down")
		w.answers(mainAddress)
		w.serve(mainAddress+" main", "2001:db8::1 main", standbyAddress+" standby")
		w.answers(mainAddress)
	})
}

// Backends without a region can be a standby, as a region can.
func TestFailback_ToBackendsWithoutRegion(t *testing.T) {
	inFailback(t, model.Failback{Manual: true}, func(w *failingBack) {
		w.serve(mainAddress+" main", standbyAddress+" -")
		w.answers(mainAddress)
		w.serve(mainAddress+" main down", standbyAddress+" -")
		w.answers(standbyAddress)
		w.serve(mainAddress+" main", standbyAddress+" -")
		w.answers(standbyAddress)
	})
}

// set sets the states of both regions: "" is serving, "down" failed, "stopped" an override, "drained" a failure in a
// drain by the agent.
func (w *failingBack) set(main, standby string) {
	var list []*registry.Backend
	for i, state := range []string{main, standby} {
		b := &registry.Backend{ID: registry.ID{Service: failingBackName, Port: 80}, Weight: 100, Share: 1,
			Region: []string{"main", "standby"}[i], MayServe: state == "", Reason: status.ReasonFailing}
		b.Address = netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + i)})
		if state == "stopped" {
			b.Override = &registry.AdminState{}
		}
		b.Draining = state == "drained"
		list = append(list, b)
	}
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	w.b.data = map[string][]*registry.Backend{failingBackName: list}
}

// sees sets the states and compares the address of the answer.
func (w *failingBack) sees(main, standby, want string) {
	w.t.Helper()
	w.set(main, standby)
	w.Mark(failingBackName)
	w.answers(want)
}

func (w *failingBack) answers(want string) {
	w.t.Helper()
	if err := w.Flush(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	wantAnswer(w.t, w.Publisher, failingBackName+".", "A", failingBackName+". 5 IN A "+want)
}

const mainAddress, standbyAddress = "10.0.0.1", "10.0.0.2"

func TestFailback_ManualKeepsTheStandby(t *testing.T) {
	inFailback(t, model.Failback{Manual: true}, func(w *failingBack) {
		w.sees("", "", mainAddress)
		w.sees("down", "", standbyAddress)
		w.sees("", "", standbyAddress)
		input := w.input()
		if d := input.Decide(policy.IPv4, policy.ClientLocation{}); len(d.Excluded) != 1 ||
			d.Excluded[0].Reason != policy.AwaitsFailback || d.Outcome != policy.FailedOver {
			w.t.Errorf("the explanation: %+v", d)
		}
		w.sees("", "down", mainAddress) // an answer is always available
		w.sees("", "", mainAddress)     // and then the other region waits
		w.sees("down", "", standbyAddress)
		w.sees("", "", standbyAddress)
		w.tracker.Remove(failingBackName, "main")
		w.answers(mainAddress)
		for _, planned := range []string{"stopped", "drained"} { // their end is a decision to return
			w.sees(planned, "", standbyAddress)
			w.sees("", "", mainAddress)
		}
	})
}

// input returns the decision input of the published answers.
func (w *failingBack) input() *policy.DecisionInput {
	w.t.Helper()
	groups, err := w.View().ClientGroups(failingBackName+".", policy.IPv4)
	if err != nil || len(groups) != 1 {
		w.t.Fatalf("%d groups, %v", len(groups), err)
	}
	return groups[0].Input
}

func TestFailback_AfterATime(t *testing.T) {
	inFailback(t, model.Failback{After: settings.Duration(time.Minute)}, func(w *failingBack) {
		w.sees("down", "", standbyAddress)
		w.sees("", "", standbyAddress)
		time.Sleep(59 * time.Second)
		w.answers(standbyAddress)
		time.Sleep(time.Second)
		w.answers(mainAddress)
	})
}

// Another setting ends the wait. A preview of the setting shows the effect, and changes nothing.
func TestFailback_EndsWithTheSetting(t *testing.T) {
	inFailback(t, model.Failback{Manual: true}, func(w *failingBack) {
		w.sees("down", "", standbyAddress)
		w.sees("", "", standbyAddress)
		for _, c := range []struct {
			model.Failback
			want string
		}{{model.Failback{Manual: true}, standbyAddress}, {model.Failback{}, mainAddress}} {
			side, err := New(Options{Settings: failingBackSettings(c.Failback, "failover"), Backends: w.b,
				Failbacks: ForPreview(w.tracker), Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
			if err != nil {
				w.t.Fatal(err)
			}
			wantAnswer(w.t, side, failingBackName+".", "A", failingBackName+". 5 IN A "+c.want)
		}
		w.answers(standbyAddress)
		reconfigure := func(f model.Failback, algorithm string) {
			if err := w.Reconfigure(w.t.Context(), failingBackSettings(f, algorithm), nil); err != nil {
				w.t.Fatal(err)
			}
		}
		reconfigure(model.Failback{After: settings.Duration(time.Hour)}, "failover")
		w.answers(standbyAddress)
		reconfigure(model.Failback{}, "failover")
		w.answers(mainAddress)
		reconfigure(model.Failback{Manual: true}, "failover")
		w.answers(mainAddress)
		w.sees("down", "", standbyAddress)
		reconfigure(model.Failback{Manual: true}, "weighted") // has no regions to choose
		w.sees("", "down", mainAddress)
		reconfigure(model.Failback{Manual: true}, "failover")
		w.sees("", "", mainAddress)
	})
}

// A domain that is disabled for a maintenance keeps its standby.
func TestFailback_ADisabledDomainKeepsTheStandby(t *testing.T) {
	inFailback(t, model.Failback{Manual: true}, func(w *failingBack) {
		w.sees("", "", mainAddress)
		w.sees("down", "", standbyAddress)
		w.set("", "")
		enabled := failingBackSettings(model.Failback{Manual: true}, "failover")
		disabled := enabled
		disabled.Domains = nil
		for _, s := range []Settings{disabled, enabled} {
			if err := w.Reconfigure(w.t.Context(), s, nil); err != nil {
				w.t.Fatal(err)
			}
		}
		w.answers(standbyAddress)
	})
}

// A wait from before the start ends if the failback of the domain has become automatic.
func TestFailback_AnAutomaticDomainEndsStoredWaits(t *testing.T) {
	for _, f := range []model.Failback{{}, {Manual: true}} {
		tracker := failback.New(failback.Options{Store: nowhere{}, Changed: func(string) {}, Logger: zerolog.Nop(),
			Stored: []store.Failback{{Domain: failingBackName, Region: "main", Own: true}}})
		if _, err := New(Options{Settings: failingBackSettings(f, "failover"), Backends: new(backends),
			Failbacks: tracker, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()}); err != nil {
			t.Fatal(err)
		}
		if got := tracker.Awaiting(failingBackName); (len(got) == 1) != f.Waits() {
			t.Errorf("%s: %v await failback", f, got)
		}
	}
}

// Clients without a region of their own use the first region. A region awaits failback for all clients.
func TestFailback_OfGeolocation(t *testing.T) {
	for _, algorithm := range []string{"geolocation", "proximity"} {
		inFailback(t, model.Failback{}, func(w *failingBack) {
			if err := w.Reconfigure(w.t.Context(), failingBackSettings(model.Failback{Manual: true}, algorithm),
				nil); err != nil {
				w.t.Fatal(err)
			}
			w.sees("", "", mainAddress)
			w.sees("down", "", standbyAddress)
			w.sees("", "", standbyAddress)
			w.tracker.Remove(failingBackName, "main")
			w.answers(mainAddress)
		})
	}
}

// A failback without a region to choose is probably a mistake.
func TestExamine_WarnsOfAFailbackWithoutEffect(t *testing.T) {
	for algorithm, warns := range map[string]bool{"failover": false, "geolocation": false, "weighted": true} {
		problems, cautions := Examine(failingBackSettings(model.Failback{Manual: true}, algorithm))
		said := strings.Join(cautions, "\n")
		if len(problems) > 0 || strings.Contains(said, "domains[0].failback: has no effect") != warns {
			t.Errorf("%s: %v, %q", algorithm, problems, said)
		}
	}
}
