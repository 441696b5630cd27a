// Package fault defines the errors with which a change or a question of an operator is rejected. Each error has a kind,
// which the HTTP API maps to a status, and a text that the operator may read.
package fault

import (
	"fmt"

	"gslb.internal/shared/api"
)

// Kind is the reason of a rejection.
type Kind int

// The kinds of rejections.
const (
	Invalid      Kind = iota // the input is invalid
	NotFound                 // the named object does not exist
	Conflict                 // the input contradicts the current state
	Precondition             // the object does not satisfy the condition of the request
	Forbidden                // the operator lacks the role
	TooLarge                 // the input has more objects than allowed
	Busy                     // the limit of concurrent requests of this kind is reached
	Full                     // a limit of the node or of the disk is reached
	Unavailable              // the node is stopping or overloaded
)

// Error is a rejection.
type Error struct {
	Kind    Kind
	Text    string
	Names   []api.Consequence     // names that a change would leave with too few backends
	Objects []api.DocumentProblem // the faults of the objects of a document
	Undo    *api.Undone           // the change that cannot be undone
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// New returns an error of a kind with a formatted text.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// Invalidf rejects invalid input. The text names the field, the value and the remedy.
func Invalidf(format string, args ...any) *Error { return New(Invalid, format, args...) }

// NotFoundf rejects the name of a missing object.
func NotFoundf(format string, args ...any) *Error { return New(NotFound, format, args...) }

// Conflictf rejects a change that contradicts the current state.
func Conflictf(format string, args ...any) *Error { return New(Conflict, format, args...) }

// Fullf rejects a new object because the node has reached a limit.
func Fullf(format string, args ...any) *Error { return New(Full, format, args...) }

// FromCheck returns a validation error as an error of the kind Invalid. nil stays nil.
func FromCheck(err error) error {
	if err == nil {
		return nil
	}
	return Invalidf("%s", err)
}
