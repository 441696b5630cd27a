package testbed

import (
	"testing"

	"gslb.internal/integration/harness"
)

// Notify has nodes, which have not started, notify a webhook of what happens to backends.
func Notify(url string, nodes ...*harness.Node) {
	for _, n := range nodes {
		n.File.Overwatch.Notifications = map[string]any{"targets": []map[string]any{
			{"name": "hook", "type": "webhook", "url": url, "group_wait": "1s", "kinds": []string{"backend"}}}}
	}
}

// NotifiedSite is StartSite with a target of notifications that nobody hears.
func NotifiedSite(t *testing.T, nodes, backends int) *Site {
	t.Helper()
	s := NewSite(t, nodes, backends)
	Notify("http://"+UnusedAddress(t), s.Nodes...)
	s.StartAll(t)
	return s
}
