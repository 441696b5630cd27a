package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// Each node sends a test message, and the output names each failure.
func TestNotificationsTest_EachNodeSends(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	args := []string{"--api", documented(0), "--api", documented(1), "notifications", "test"}
	r := call(t, cmdline.System{}, nodes, args...)
	if r.code != fleet.Degraded || !strings.Contains(r.errors, "2 of 4 messages failed") ||
		strings.Count(r.out, "it answers 401") != 2 || !strings.Contains(r.out, "http://"+documented(1)) {
		t.Errorf("%+v", r)
	}
	for _, n := range nodes {
		n.set("POST /api/v1/notifications/test", api.NotificationTestList{
			Tests: []api.NotificationTest{{Target: "chat", Sent: true}}})
	}
	r = call(t, cmdline.System{}, nodes, append(args, "chat")...)
	if r.code != fleet.OK || r.errors != "" || strings.Count(r.out, "chat") != 2 {
		t.Errorf("%+v", r)
	}
	if got := nodes[0].changes(); strings.Join(got, ",") !=
		"POST /api/v1/notifications/test,POST /api/v1/notifications/test target=chat" {
		t.Errorf("asked %q", got)
	}
	for _, n := range nodes {
		n.set("POST /api/v1/notifications/test", &api.Error{Status: 404, Message: "no target is named mail"})
	}
	if r = call(t, cmdline.System{}, nodes, append(args, "mail")...); r.code == fleet.OK || !strings.Contains(r.errors,
		"mail") {
		t.Errorf("%+v", r)
	}
}
