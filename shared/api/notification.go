package api

import (
	"context"
	"net/http"
	"time"
)

// NotificationTarget is a receiver of notifications, with the counts of a node since its start.
type NotificationTarget struct {
	Name         string     `json:"name"`
	Type         string     `json:"type"`
	Queued       int        `json:"queued"`        // queued events
	Sent         uint64     `json:"sent"`          // messages
	Failed       uint64     `json:"failed"`        // attempts
	Dropped      uint64     `json:"dropped"`       // unsent events: the queue was full, or the receiver rejected them
	LastSent     *time.Time `json:"last_sent"`     // null: never
	LastError    *string    `json:"last_error"`    // of the last attempt; null: it succeeded
	FailingSince *time.Time `json:"failing_since"` // null: the receiver does not fail
}

// NotificationList is the answer of GET /api/v1/notifications.
type NotificationList struct {
	Targets []NotificationTarget `json:"targets"`
	Total   int                  `json:"total"`
}

// NotificationTest is the outcome of a test message.
type NotificationTest struct {
	Target     string  `json:"target"`
	Sent       bool    `json:"sent"`
	Error      *string `json:"error"` // null: it was sent
	DurationMS int64   `json:"duration_ms"`
}

// NotificationTestList is the answer of POST /api/v1/notifications/test.
type NotificationTestList struct {
	Tests []NotificationTest `json:"tests"`
	Total int                `json:"total"`
}

// NotificationsTold is the answer to another node that requests the sent notifications.
type NotificationsTold struct {
	Sealed string `json:"sealed,omitempty"` // encrypted for the requesting node; missing: the node has not authenticated
}

// Notifications lists the receivers of notifications.
func (c *Client) Notifications(ctx context.Context) (NotificationList, error) {
	return get[NotificationList](ctx, c, "/api/v1/notifications", nil)
}

// TestNotifications sends a test message to a receiver of notifications; empty: to each.
func (c *Client) TestNotifications(ctx context.Context, target string) (NotificationTestList, error) {
	return ask[NotificationTestList](ctx, c, call{method: http.MethodPost, path: "/api/v1/notifications/test",
		query: given(map[string]string{"target": target}), timeout: NotificationTimeout + 10*time.Second})
}

// NotificationTimeout bounds an attempt to reach a receiver.
const NotificationTimeout = 30 * time.Second
