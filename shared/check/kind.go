package check

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// kind declares a type of check. Validation, probers, messages and configuration go by it. Declarations never
// change.
type kind struct {
	name Type
	// takes are the keys of a health_check that not all types have a use for.
	takes []string
	// prepare returns what makes one attempt.
	prepare func(target) func(*attempt) error
}

// target is what an attempt is prepared from.
type target struct {
	spec      Spec
	at        netip.AddrPort
	userAgent string
	patterns  *Patterns
	connect   func(*attempt) (net.Conn, error) // opens a connection to at, which the caller closes
}

// Keys that several types take.
var (
	webKeys    = []string{"path", "host", "method", "headers", "expected_status", "body_contains", "body_matches"}
	grpcKeys   = []string{"host", "grpc_service"}
	secureKeys = []string{"server_name", "ca_file"}
)

// kinds are all types, in the order in which messages list them.
var kinds = []kind{
	{HTTP, webKeys, prepareWeb},
	{HTTPS, slices.Concat(webKeys, secureKeys), prepareWeb},
	{TCP, []string{"send", "expect"}, prepareSocket},
	{GRPC, grpcKeys, prepareGRPC},
	{GRPCS, slices.Concat(grpcKeys, secureKeys), prepareGRPC},
}

// kind returns the declaration of a type, or nil if there is no such type.
func (t Type) kind() *kind {
	for i := range kinds {
		if kinds[i].name == t {
			return &kinds[i]
		}
	}
	return nil
}

// Known reports whether there is such a type.
func (t Type) Known() bool { return t.kind() != nil }

// Takes reports whether a check of the type has a use for a key of health_check that not all types have a use for.
func (t Type) Takes(key string) bool {
	k := t.kind()
	return k != nil && slices.Contains(k.takes, key)
}

// Types lists the types in words, for messages.
func Types() string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k.name))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
