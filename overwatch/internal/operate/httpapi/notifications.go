package httpapi

import (
	"context"

	"gslb.internal/overwatch/internal/operate/notify"
	"gslb.internal/shared/api"
)

// Notifier sends events to receivers; notify.Notifier implements it.
type Notifier interface {
	Status() []api.NotificationTarget
	// Test sends a test message to a target, or to every target if target is "". For an unknown target, it returns an
	// empty list.
	Test(ctx context.Context, target string) []api.NotificationTest
	// Challenge returns the value of WWW-Authenticate for a request of a node.
	Challenge() string
	// Answer returns the states of a group of which this node has notified a target (notify.Telling), encrypted for a node
	// that authenticates with its Authorization. The node may receive the error.
	Answer(where, target, group, authorization string) (sealed string, err error)
}

func notificationOperations() []Operation {
	return []Operation{
		{Method: get, Path: v1 + "/notifications", handle: (*Server).listNotifications, Query: none,
			Summary: "List receivers of notifications with their queues", Status: 200,
			Answer: api.NotificationList{Targets: []api.NotificationTarget{{Name: "on-call", Type: "webhook", Queued: 1,
				Sent: 12, Failed: 1, LastSent: new(exampleTime()), LastError: new("it answers 503"),
				FailingSince: new(exampleTime())}}, Total: 1}},
		{Method: post, Path: v1 + "/notifications/test", handle: (*Server).postNotificationsTest, Role: api.RoleOperate,
			Summary: "Send a test notification",
			Query:   []Parameter{text("target", "send only to this receiver", "on-call")}, Status: 200, Errors: []int{absent},
			Answer: api.NotificationTestList{Tests: []api.NotificationTest{{Target: "on-call", Sent: true, DurationMS: 42}},
				Total: 1}},
		{Method: get, Path: notify.Path, handle: (*Server).getNotificationsTold, Role: api.RoleNone, nodes: true,
			Summary: "Get encrypted sent notifications (peers only)", Status: 200,
			Query:  []Parameter{text("target", "which receiver", "on-call"), text("group", "of what", nil)},
			Answer: api.NotificationsTold{Sealed: "p5cW"}},
	}
}

// listNotifications answers GET /notifications.
func (s *Server) listNotifications(*call) (answer, error) {
	list := api.NotificationList{Targets: s.o.Notifier.Status()}
	list.Total = len(list.Targets)
	return ok(list), nil
}

// postNotificationsTest answers POST /notifications/test.
func (s *Server) postNotificationsTest(c *call) (answer, error) {
	target := c.query["target"]
	list := api.NotificationTestList{Tests: s.o.Notifier.Test(c.Request.Context(), target)}
	if list.Total = len(list.Tests); list.Total == 0 && target != "" {
		return answer{}, notFound("no target is named %.253s: overwatch.notifications.targets has the names", target)
	}
	return ok(list), nil
}

// getNotificationsTold answers GET /notifications/told for other nodes.
func (s *Server) getNotificationsTold(c *call) (answer, error) {
	sealed, err := s.encryptForNode(c, s.o.Notifier, func(proof string) (string, error) {
		return s.o.Notifier.Answer(c.Request.URL.RequestURI(), c.query["target"], c.query["group"], proof)
	})
	return ok(api.NotificationsTold{Sealed: sealed}), err
}
