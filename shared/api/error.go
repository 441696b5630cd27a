package api

import (
	"fmt"
	"net/http"
)

// ErrorBody is the body of every error answer.
type ErrorBody struct {
	Error string `json:"error"`
	// RequestID is set with status 500: the same id is in the node's log.
	RequestID string `json:"request_id,omitempty"`
	// Names is set with status 409 of a change with if_safe: the names that would have fewer backends than min_healthy.
	Names []Consequence `json:"names,omitempty"`
	// Problems is set with status 400 and 409 of a document: the problems of its objects.
	Problems []DocumentProblem `json:"problems,omitempty"`
	// Undo is set if the node rejects an undo: the change that cannot be undone.
	Undo *Undone `json:"undo,omitempty"`
}

// DocumentProblem is a fault of an object of a Document.
type DocumentProblem struct {
	Object  string `json:"object"` // its place, such as domains[3], counted from 0
	Problem string `json:"problem"`
}

// Error is an answer of the node other than the expected one. A request without any answer fails
// with UnreachableError.
type Error struct {
	Status    int               // HTTP status code
	Message   string            // the sentence in the body; empty when there was none
	RequestID string            // X-Request-Id of the answer
	Node      string            // base URL of the node
	Problems  []DocumentProblem // of a document
	Undo      *Undone           // the change that cannot be undone; nil for other errors, and from nodes up to 0.9
}

// Error returns the node's answer in one sentence.
func (e *Error) Error() string {
	message := e.Message
	if message == "" {
		message = http.StatusText(e.Status)
	}
	return fmt.Sprintf("%s answered %d: %s", e.Node, e.Status, message)
}

// UnreachableError is a request without an answer from the node.
type UnreachableError struct {
	Node    string // base URL of the node
	Err     error  // the cause
	Reached bool   // the client was connected: the node may have received the request
}

// Error names the node and the cause in one sentence.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no answer from %s: %v", e.Node, e.Err)
}

// Unwrap returns the cause, such as a context error.
func (e *UnreachableError) Unwrap() error { return e.Err }
