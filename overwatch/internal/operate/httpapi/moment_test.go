package httpapi // inside: it shares routes_test.go

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/wire"
)

// A clock with a year outside of RFC 3339 does not prevent any response.
func TestAPI_AnswersWhateverTheClockSays(t *testing.T) {
	for _, year := range []int{-1, 10_000, 200_000} {
		t.Run(fmt.Sprint(year), func(t *testing.T) {
			at := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
			w := newWorld(t, func(o *Options) {
				o.Now = func() time.Time { return at }
				o.StartedAt = at.Add(-time.Minute)
				before := o.Config
				o.Config = func() (c *config.Config, since time.Time) { c, _ = before(); return c, at }
			})
			w.agent("192.0.2.9", wire.ClaimHealthy)
			w.send("PUT", "/api/v1/overrides/app.example/192.0.2.1", `{"healthy":true,"reason":"x"}`)
			w.send("POST", "/api/v1/domains", `{"name":"new.example","routing_policy":"weighted"}`)
			for _, o := range Operations() {
				if o.Method != http.MethodGet {
					continue
				}
				if r := w.send("GET", examplePath(&o), ""); r.status == http.StatusInternalServerError {
					t.Errorf("GET %s: %d %s", o.Path, r.status, r.body)
				}
			}
			if log := w.log.String(); strings.Contains(log, "panic") {
				t.Errorf("%.600s", log)
			}
		})
	}
}
