package fleet

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"syscall"

	"gslb.internal/shared/api"
)

// Exit codes of gslbctl.
const (
	OK       = 0
	Degraded = 1 // a node rejected the command, or the service is degraded
	NotAsked = 2 // no node was reached, or the command line is invalid

	NotReplicated = 4 // a peer did not confirm a change within PeerWait
)

// ExitCodes documents the exit codes, for --help.
const ExitCodes = `Exit codes:
  0  done; status, health: the service is healthy
  1  a node rejected or did not confirm a change, or did not answer; status, health: degraded or unhealthy
  2  nothing was done: no node was reached, or the command line or a document is invalid
  3  plan found changes
  4  --wait-for-peers: the change is made, and a node has not confirmed it in time`

// Error is an error with its own exit code. The message is empty if standard output already contains it.
type Error struct {
	Code    int
	Message string
	Cause   error // the underlying error, or nil
}

// NewError returns an error with an exit code, a message and the underlying error.
func NewError(code int, message string, cause error) *Error { return &Error{code, message, cause} }

func (e *Error) Error() string { return e.Message }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Cause }

// Explain returns the exit code and the message of an error, with a remedy. It is the only function that selects exit
// codes for errors of nodes. An error without a node is a malformed command line.
func Explain(err error) (code int, message string) {
	if err == nil {
		return OK, ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code, e.Message
	}
	if partial, ok := errors.AsType[*PartialError](err); ok {
		_, end := Explain(partial.Err)
		return Degraded, partial.then(end)
	}
	if rejected, ok := errors.AsType[*api.Error](err); ok {
		return Degraded, rejected.Error() + remedy(rejected)
	}
	if unreachable, ok := errors.AsType[*api.UnreachableError](err); ok {
		return NotAsked, explainUnreachable(unreachable)
	}
	return NotAsked, err.Error()
}

// NodeReason returns the node of an error and the reason without the node's name. If the error has no node, it returns
// node.
func NodeReason(node string, err error) (from, reason string) {
	if partial, ok := errors.AsType[*PartialError](err); ok {
		from, reason = NodeReason(node, partial.Err)
		return from, partial.then(reason)
	}
	if rejected, ok := errors.AsType[*api.Error](err); ok {
		return node, cmp.Or(rejected.Message, http.StatusText(rejected.Status)) + remedy(rejected)
	}
	if unreachable, ok := errors.AsType[*api.UnreachableError](err); ok {
		from = strings.TrimSuffix(unreachable.Node, "/")
		if errors.Is(err, syscall.ECONNREFUSED) {
			return from, "nothing listens there"
		}
		return from, "no answer: " + unreachable.Err.Error()
	}
	_, reason = Explain(err)
	return node, reason
}

// IsTemporary reports whether a retry can succeed.
func IsTemporary(err error) bool {
	if _, rejected := errors.AsType[*api.Error](err); rejected || IsUnreachable(err) {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code != OK
}
