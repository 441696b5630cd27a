package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// The share of a backend is its part of the weights of its name and family, even in a filtered list.
func TestBackends_ShowWeightAndShareOfTheName(t *testing.T) {
	n := startNode(t)
	backend := func(address string, weight int, share float64, serves bool) api.Backend {
		b := fakeBackend(address, 443, "eu-1", "eu")
		b.Weight, b.Share, b.MayServe = weight, share, serves
		return b
	}
	drained, overridden, six := backend("192.0.2.11", 100, 0.5, true), backend("192.0.2.12", 7, 1, true),
		backend("2001:db8::1", 3, 1, true)
	overridden.WeightOverride = &api.ActiveWeight{Weight: 50}
	host := []api.Backend{backend("192.0.2.20", 200, 1, true), backend("192.0.2.21", 200, 1, true)}
	for i := range host {
		host[i].Target = "lb.example.net"
	}
	all := append([]api.Backend{backend("192.0.2.10", 100, 1, true), drained, overridden, six,
		backend("192.0.2.13", 100, 1, false)}, host...)
	idle := backend("192.0.2.10", 0, 1, true)
	idle.ID, idle.Service = "idle.example.com:192.0.2.10:443", "idle.example.com"
	all = append(all, idle)
	list := api.BackendList{Backends: all, Total: len(all)}
	n.answers["GET /api/v1/overwatch/backends"] = list
	n.answers["GET /api/v1/overwatch/backends?region=eu"] = api.BackendList{Backends: all[1:2], Total: 1}
	want := map[string]string{"192.0.2.10:443": "100 25%", "192.0.2.11:443": "100 x 50% 12%",
		"192.0.2.12:443":    "50 (7) 12%",
		"[2001:db8::1]:443": "3 100%", "192.0.2.13:443": "100 0%", "192.0.2.20:443": "200 25%", "192.0.2.21:443": "200 25%"}
	r := ask(t, "backends list", n)
	for line := range strings.Lines(r.out) {
		for address, cells := range want {
			if strings.HasPrefix(line, "app.example.com") && strings.Contains(line, " "+address+" ") &&
				!strings.Contains(strings.Join(strings.Fields(line), " "), cells) {
				t.Errorf("%s: %q, want %q", address, line, cells)
			}
		}
	}
	if strings.Count(r.out, "app.example.com") != len(want) || !strings.Contains(r.out, "      0   100%") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "backends list --region eu", n); !strings.Contains(r.out, "100 x 50%    12%") {
		t.Errorf("a filtered list: %+v", r)
	}
	n.asked = nil
	if r := ask(t, "backends list --region eu -o json", n); r.code != 0 || len(n.asked) != 1 {
		t.Errorf("a list for programs: %+v, asked %q", r, n.asked)
	}
}
