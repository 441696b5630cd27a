package testbed

import (
	"testing"

	"gslb.internal/integration/harness"
)

// WebhookSecret is the key of the signatures in webhook messages.
const WebhookSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// Notify configures a notification target for backend events on nodes that are not started. kind is a target type such
// as "webhook".
func Notify(kind, url string, nodes ...*harness.Node) {
	target := map[string]any{"name": "hook", "type": kind, "url": url, "group_wait": "1s", "kinds": []string{"backend"}}
	if kind == "webhook" {
		target["secret"] = WebhookSecret
	}
	for _, n := range nodes {
		n.File.Overwatch.Notifications = map[string]any{"targets": []any{target}}
	}
}

// NotifiedSite is StartSite with an unreachable notification target.
func NotifiedSite(t *testing.T, nodes, backends int) *Site {
	t.Helper()
	s := NewSite(t, nodes, backends)
	Notify("webhook", "http://"+UnusedAddress(t), s.Nodes...)
	s.StartAll(t)
	return s
}
