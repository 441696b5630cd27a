package httpapi // inside: it shares world_test.go

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

const backendOverride = "/api/v1/overwatch/backends/app.example/192.0.2.1/80/override"

func TestOverride_IsStoredAndInDNSWhenTheCallReturns(t *testing.T) {
	w := newWorld(t)
	w.validate(first, check.StateHealthy, "")
	no := false
	o, err := w.client.SetOverride(t.Context(), "APP.Example.", "192.0.2.1:80",
		api.OverrideRequest{Healthy: &no, Reason: "kernel", Source: "gslbctl", ExpiresIn: "30m"})
	w.must(err)
	if o.Service != service || o.Address != "192.0.2.1:80" || o.Healthy || o.Reason != "kernel" || o.Source != "gslbctl" ||
		o.CreatedBy != "127.0.0.1" ||
		o.ExpiresAt == nil || o.ExpiresAt.Sub(o.CreatedAt) != 30*time.Minute {
		t.Errorf("got %+v", o)
	}
	if len(w.flushes) != 1 || w.flushes[0] != "" {
		t.Errorf("when DNS was asked to follow, it found %q serving", w.flushes)
	}
	stored, err := w.store.LoadOrders()
	if err != nil || len(stored) != 1 || stored[0].Reason != "kernel" || stored[0].Address != "192.0.2.1:80" ||
		!stored[0].ExpiresAt.Equal(*o.ExpiresAt) {
		t.Errorf("on disk: %+v, %v", stored, err)
	}
	w.must(w.client.ClearOverride(t.Context(), service, "192.0.2.1:80"))
	if w.flushes[1] != "192.0.2.1:80" {
		t.Errorf("after clearing, DNS found %q", w.flushes)
	}
	if stored, err := w.store.LoadOrders(); err != nil || len(stored) != 0 {
		t.Errorf("on disk after clearing: %+v, %v", stored, err)
	}
	if log := w.log.String(); strings.Count(log, `"message":"change through the API"`) != 2 ||
		!strings.Contains(log, `"actor_ip":"127.0.0.1"`) ||
		!strings.Contains(log, `"resource_id":"app.example 192.0.2.1:80"`) {
		t.Errorf("log %s", log)
	}
}

func TestOverride_BothPathsAreOneStore(t *testing.T) {
	w := newWorld(t)
	r := w.send("POST", backendOverride, `{"healthy":true,"reason":"trust me"}`)
	if r.status != 200 || r.body != `{"success":true,"message":"app.example 192.0.2.1:80 is healthy by override"}`+"\n" {
		t.Errorf("POST: %d %s", r.status, r.body)
	}
	w.want("GET", w.send("GET", overridePath, ""), 200, `"reason":"trust me","source":"api"`, `"expires_at":null`)
	if r := w.send("GET", "/api/v1/overwatch/backends/app.example/192.0.2.1/80", ""); !strings.Contains(r.body,
		`"override":{"healthy":true,"reason":"trust me","by":"127.0.0.1"`) {
		t.Errorf("backend: %s", r.body)
	}
	if r := w.send("DELETE", overridePath, ""); r.status != 204 || r.body != "" {
		t.Errorf("DELETE: %d %q", r.status, r.body)
	}
	w.wantError("second DELETE", w.send("DELETE", overridePath, ""), 404, "192.0.2.1:80")
	w.wantError("DELETE on the other path", w.send("DELETE", backendOverride, ""), 404)
	w.wantError("GET after DELETE", w.send("GET", overridePath, ""), 404)
	w.want("PUT", w.send("PUT", overridePath, `{"healthy":false,"reason":"r"}`), 200)
	w.want("DELETE on the other path", w.send("DELETE", backendOverride, ""), 200, `"success":true`)
}

func TestOverride_AddressAloneMeansAllPorts(t *testing.T) {
	w := newWorld(t)
	w.declare(service+":2001:db8::1:80", service+":2001:db8::1:81", service+":192.0.2.1:80")
	for _, address := range []string{"2001:db8::1", "[2001:db8::1]", "2001:0DB8::0001"} {
		w.want(address, w.send("PUT", "/api/v1/overrides/app.example/"+address, `{"healthy":true,"reason":"r"}`), 200,
			`"address":"2001:db8::1"`)
	}
	if got := w.flushes[len(w.flushes)-1]; got != "2001:db8::1:80 2001:db8::1:81" {
		t.Errorf("serving %q", got)
	}
	w.want("one port", w.send("PUT", "/api/v1/overrides/app.example/[2001:db8::1]:81",
		`{"healthy":false,"reason":"r"}`), 200, `"address":"[2001:db8::1]:81"`)
	if got := w.flushes[len(w.flushes)-1]; got != "2001:db8::1:80" {
		t.Errorf("serving %q", got)
	}
	list, err := w.client.Overrides(t.Context())
	if err != nil || list.Total != 2 || list.Overrides[0].Address != "2001:db8::1" ||
		list.Overrides[1].Address != "[2001:db8::1]:81" {
		t.Errorf("list %+v, %v", list, err)
	}
}

func TestOverride_RefusesWhatItCannotMean(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("ü", api.MaxReason+1)
	for body, words := range map[string]string{
		``:                                                   "the body is empty",
		`{"reason":"r"}`:                                     "healthy is missing",
		`{"healthy":null,"reason":"r"}`:                      "healthy is missing",
		`{"healthy":true}`:                                   "reason is missing",
		`{"healthy":true,"reason":"  "}`:                     "reason is missing",
		`{"healthy":true,"reason":"a\nb"}`:                   "cannot be printed",
		`{"healthy":true,"reason":"\u001b"}`:                 "cannot be printed",
		`{"healthy":true,"reason":"` + long + `"}`:           "501 characters: at most 500",
		`{"healthy":true,"reason":"r","source":"\t"}`:        "source",
		`{"healthy":true,"reason":"r","expires_in":"soon"}`:  `expires_in is "soon"`,
		`{"healthy":true,"reason":"r","expires_in":"-5m"}`:   "above zero",
		`{"healthy":true,"reason":"r","expires_in":"0s"}`:    "above zero",
		`{"healthy":true,"reason":"r","expires_in":"9000h"}`: "at most 8784h",
		`{"healthy":true,"reason":"r","expires_at":"2030"}`:  `unknown fields: "expires_at"`,
		`{"healthy":1,"reason":"r"}`:                         "healthy is 1: it must be true or false",
	} {
		w.wantError(body, w.send("PUT", overridePath, body), 400, words)
		w.wantError(body, w.send("POST", backendOverride, body), 400, words)
	}
	good := `{"healthy":true,"reason":"r"}`
	w.wantError("unknown port", w.send("PUT", "/api/v1/overrides/app.example/192.0.2.1:81", good), 404)
	w.wantError("unknown address", w.send("PUT", "/api/v1/overrides/app.example/192.0.2.9", good), 404)
	w.wantError("unknown service", w.send("PUT", "/api/v1/overrides/none.example/192.0.2.1", good), 404)
	w.wantError("no address", w.send("PUT", "/api/v1/overrides/app.example/web1", good), 400, `"web1"`, "<ip>:<port>")
	w.wantError("other path, no address", w.send("POST", "/api/v1/overwatch/backends/app.example/web1/80/override",
		good),
		400, `"web1"`)
	if stored, err := w.store.LoadOrders(); err != nil || len(stored) != 0 || len(w.flushes) != 0 {
		t.Errorf("something was changed: %v %v %v", stored, err, w.flushes)
	}
}

func TestOverride_ThatCannotBeStoredIsNotInForce(t *testing.T) {
	w := newWorld(t)
	good := `{"healthy":true,"reason":"r"}`
	w.want("PUT", w.send("PUT", overridePath, good), 200)
	w.full.Store(true)
	w.wantError("PUT", w.send("PUT", "/api/v1/overrides/app.example/192.0.2.2", good), 507, "nothing was changed",
		"disk")
	w.wantError("DELETE", w.send("DELETE", overridePath, ""), 507)
	list, err := w.client.Overrides(t.Context())
	if err != nil || list.Total != 1 || list.Overrides[0].Address != "192.0.2.1:80" {
		t.Errorf("in force: %+v, %v", list, err)
	}
	if !strings.Contains(w.log.String(), `"status":"failure"`) {
		t.Errorf("log %s", w.log.String())
	}
}

func TestOverride_DNSThatDoesNotFollowIsAnError(t *testing.T) {
	w := newWorld(t)
	w.flushErr = errors.New("a secret detail")
	w.wantError("PUT", w.send("PUT", overridePath, `{"healthy":true,"reason":"r"}`), 500)
}

func TestAgents_ListShowAndExpiring(t *testing.T) {
	w := newWorld(t)
	if r := w.send("GET", "/api/v1/overwatch/agents", ""); r.status != 200 ||
		!strings.HasPrefix(r.body, `{"agents":[],"total":0,"revoked":0,"expiring":0,"generated_at":"`) {
		t.Errorf("none: %d %s", r.status, r.body)
	}
	w.agent("198.51.100.7", wire.ClaimHealthy)
	list, err := w.client.Agents(t.Context())
	w.must(err)
	one, err := w.client.Agent(t.Context(), agentName)
	w.must(err)
	if list.Total != 1 || list.Agents[0].AgentID != agentName || one.Fingerprint != list.Agents[0].Fingerprint {
		t.Errorf("list %+v, one %+v", list, one)
	}
	if !strings.HasPrefix(one.Fingerprint,
		"sha256:") || one.Region != "us" || one.Version != "9.9" || one.Backends != 1 ||
		one.LastSeen == nil ||
		strings.Join(one.Services, ",") != service || one.ExpiresInHours < 8000 || one.Revoked || one.RevokedAt != nil {
		t.Errorf("one %+v", one)
	}
	for days, want := range map[int]int{30: 0, 365: 1, 366: 1} {
		soon, err := w.client.ExpiringAgents(t.Context(), days)
		if err != nil || soon.Count != want || len(soon.Expiring) != want || soon.ThresholdDays != days {
			t.Errorf("%d days: %+v, %v", days, soon, err)
		}
	}
	if r := w.send("GET", "/api/v1/overwatch/agents/expiring",
		""); r.body != `{"expiring":[],"count":0,"threshold_days":60}`+"\n" {
		t.Errorf("default threshold: %s", r.body)
	}
	w.wantError("threshold", w.send("GET", "/api/v1/overwatch/agents/expiring?threshold_days=-1", ""), 400, "0 to 3650")
	w.wantError("unknown", w.send("GET", "/api/v1/overwatch/agents/nobody", ""), 404, "nobody")
}

func TestAgents_RevokedAgentsBackendsAreOutOfDNSWhenTheCallReturns(t *testing.T) {
	w := newWorld(t)
	w.agent("198.51.100.7", wire.ClaimHealthy)
	for body, words := range map[string]string{`{}`: "reason is missing", `{"reason":"\u202e"}`: "cannot be printed",
		`{"why":"r"}`: `"why"`, ``: "empty"} {
		w.wantError(body, w.send("POST", "/api/v1/overwatch/agents/agent-1/revoke", body), 400, words)
	}
	out, err := w.client.Revoke(t.Context(), agentName, api.RevokeRequest{Reason: "stolen"})
	if err != nil || !out.Success || len(w.flushes) != 1 || w.flushes[0] != "" {
		t.Errorf("got %+v, %v; DNS found %q", out, err, w.flushes)
	}
	one, err := w.client.Agent(t.Context(), agentName)
	w.must(err)
	if !one.Revoked || one.RevokedReason != "stolen" || one.RevokedAt == nil || len(one.Services) != 0 {
		t.Errorf("one %+v", one)
	}
	if list, err := w.client.Agents(t.Context()); err != nil || list.Revoked != 1 {
		t.Errorf("list %+v, %v", list, err)
	}
	if pins, err := w.store.LoadPins(); err != nil || len(pins) != 1 || !pins[0].Revoked {
		t.Errorf("on disk: %+v, %v", pins, err)
	}
	w.wantError("unknown", w.send("POST", "/api/v1/overwatch/agents/nobody/revoke", `{"reason":"r"}`), 404)
}

func TestAgents_UnpinnedAgentIsGone(t *testing.T) {
	w := newWorld(t)
	from := w.agent("198.51.100.7", wire.ClaimHealthy)
	out, err := w.client.Unpin(t.Context(), agentName)
	if err != nil || !out.Success || w.flushes[0] != "" {
		t.Errorf("got %+v, %v; DNS found %q", out, err, w.flushes)
	}
	w.wantError("GET", w.send("GET", "/api/v1/overwatch/agents/agent-1", ""), 404)
	w.wantError("DELETE", w.send("DELETE", "/api/v1/overwatch/agents/agent-1", ""), 404)
	if from.MaySpeakFor(service) {
		t.Error("the agent still speaks for its service")
	}
	if pins, err := w.store.LoadPins(); err != nil || len(pins) != 0 {
		t.Errorf("on disk: %+v, %v", pins, err)
	}
}

func TestAgents_RevocationThatCannotBeStoredIsInForceAndSaysSo(t *testing.T) {
	w := newWorld(t)
	w.agent("198.51.100.7", wire.ClaimHealthy)
	w.full.Store(true)
	w.wantError("revoke", w.send("POST", "/api/v1/overwatch/agents/agent-1/revoke", `{"reason":"stolen"}`), 507,
		"refused from now on", "until this node restarts")
	if w.flushes[0] != "" {
		t.Errorf("DNS found %q", w.flushes)
	}
	w.wantError("unpin", w.send("DELETE", "/api/v1/overwatch/agents/agent-1", ""), 507, "nothing was changed")
}
