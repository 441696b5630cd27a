package testbed

import (
	"testing"

	"gslb.internal/integration/harness"
)

// WebhookSecret signs what nodes send to a webhook.
const WebhookSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// Notify gives nodes that have not started a target of notifications, of a kind such as "webhook", for events of
// backends.
func Notify(kind, url string, nodes ...*harness.Node) {
	target := map[string]any{"name": "hook", "type": kind, "url": url, "group_wait": "1s", "kinds": []string{"backend"}}
	if kind == "webhook" {
		target["secret"] = WebhookSecret
	}
	for _, n := range nodes {
		n.File.Overwatch.Notifications = map[string]any{"targets": []any{target}}
	}
}

// NotifiedSite is StartSite with a target of notifications that cannot be reached.
func NotifiedSite(t *testing.T, nodes, backends int) *Site {
	t.Helper()
	s := NewSite(t, nodes, backends)
	Notify("webhook", "http://"+UnusedAddress(t), s.Nodes...)
	s.StartAll(t)
	return s
}
