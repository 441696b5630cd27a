// Package send delivers notifications to their receivers, with one Sender for each type. Package notify creates the
// messages, calls the senders and retries after failures. It also decides the content and time of each message.
package send

import (
	"context"
	"time"

	"gslb.internal/shared/api"
)

// Message is a notification. All attempts send the same Message.
type Message struct {
	ID       string            `json:"id"`       // receivers drop a message with a known ID
	Key      string            `json:"key"`      // name of the group of the events: a domain or another subject
	Open     bool              `json:"open"`     // a reported state of the group is active
	Resolved bool              `json:"resolved"` // the last active state of the group ended
	Severity api.EventSeverity `json:"severity"` // worst severity of the events and of the active states of the group
	Time     time.Time         `json:"time"`     // of the last event
	Cluster  string            `json:"cluster"`
	Node     string            `json:"node"` // sender of the message
	Test     bool              `json:"test"` // test message without a real event
	Events   []api.Event       `json:"events"`
	More     int               `json:"more"` // number of further events
}

// Sender sends messages to one receiver. It is safe for concurrent use.
type Sender interface {
	// Send returns nil if the receiver accepts the message. The error is a *Permanent if the receiver would reject each
	// retry, and a *Later if the receiver specifies the time of the retry. Errors contain no secrets.
	Send(context.Context, Message) error
}

// Permanent is the error for a message that the receiver would also reject on a retry.
type Permanent struct{ Err error }

// Error implements error.
func (p *Permanent) Error() string { return p.Err.Error() }

// Unwrap returns the cause.
func (p *Permanent) Unwrap() error { return p.Err }

// Later is the error for a receiver that specifies the time until the retry.
type Later struct {
	RetryAfter time.Duration
	Err        error
}

// Error implements error.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns the cause.
func (l *Later) Unwrap() error { return l.Err }
