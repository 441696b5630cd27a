package check

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// kind declares a type of check for validation, probes, messages and configuration. Declarations
// never change.
type kind struct {
	name Type
	// healthy is the condition of success within the timeout, for the manual of the agent.
	healthy string
	// takes lists the keys of health_check that this type uses and some other types do not.
	takes []string
	// prepare returns the function that makes an attempt.
	prepare func(target) func(*attempt) error
}

// target holds the inputs of prepare.
type target struct {
	spec      Spec
	at        netip.AddrPort
	userAgent string
	patterns  *Patterns
	connect   func(*attempt) (net.Conn, error) // opens a connection to at, which the caller closes
}

// host returns the Host header: the spec's, or else the address.
func (t target) host() string {
	return cmp.Or(t.spec.Host, netip.AddrPortFrom(t.at.Addr().WithZone(""), t.at.Port()).String())
}

// Keys that several types take.
var (
	webKeys    = []string{"path", "host", "method", "headers", "expected_status", "body_contains", "body_matches"}
	grpcKeys   = []string{"host", "grpc_service"}
	secureKeys = []string{"server_name", "ca_file"}
)

// Conditions of success of several types.
const (
	webHealthy  = "`GET path` returns a status from 200 to 399"
	grpcHealthy = "grpc.health.v1 returns SERVING for `grpc_service`"
)

// kinds lists all types, in the order of messages.
var kinds = []kind{
	{HTTP, webHealthy, webKeys, prepareWeb},
	{HTTPS, webHealthy, slices.Concat(webKeys, secureKeys), prepareWeb},
	{TCP, "the connection is established", []string{"send", "expect"}, prepareSocket},
	{GRPC, grpcHealthy, grpcKeys, prepareGRPC},
	{GRPCS, grpcHealthy, slices.Concat(grpcKeys, secureKeys), prepareGRPC},
}

// kind returns the declaration of a type, or nil for an unknown type.
func (t Type) kind() *kind {
	for i := range kinds {
		if kinds[i].name == t {
			return &kinds[i]
		}
	}
	return nil
}

// Known reports whether the type exists.
func (t Type) Known() bool { return t.kind() != nil }

// Takes reports whether the type uses a key of health_check that some types do not use.
func (t Type) Takes(key string) bool {
	k := t.kind()
	return k != nil && slices.Contains(k.takes, key)
}

// Ignores reports whether other types use a key of health_check and this type does not.
func (t Type) Ignores(key string) bool {
	return !t.Takes(key) && slices.ContainsFunc(kinds, func(k kind) bool { return slices.Contains(k.takes, key) })
}

// AllTypes returns all types, in the order of messages.
func AllTypes() (all []Type) {
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}

// Types lists the types, for messages.
func Types() string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k.name))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
