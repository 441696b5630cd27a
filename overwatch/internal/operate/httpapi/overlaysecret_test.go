package httpapi // inside: it shares world_test.go

import (
	"net/netip"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
)

// A client sends the health check that it has read: the redacted secrets of the overlay and of the file stay.
func TestOverlay_PutKeepsTheSecretsOfTheHealthCheck(t *testing.T) {
	const region, server = "/api/v1/regions/eu", "/api/v1/servers/" + service + ":192.0.2.1:80"
	for name, c := range map[string]struct {
		path, before, after string // before and after the health check in a request
	}{
		"region":                   {path: region, before: `{"priority":3,"health_check":`, after: `}`},
		"health check of a server": {path: server + "/health-check"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.defined.file.Regions[0].Servers = []config.Server{{Address: netip.MustParseAddr("192.0.2.1"), Port: 80,
				Weight: 100, Service: service}}
			w.defined.file.Regions[0].HealthCheck = &config.HealthCheck{Type: "http", Path: "/up",
				Headers: map[string]string{"X-File": "of-file"}}
			send := func(method, check string, status int, words ...string) {
				t.Helper()
				r := w.send(method, c.path, c.before+check+c.after)
				if w.want(method+" "+check, r, status, words...); strings.Contains(r.body, "s3cret") {
					t.Errorf("%s shows the secret: %s", check, r.body)
				}
			}
			inForce := func(path string, want ...string) {
				t.Helper()
				for s := range w.cfg.Load().StaticServers() {
					spec := s.Check.Value()
					got := spec.Detail.Detail().Headers
					if spec.Path != path || got != strings.Join(want, "\n") {
						t.Errorf("in force are the path %s and the headers %q, want %s and %q", spec.Path, got, path, want)
					}
				}
			}
			const fromFile, fromOverlay = "X-File: of-file", "Authorization: Bearer s3cret"
			send("PATCH", `{"headers":{"Authorization":"Bearer s3cret"}}`, 200)
			inForce("/up", fromOverlay, fromFile)
			const read = `{"type":"http","path":"/other","headers":{"Authorization":"[redacted]","X-File":"[redacted]"}}`
			send("PUT", read, 200)
			inForce("/other", fromOverlay, fromFile)
			send("PUT", read, 200) // the same again
			inForce("/other", fromOverlay, fromFile)
			for _, method := range []string{"PUT", "PATCH"} {
				send(method, `{"type":"http","path":"/up","headers":{"X-None":"[redacted]"}}`, 400, "X-None",
					"specify the value")
				send(method, `{"type":"tcp","send":"[redacted]"}`, 400, "health_check.send", "specify the value")
			}
			inForce("/other", fromOverlay, fromFile)
			send("PUT", `{"type":"http","path":"/up"}`, 200) // without the header of the overlay
			inForce("/up", fromFile)
		})
	}
}

// The secret may be the text that a TCP check sends.
func TestOverlay_PutKeepsTheTextThatTheCheckSends(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/regions/eu"
	w.want("PATCH", w.send("PATCH", path, `{"health_check":{"type":"tcp","send":"AUTH s3cret"}}`), 200, "[redacted]")
	w.want("PUT", w.send("PUT", path, `{"priority":3,"health_check":{"type":"tcp","send":"[redacted]"}}`), 200)
	if h := w.cfg.Load().Regions[0].HealthCheck; h == nil || h.Send != "AUTH s3cret" {
		t.Errorf("in force %+v", h)
	}
}
