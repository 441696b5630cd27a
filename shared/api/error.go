package api

import (
	"fmt"
	"net/http"
)

// ErrorBody is the body of every answer that is an error.
type ErrorBody struct {
	Error string `json:"error"`
	// RequestID is set with status 500: the same id is in the node's log.
	RequestID string `json:"request_id,omitempty"`
}

// Error is an answer of the node other than the one that was asked for. A
// request that got no answer at all fails with another type.
type Error struct {
	Status    int    // HTTP status code
	Message   string // the sentence in the body; empty when there was none
	RequestID string // X-Request-Id of the answer
	Node      string // base URL of the node
}

// Error says what the node answered, in one sentence.
func (e *Error) Error() string {
	message := e.Message
	if message == "" {
		message = http.StatusText(e.Status)
	}
	return fmt.Sprintf("%s answered %d: %s", e.Node, e.Status, message)
}

// UnreachableError is a request that got no answer from the node.
type UnreachableError struct {
	Node string // base URL of the node
	Err  error  // why
}

// Error says which node did not answer and why.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no answer from %s: %v", e.Node, e.Err)
}

// Unwrap gives the cause, so that a context error can be told apart.
func (e *UnreachableError) Unwrap() error { return e.Err }
