package console_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// The last event of a flapping backend is a warning, even while the backend does not serve. The end of its bar has the
// color of its status, and each stop has its own span.
func TestConsole_ShowsAFlappingBackendByItsStatus(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	began := time.Now().Add(-time.Hour)
	const at = "192.0.2.1:80"
	backend := api.Backend{ID: shopName + ":" + at, Service: shopName, Address: "192.0.2.1", Port: 80,
		EffectiveStatus: api.EffectiveUnhealthy, Weight: 100, Share: 1, Reason: "the agent reports unhealthy"}
	f.answers("/api/v1/overwatch/backends", func() (int, any) {
		return http.StatusOK, api.BackendList{Backends: []api.Backend{backend}, Total: 1, GeneratedAt: time.Now()}
	})
	event := func(minutes int, state string, phase api.Phase, severity api.EventSeverity) api.Event {
		return api.Event{Sequence: uint64(minutes), Time: began.Add(time.Duration(minutes) * time.Minute),
			Kind: api.EventBackend, State: state, Phase: phase, Severity: severity, Subject: backend.ID, Name: shopName}
	}
	events := []api.Event{event(1, "flapping", api.PhaseBegins, api.EventWarning),
		event(10, "stopped", api.PhaseOnce, api.EventInfo), event(20, "started", api.PhaseOnce, api.EventInfo)}
	f.answers("/api/v1/events", func() (int, any) {
		return http.StatusOK, api.EventList{Events: events, Total: len(events), GeneratedAt: time.Now()}
	})
	p.open(f.URL, "names/"+shopName)
	p.agrees("the bar", func(context.Context) error {
		var spans string
		if err := p.shown(fmt.Sprintf(`[...[...document.querySelectorAll('.track')].find((e) =>
			e.querySelector('.mono').innerText === %q).querySelectorAll('.outage')].toSorted((a, b) =>
			a.x.baseVal.value - b.x.baseVal.value).map((r) => r.style.fill).join(' ')`, at), &spans); err != nil {
			return err
		}
		return differ("the bar", spans, "var(--warn) var(--bad) var(--warn) var(--bad)")
	})
	p.reads(".track", "unhealthy now")
}
