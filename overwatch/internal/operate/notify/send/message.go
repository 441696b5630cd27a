// Package send delivers notifications to their receivers, with one Sender for each type. notify makes the messages and
// calls the senders, again after a failure. The package decides neither what a message says nor when it is sent.
package send

import (
	"context"
	"time"

	"gslb.internal/shared/api"
)

// Message is one notification. It stays the same at each attempt.
type Message struct {
	ID       string            `json:"id"`       // a receiver drops a second one of the same id
	Key      string            `json:"key"`      // of what the events have in common: a name, or one thing
	Open     bool              `json:"open"`     // something that was told of Key holds
	Resolved bool              `json:"resolved"` // nothing does any more
	Severity api.EventSeverity `json:"severity"` // of the worst event, and of what still holds of Key
	Time     time.Time         `json:"time"`     // of the last event
	Cluster  string            `json:"cluster"`
	Node     string            `json:"node"` // that tells it
	Test     bool              `json:"test"` // nothing has happened
	Events   []api.Event       `json:"events"`
	More     int               `json:"more"` // events that are not listed
}

// Sender carries messages to one receiver. It may be used from any goroutine.
type Sender interface {
	// Send returns nil when the receiver has taken the message. An error is a *Permanent where the same message would
	// never be taken, and a *Later where the receiver says when to try again. No error has a secret.
	Send(context.Context, Message) error
}

// Permanent is the error of a message that the receiver would refuse again.
type Permanent struct{ Err error }

// Error implements error.
func (p *Permanent) Error() string { return p.Err.Error() }

// Unwrap returns the cause.
func (p *Permanent) Unwrap() error { return p.Err }

// Later is the error of a receiver that asks for a pause.
type Later struct {
	RetryAfter time.Duration
	Err        error
}

// Error implements error.
func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns the cause.
func (l *Later) Unwrap() error { return l.Err }
