package check

import (
	"cmp"
	"net/netip"
	"time"
)

// Type is the protocol of a check, spelled as in the configuration.
type Type string

// The check types.
const (
	HTTP  Type = "http"
	HTTPS Type = "https"
	TCP   Type = "tcp"
	// GRPC is the standard health protocol of gRPC, grpc.health.v1, over HTTP/2 without TLS.
	GRPC Type = "grpc"
	// GRPCS is GRPC over TLS. Overwatch nodes of a version without GRPCS check only that the port is open.
	GRPCS Type = "grpcs"
)

// Defaults of a check, the reference values of the specification.
const (
	DefaultInterval         = 5 * time.Second
	DefaultFastInterval     = time.Second
	DefaultTimeout          = 2 * time.Second
	DefaultFailureThreshold = 3
	DefaultSuccessThreshold = 2
)

// Limits of a check. They prevent a mistyped value from flooding a backend, and a value from the network from blocking
// this process.
const (
	// MinInterval is the shortest interval. A shorter interval would be a load test.
	MinInterval = 50 * time.Millisecond
	// MaxInterval is a day. A longer interval is probably a mistyped unit.
	MaxInterval = 24 * time.Hour
	// MinTimeout is the shortest timeout. A loaded machine may need 10 ms to connect on its loopback interface.
	MinTimeout = 10 * time.Millisecond
	// MaxThreshold bounds both thresholds.
	MaxThreshold = 1000
	// MaxPathLength bounds path with its query, in octets. Like MaxNameLength, it follows from the size of an agent's
	// message (package wire).
	MaxPathLength = 512
	// MaxNameLength bounds host and server_name, in octets.
	MaxNameLength = 255
)

// Spec describes one check. It is comparable: two equal Specs are the same check.
type Spec struct {
	// Type is the type of the check.
	Type Type
	// Path is the request path of http and https. It begins with a slash and may have a query.
	Path string
	// Host replaces the Host header of http and https, and the authority of grpc and grpcs; empty means the address.
	Host string
	// Address, if valid, is the address of the probe instead of the backend's address, on the port of the backend.
	Address netip.Addr
	// Interval is the time from the start of a check to the start of the next.
	Interval time.Duration
	// FastInterval replaces Interval while results contradict the state; 0 means the smaller of Interval and
	// DefaultFastInterval. See Spec.IntervalAfter.
	FastInterval time.Duration `json:",omitzero"`
	// Timeout bounds the whole check, from connecting to the last octet.
	Timeout time.Duration
	// FailureThreshold and SuccessThreshold are the numbers of consecutive equal results that change the state to
	// unhealthy and to healthy.
	FailureThreshold int
	SuccessThreshold int
	// ServerName is the required name in the certificate of https or grpcs, and the SNI; empty means Host without its
	// port, else the address.
	ServerName string
	// InsecureSkipVerify accepts any certificate.
	InsecureSkipVerify bool
	// Off disables the check.
	Off bool `json:",omitempty"`
	// Detail holds the rarely used settings.
	Detail Details `json:",omitzero"`
}

// SameAttempt reports whether single attempts of both Specs have the same meaning. Interval,
// timeout and thresholds may differ.
func (s Spec) SameAttempt(other Spec) bool {
	return s.attempt() == other.attempt()
}

// attempt returns s without the fields that do not affect a single attempt.
func (s Spec) attempt() Spec {
	s.Interval, s.FastInterval, s.Timeout, s.FailureThreshold, s.SuccessThreshold = 0, 0, 0, 0, 0
	if d := s.Detail.Detail(); d.Counting != "" {
		d.Counting = ""
		s.Detail = d.Details()
	}
	return s
}

// IntervalAfter returns the time from the start of the last check to the start of the next check. It is the fast
// interval while the last conclusive result of t contradicts the state of t, else Interval.
func (s Spec) IntervalAfter(t *Tracker) time.Duration {
	if !t.isContradicted() {
		return s.Interval
	}
	return s.ShortestInterval()
}

// ShortestInterval returns the shortest time between two checks: FastInterval or its default, at most Interval.
func (s Spec) ShortestInterval() time.Duration {
	return min(s.Interval, cmp.Or(s.FastInterval, DefaultFastInterval))
}

// Problem is a reason why a Spec cannot be used.
type Problem struct {
	// Field is the configuration key, relative to health_check: "path", "timeout".
	Field string
	// Value describes the wrong value.
	Value string
	// Remedy describes a valid value.
	Remedy string
}

// Error returns field, value and remedy as one line.
func (p Problem) Error() string {
	if p.Value == "" {
		return p.Field + " is not set: " + p.Remedy
	}
	return p.Field + " is " + p.Value + ": " + p.Remedy
}
