package fleet

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

// remedy returns the next step after an error response of a node.
func remedy(rejected *api.Error) string {
	if rejected.Message == "" {
		return "; this is not the response of an overwatch node: check the address in --api, the scheme (http or " +
			"https), and proxies"
	}
	switch rejected.Status {
	case http.StatusUnauthorized:
		return "; give a token in " + EnvToken + " or with gslbctl context set NAME --token-file FILE (--api uses " +
			"the token of the context in use only for nodes of this context)"
	case http.StatusForbidden:
		if !strings.Contains(rejected.Message, "allowed_networks") {
			return ""
		}
		return "; run gslbctl on a machine in an allowed network, for instance through an SSH tunnel, or add this " +
			"one to api.allowed_networks"
	case http.StatusMisdirectedRequest:
		return "; name the node by its address in --api"
	case http.StatusNotImplemented:
		return "; a newer version of the node may support it"
	case http.StatusInsufficientStorage:
		return "; free space on the disk of its data_dir and retry"
	case http.StatusInternalServerError:
		return "; see the log of the node"
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "; retry in a few seconds"
	}
	return ""
}

// explainUnreachable returns why a node did not answer, with a remedy.
func explainUnreachable(e *api.UnreachableError) string {
	node := strings.TrimSuffix(e.Node, "/")
	switch {
	case errors.Is(e.Err, context.Canceled):
		return "stopped before " + node + " answered"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return fmt.Sprintf(
			"no answer from %s in time: see whether the node is under load or a firewall is between, or allow more "+
				"with --timeout", node)
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return fmt.Sprintf(
			"nothing listens on %s: start the node, set api.enabled: true, or name another with --api or --context",
			node)
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](e.Err); unknown {
		return fmt.Sprintf(
			"%s shows a certificate of an authority that is not trusted here: give its certificate with gslbctl "+
				"context set NAME --ca FILE or in %s", node, EnvCA)
	}
	if _, wrong := errors.AsType[x509.HostnameError](e.Err); wrong {
		return e.Error() + "; name the node as its certificate does, or give that name as server_name"
	}
	return e.Error() + "; check the address in --api"
}

// ExplainDNS returns why the DNS server of a node did not answer, with a remedy.
func ExplainDNS(err error, address string) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "stopped before DNS at " + address + " answered"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer from DNS at " + address + " in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing answers DNS at " + address + ": name the place with --dns, or in " + EnvDNS +
			" for the nodes in " + EnvNodes
	}
	return err.Error()
}
