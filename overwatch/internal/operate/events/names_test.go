package events // inside: it uses tracker

// These tests are inside the package: they update names as Run does, with a test clock.

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

func one(status api.EffectiveStatus, reason string) []*registry.Backend {
	b := &registry.Backend{ID: registry.ID{Service: "a.example", Address: netip.MustParseAddr("192.0.2.1"), Port: 80},
		Status: status, MayServe: status == api.EffectiveHealthy, Reason: reason}
	return []*registry.Backend{b}
}

// A name that never had a backend has no event during the settle time. The loss and the return of its backends have
// events.
func TestWatch_ANameThatIsNewHasAWhile(t *testing.T) {
	c := newClocked(t)
	minimum, ok := policy.ParseMinimum("1")
	if !ok {
		t.Fatal("1 is no minimum")
	}
	domains := []conditions.Domain{{Name: "old.example", MinHealthy: minimum}}
	w := &watch{tracker: c.tracker, startedAt: c.at, services: map[string]published{}, newNames: map[string]time.Time{},
		o: Options{View: &registry.View{}, Domains: func() []conditions.Domain { return domains }}, isSettled: true}
	w.readDomains()
	w.newNames = map[string]time.Time{}
	domains = append(domains, conditions.Domain{Name: "a.example", MinHealthy: minimum})
	w.readDomains()
	w.updateName("old.example", nil)
	w.updateName("a.example", nil)
	w.updateName("a.example", one(api.EffectiveUnhealthy, status.ReasonUnknown))
	w.updateNewNames()
	if got := fmt.Sprint(c.said()); got != "[name old.example unanswered begins 0]" {
		t.Errorf("while it is new: %s", got)
	}
	w.updateService("a.example", one(api.EffectiveHealthy, status.ReasonValidated))
	w.updateService("a.example", one(api.EffectiveUnhealthy, status.ReasonFailing))
	w.updateService("a.example", one(api.EffectiveHealthy, status.ReasonValidated))
	want := "[backend a.example:192.0.2.1:80 unhealthy begins 0 name a.example unanswered begins 0 " +
		"backend a.example:192.0.2.1:80 healthy ends 0 name a.example answered ends 0]"
	if got := fmt.Sprint(c.said()[1:]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	domains = append(domains, conditions.Domain{Name: "b.example", MinHealthy: minimum})
	w.readDomains()
	delete(w.newNames, "a.example") // the view has no such name
	c.at = c.at.Add(settleTime)
	w.updateNewNames()
	if got := c.said(); got[len(got)-1] != "name b.example unanswered begins 0" {
		t.Errorf("after a while: %v", got)
	}
}

// A backend has an event whenever it stops or starts serving, but not if only its status changes.
func TestWatch_ABackendIsToldWhenItStopsAndStartsServing(t *testing.T) {
	c := newClocked(t)
	w := &watch{tracker: c.tracker, startedAt: c.at, services: map[string]published{}, newNames: map[string]time.Time{},
		o: Options{View: &registry.View{}, Domains: func() []conditions.Domain { return nil }}, isSettled: true}
	state := func(status api.EffectiveStatus, serves bool, reason string) {
		list := one(status, reason)
		list[0].MayServe, list[0].Region, list[0].AgentID = serves, "eu", "eu-1"
		w.updateService("a.example", list)
	}
	state(api.EffectiveHealthy, true, status.ReasonAgreed)
	state(api.EffectiveStale, true, status.ReasonStaleValidated)
	if got := c.said(); len(got) > 0 {
		t.Errorf("silent, and it serves: %v", got)
	}
	state(api.EffectiveStale, false, status.ReasonStaleFailing)
	state(api.EffectiveUnhealthy, false, status.ReasonValidationUnhealthy)
	state(api.EffectiveStale, false, status.ReasonStaleFailing)
	state(api.EffectiveStale, true, status.ReasonStaleValidated)
	state(api.EffectiveHealthy, true, status.ReasonAgreed)
	state(api.EffectiveUnhealthy, false, status.ReasonAgentUnhealthy)
	state(api.EffectiveHealthy, false, status.ReasonDrained)
	want := "[backend a.example:192.0.2.1:80 unhealthy begins 0 backend a.example:192.0.2.1:80 stale ends 0 " +
		"backend a.example:192.0.2.1:80 unhealthy begins 0 backend a.example:192.0.2.1:80 healthy ends 0]"
	if got := fmt.Sprint(c.said()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	events, _ := c.journal.After(0)
	if e := events[0]; e.Region != "eu" || e.AgentID != "eu-1" || e.Sentence != "a.example:192.0.2.1:80 in eu does not "+
		"serve: "+status.ReasonStaleFailing+" (agent: no report yet; own check: no result yet)" {
		t.Errorf("%+v", e)
	}
}

// Two conditions of an agent have one event, which stays constant over updates.
func TestWatch_TwoConditionsOfAnAgentHaveOneEvent(t *testing.T) {
	c := newClocked(t)
	standing := []api.Condition{{Kind: api.AgentRefused, Subject: "eu-1"},
		{Kind: api.AgentLost, Subject: "eu-1", State: conditions.StateLost}}
	w := &watch{tracker: c.tracker, startedAt: c.at, services: map[string]published{},
		agents:    map[string]bool{"eu-1": false},
		isSettled: true, o: Options{View: &registry.View{}, Conditions: func() []api.Condition { return standing },
			IsPinned:    func(string) (time.Time, bool) { return time.Time{}, true },
			IsNodeAlive: func(string) bool { return true }}}
	w.updateConditions()
	w.updateConditions()
	standing = standing[:1]
	w.updateConditions()
	standing = nil
	w.updateConditions()
	want := "[agent eu-1 lost begins 0 agent eu-1 refused begins 0 agent eu-1 accepted ends 0]"
	if got := fmt.Sprint(c.said()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A lost region and its silent agents have one event. The loss of a region does not end the event of a previously
// silent agent.
func TestWatch_ALostRegionIncludesItsAgents(t *testing.T) {
	c := newClocked(t)
	var standing []api.Condition
	w := &watch{tracker: c.tracker, startedAt: c.at, services: map[string]published{},
		agents:    map[string]bool{"eu-1": false},
		isSettled: true, o: Options{View: &registry.View{}, Conditions: func() []api.Condition { return standing },
			IsPinned:    func(string) (time.Time, bool) { return time.Time{}, true },
			IsNodeAlive: func(string) bool { return true }}}
	look := func(list ...api.Condition) {
		standing = list
		w.updateConditions()
		c.at = c.at.Add(flapWindow)
		w.addFolded()
	}
	region := api.Condition{Kind: api.RegionLost, Subject: "eu", Sentence: "s", State: conditions.StateLost}
	agent := api.Condition{Kind: api.AgentLost, Subject: "eu-1", Sentence: "s", State: conditions.StateSilent}
	folded := api.Condition{Kind: api.AgentLost, Subject: "eu-1", Folded: true}
	look(region, folded)
	region.State = conditions.StatePartlyBack
	look(region, folded)
	look()
	look(agent)
	region.State = conditions.StateLost
	look(region, folded)
	look(agent)
	agent.State = conditions.StateLost
	look(agent)
	look()
	want := "[region eu lost begins 0 region eu partly_back begins 0 region eu back ends 0 agent eu-1 silent begins 0 " +
		"region eu lost begins 0 region eu back ends 0 agent eu-1 lost begins 0 agent eu-1 back ends 0]"
	if got := fmt.Sprint(c.said()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A backend that does not serve at the end of the loss of its region has a repeated event. A serving backend and a
// stopped backend have no event.
func TestWatch_TheEndOfALossRepeatsItsBackends(t *testing.T) {
	c := newClocked(t)
	standing := []api.Condition{{Kind: api.RegionLost, Subject: "eu", State: conditions.StateLost}}
	w := &watch{tracker: c.tracker, startedAt: c.at, services: map[string]published{}, isSettled: true, o: Options{
		View: viewOfBroken(t), Conditions: func() []api.Condition { return standing }}}
	for i, severity := range []api.EventSeverity{api.EventWarning, api.EventWarning, api.EventInfo} {
		e := backend(i+1, stateStopped)
		e.Subject, e.Name = fmt.Sprintf("a.example:192.0.2.%d:80", i+1), "a.example"
		e.Region, e.Severity = "eu", severity
		w.setState(e, true)
	}
	w.updateConditions()
	before := len(c.said())
	standing = nil
	w.updateConditions()
	want := "[region eu back ends 0 backend a.example:192.0.2.1:80 unhealthy begins 0]"
	if got := fmt.Sprint(c.said()[before:]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// viewOfBroken returns the view of a registry with three backends. Only the second backend serves.
func viewOfBroken(t *testing.T) *registry.View {
	t.Helper()
	r, err := registry.New(registry.Options{Logger: zerolog.Nop(), Changed: func(string) {},
		Timing: registry.Timing{StaleThreshold: time.Hour, RemoveAfter: time.Hour, ValidationEnabled: true,
			ValidationInterval: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	var all []registry.Declaration
	for octet := byte(1); octet <= 3; octet++ {
		all = append(all, registry.Declaration{Weight: 1, Region: "eu", Check: unique.Make(check.Spec{Type: check.TCP}),
			ID: registry.ID{Service: "a.example", Address: netip.AddrFrom4([4]byte{192, 0, 2, octet}), Port: 80}})
	}
	if err := errors.Join(r.SetStaticDeclarations(ctx, all), r.ApplyCheckResult(ctx, registry.CheckResult{ID: all[1].ID,
		State: check.StateHealthy, Outcome: check.Success, At: time.Now()})); err != nil {
		t.Fatal(err)
	}
	return r.View()
}

// A flapping backend has one state until the flapping ends, and its flap events resolve no problem. The problem of a
// backend that returns with a reduced share ends when the backend serves in full.
func TestWatch_AFlapAndAReducedShareResolveNothing(t *testing.T) {
	c := newClocked(t)
	w := &watch{tracker: c.tracker, startedAt: c.at, services: map[string]published{}, newNames: map[string]time.Time{},
		o: Options{View: &registry.View{}, Domains: func() []conditions.Domain { return nil }}, isSettled: true}
	state := func(serves bool, reason, flaps string, share float64) {
		status := api.EffectiveUnhealthy
		if serves {
			status = api.EffectiveHealthy
		}
		list := one(status, reason)
		list[0].FlapReason, list[0].Share = flaps, share
		w.updateService("a.example", list)
		c.at = c.at.Add(flapWindow)
		w.addFolded()
	}
	const ill, well = status.ReasonAgentUnhealthy, status.ReasonAgreed
	state(true, well, "", 1)
	state(false, ill, "", 1)
	state(true, well, "", 1)
	state(false, ill, ill, 1)
	state(true, well, ill, 1)
	state(false, ill, ill, 1)
	state(true, status.ReasonWarnsOfErrors, "", 0.1)
	state(true, status.ReasonWarnsOfErrors, "", 0.2)
	state(true, well, "", 1)
	state(true, status.ReasonWarnsOfErrors, "", 0.1)
	var got []string
	for _, said := range c.said() {
		got = append(got, strings.TrimSuffix(strings.TrimPrefix(said, "backend a.example:192.0.2.1:80 "), " 0"))
	}
	want := "unhealthy begins, healthy ends, flapping begins, started once, stopped once, reduced begins, healthy ends"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// The event of a pending failback has the name of its domain, so that the filter of a name includes the event. The
// event of a region that many domains wait for has no name.
func TestWatch_AFailbackHasTheNameOfItsDomain(t *testing.T) {
	for subject, want := range map[string]string{"a.example eu": "a.example", "region eu": ""} {
		if got := nameOf(api.Condition{Kind: api.FailbackPending, Subject: subject}); got != want {
			t.Errorf("%s: %q, want %q", subject, got, want)
		}
	}
	e := &api.Event{Kind: api.EventRegion, State: "failback_done", Subject: "a.example eu"}
	want := "the failback of a.example eu ended after 3m0s"
	if got := endSentence(e, "failback_pending", 3*time.Minute); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
