package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"gslb.internal/shared/api"
)

// Exit codes of gslbctl.
const (
	exitWell     = 0
	exitDegraded = 1
	exitNotAsked = 2
)

// exitCodes documents the exit codes, for --help.
const exitCodes = `Exit codes:
  0  done; for status and health: the service is well
  1  a node refused, could not, did not confirm a change, or is missing; status, health: degraded or unhealthy
  2  nothing was done: no node could be reached, or the command line or a document is wrong
  3  plan found changes`

// outcome is an error with an exit code of its own. An empty sentence means that standard output
// has the message already.
type outcome struct {
	code     int
	sentence string
	cause    error // the error behind it, if there is one
}

func (o *outcome) Error() string { return o.sentence }

// Unwrap returns the error behind the outcome.
func (o *outcome) Unwrap() error { return o.cause }

// explain turns an error into an exit code and a sentence with the next step. No other place does.
// An error that is neither a node's answer nor a failure to reach one is a mistake in the command
// line.
func explain(err error) (code int, sentence string) {
	if err == nil {
		return exitWell, ""
	}
	if o, ok := errors.AsType[*outcome](err); ok {
		return o.code, o.sentence
	}
	if some, ok := errors.AsType[*partial](err); ok {
		_, end := explain(some.err)
		return exitDegraded, some.then(end)
	}
	if refused, ok := errors.AsType[*api.Error](err); ok {
		return exitDegraded, refused.Error() + nextStep(refused)
	}
	if unreachable, ok := errors.AsType[*api.UnreachableError](err); ok {
		return exitNotAsked, unreachableSentence(unreachable)
	}
	return exitNotAsked, err.Error()
}

// nextStep returns the next step after a node's error answer.
func nextStep(refused *api.Error) string {
	if refused.Message == "" {
		return "; no overwatch node answers so: check the address in --api, whether it is http or https, and what proxy " +
			"is between"
	}
	switch refused.Status {
	case http.StatusUnauthorized:
		return "; give a token in " + environmentToken + " or with gslbctl context set NAME --token-file FILE (--api uses " +
			"the token of the context in use only for nodes of this context)"
	case http.StatusForbidden:
		if !strings.Contains(refused.Message, "allowed_networks") {
			return ""
		}
		return "; run gslbctl on a machine in an allowed network, for instance through an SSH tunnel, or add this one to " +
			"api.allowed_networks"
	case http.StatusMisdirectedRequest:
		return "; name the node by its address in --api"
	case http.StatusNotImplemented:
		return "; a newer version of the node may"
	case http.StatusInsufficientStorage:
		return "; make room on the disk that holds its data_dir and try again"
	case http.StatusInternalServerError:
		return "; look there"
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "; try again in a moment"
	}
	return ""
}

func unreachableSentence(e *api.UnreachableError) string {
	node := strings.TrimSuffix(e.Node, "/")
	switch {
	case errors.Is(e.Err, context.Canceled):
		return "stopped before " + node + " answered"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return fmt.Sprintf(
			"no answer from %s in time: see whether the node is under load or a firewall is between, or allow more with "+
				"--timeout", node)
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return fmt.Sprintf(
			"nothing listens on %s: start the node, set api.enabled: true, or name another with --api or --context", node)
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](e.Err); unknown {
		return fmt.Sprintf(
			"%s shows a certificate of an authority that is not trusted here: give its certificate with gslbctl context set "+
				"NAME --ca FILE or in %s", node, environmentCA)
	}
	if _, wrong := errors.AsType[x509.HostnameError](e.Err); wrong {
		return e.Error() + "; name the node as its certificate does, or give that name as server_name"
	}
	return e.Error() + "; check the address in --api"
}

// dnsFailure returns why a node's DNS did not answer, and the next step.
func dnsFailure(err error, address string) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "stopped before DNS at " + address + " answered"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer from DNS at " + address + " in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing answers DNS at " + address + ": name the place with --dns, or in " + environmentDNS +
			" for the nodes in " + environmentNodes
	}
	return err.Error()
}
