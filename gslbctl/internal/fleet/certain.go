package fleet

import (
	"errors"
	"net/http"
	"strings"

	"gslb.internal/shared/api"
)

// NothingChanged is a message part. It means that no node has made the change.
const NothingChanged = "nothing was changed"

// IsCertain reports whether a failed change has certainly changed nothing: the node has rejected it or was unreachable.
func IsCertain(err error) bool {
	if _, partial := errors.AsType[*PartialError](err); partial {
		return false
	}
	if rejected, ok := errors.AsType[*api.Error](err); ok {
		return rejected.Status < http.StatusInternalServerError || rejected.Status == http.StatusServiceUnavailable ||
			rejected.Status == http.StatusInsufficientStorage || rejected.Status == http.StatusNotImplemented
	}
	if unreachable, sent := errors.AsType[*api.UnreachableError](err); sent {
		return !unreachable.Reached
	}
	return true // the node did not receive the request
}

// Unchanged returns the error of a change on a single node with a remark. If IsCertain is true, the remark is that
// nothing was changed, or else that the node may have made the change.
func Unchanged(err error) error {
	_, message := Explain(err)
	_, partial := errors.AsType[*PartialError](err)
	switch {
	case partial || IsCertain(err) && strings.Contains(message, NothingChanged):
		return err
	case IsCertain(err):
		return Untouched(err)
	}
	return &Error{Degraded, message + "; it may have made the change: look before you repeat it", err}
}

// Untouched returns an error with the remark that nothing was changed.
func Untouched(err error) error {
	code, message := Explain(err)
	return &Error{code, message + "; " + NothingChanged, err}
}

// PartialError is the error of a change of several objects on one node. Some objects changed before Err occurred.
type PartialError struct {
	Done string // the changes before Err, as a sentence
	Err  error
}

func (p *PartialError) Error() string { return p.then(p.Err.Error()) }

// Unwrap returns the error that ended the change.
func (p *PartialError) Unwrap() error { return p.Err }

// then returns the message with the reason why the change ended. It removes the remark of the node that nothing was
// changed, because the remark is wrong for the whole change.
func (p *PartialError) then(end string) string {
	return p.Done + "; then: " + strings.Replace(end, NothingChanged+": ", "", 1)
}

// After returns the error of a change of several objects. changed is the number of objects changed before the error,
// and done describes them.
func After(changed int, done string, err error) error {
	if changed == 0 {
		return err
	}
	return &PartialError{done, err}
}
