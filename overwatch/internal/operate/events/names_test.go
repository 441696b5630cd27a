package events // inside: it uses tracker

// In the package: names are looked at as Run does, with a clock of the test.

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/ready"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

func one(status api.EffectiveStatus, reason string) []*registry.Backend {
	b := &registry.Backend{ID: registry.ID{Service: "a.example", Address: netip.MustParseAddr("192.0.2.1"), Port: 80},
		Status: status, MayServe: status == api.EffectiveHealthy, Reason: reason}
	return []*registry.Backend{b}
}

// A name that never had a backend is not told at once; one that loses its last backend is, and its way back.
func TestWatch_ANameThatIsNewHasAWhile(t *testing.T) {
	c := newClocked(t)
	minimum, ok := policy.ParseMinimum("1")
	if !ok {
		t.Fatal("1 is no minimum")
	}
	domains := []ready.Domain{{Name: "old.example", MinHealthy: minimum}}
	w := &watch{tracker: c.tracker, began: c.at, services: map[string]seen{}, fresh: map[string]time.Time{},
		o: Options{View: &registry.View{}, Domains: func() []ready.Domain { return domains }}, settled: true}
	w.readDomains()
	w.fresh = map[string]time.Time{}
	domains = append(domains, ready.Domain{Name: "a.example", MinHealthy: minimum})
	w.readDomains()
	w.name("old.example", nil)
	w.name("a.example", nil)
	w.name("a.example", one(api.EffectiveUnhealthy, registry.ReasonUnknown))
	w.ripen()
	if got := fmt.Sprint(c.said()); got != "[name old.example unanswered begins 0]" {
		t.Errorf("while it is new: %s", got)
	}
	w.service("a.example", one(api.EffectiveHealthy, registry.ReasonValidated))
	w.service("a.example", one(api.EffectiveUnhealthy, registry.ReasonFailing))
	w.service("a.example", one(api.EffectiveHealthy, registry.ReasonValidated))
	want := "[backend a.example:192.0.2.1:80 unhealthy begins 0 name a.example unanswered begins 0 " +
		"backend a.example:192.0.2.1:80 healthy ends 0 name a.example answered ends 0]"
	if got := fmt.Sprint(c.said()[1:]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	domains = append(domains, ready.Domain{Name: "b.example", MinHealthy: minimum})
	w.readDomains()
	delete(w.fresh, "a.example") // which the view does not have
	c.at = c.at.Add(settled)
	w.ripen()
	if got := c.said(); got[len(got)-1] != "name b.example unanswered begins 0" {
		t.Errorf("after a while: %v", got)
	}
}
