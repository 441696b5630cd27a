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
	// GRPCS is the same over TLS. Overwatch nodes of a version that does not know it look whether the port is open.
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

// Limits of a check. They keep a mistyped value from flooding a backend and a
// value from the network from occupying this process.
const (
	// MinInterval keeps one check from becoming a load test.
	MinInterval = 50 * time.Millisecond
	// MaxInterval is a day. A longer one is probably a mistyped unit.
	MaxInterval = 24 * time.Hour
	// MinTimeout is the least timeout. A loaded machine may need that long to connect on its own
	// loopback interface.
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
	// Type is one of the check types.
	Type Type
	// Path is the request path of http and https. It begins with a slash and may have a query.
	Path string
	// Host replaces the Host header of http and https, and the authority of grpc and grpcs; empty means the address.
	Host string
	// Address, when valid, is probed instead of the backend's own address, on the
	// backend's port.
	Address netip.Addr
	// Interval is the time from the start of a check to the start of the next.
	Interval time.Duration
	// FastInterval replaces Interval while results contradict the state; 0 means the smaller of Interval and
	// DefaultFastInterval. See Spec.IntervalAfter.
	FastInterval time.Duration `json:",omitzero"`
	// Timeout bounds the whole check, from connecting to the last octet.
	Timeout time.Duration
	// FailureThreshold and SuccessThreshold are the numbers of equal results in a row that change
	// the state to unhealthy and to healthy.
	FailureThreshold int
	SuccessThreshold int
	// ServerName is the name that a certificate of https or grpcs must be valid for and that
	// is sent as SNI; empty means Host without its port, else the address.
	ServerName string
	// InsecureSkipVerify accepts any certificate.
	InsecureSkipVerify bool
	// Off switches the check off: nobody makes it.
	Off bool `json:",omitempty"`
	// Detail holds the rarely used settings.
	Detail Details `json:",omitzero"`
}

// SameAttempt reports whether single attempts of both Specs have the same meaning. Interval,
// timeout and thresholds may differ.
func (s Spec) SameAttempt(other Spec) bool {
	return s.attempt() == other.attempt()
}

// attempt returns s without the fields that do not concern a single attempt.
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
	return min(s.Interval, cmp.Or(s.FastInterval, DefaultFastInterval))
}

// Problem is a reason why a Spec cannot be used.
type Problem struct {
	// Field is the configuration key, relative to health_check: "path", "timeout".
	Field string
	// Value describes the value found.
	Value string
	// Remedy describes a right value.
	Remedy string
}

// Error returns field, value and remedy as one line.
func (p Problem) Error() string {
	if p.Value == "" {
		return p.Field + " is not set: " + p.Remedy
	}
	return p.Field + " is " + p.Value + ": " + p.Remedy
}
