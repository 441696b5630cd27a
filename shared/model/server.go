package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"

	"gslb.internal/shared/check"
)

// Server is a backend that a configuration file or the API declares: an address, or a host name whose addresses are
// backends.
type Server struct {
	// IPv4 or IPv6. Required, or `target`.
	Address netip.Addr `key:"address" json:"address,omitzero" usage:"IPv4 or IPv6 address"`
	// A host name in place of `address`, such as `app-1234.eu.example.net`: each address that it has, 32 at most, is a
	// backend of its own, and they share `weight` equally. See [host names](routing.md#backends-by-host-name).
	Target string `key:"target" json:"target,omitempty" usage:"host name whose addresses are backends"`
	// The networks where addresses of `target` may be. Default: where those of agents may be
	// (`overwatch.agent_policies`), but never loopback, link-local and what clouds have for metadata.
	AllowedCIDRs []netip.Prefix `key:"allowed_cidrs" json:"allowed_cidrs,omitempty" usage:"networks where addresses of a host name may be, such as 10.0.0.0/8 (default: those of agents)"`
	// Required.
	Port uint16 `key:"port" json:"port" write:"always" usage:"port, from 1 to 65535" min:"1" max:"65535"`
	// Share of the answers, relative to the others.
	Weight int `key:"weight" json:"weight" write:"always" usage:"share of the answers, relative to the others, from 1 to 1000" default:"100" min:"1" max:"1000"`
	// The domain that it serves. Left out: every domain that lists the region.
	Service string `key:"service" json:"service" write:"always" usage:"domain that the server serves"`
	// Host header of its http checks; a `host` in its own `health_check` comes first.
	Host string `key:"host" json:"host,omitempty" usage:"Host header of the health checks; health_check.host takes precedence"`
	// Id of the agent whose own server this is. What any other agent says does not count against the node's own checks
	// that succeed, and its drains and warnings do not count at all: see
	// [when a backend may answer](../README.md#when-a-backend-may-answer).
	Agent string `key:"agent" json:"agent,omitempty" usage:"agent whose own server it is: reports of other agents do not count against successful checks"`
	// How this server is probed, in place of the region's block as a whole.
	HealthCheck *HealthCheck `key:"health_check" json:"health_check,omitempty"`
	// Region is the region of the server. In a configuration file, a server is inside the block of its region.
	Region string `json:"region" write:"always" usage:"region of the server"`
	Meta
}

// ID returns the id of the server in the API: "<service>:<address or target>:<port>".
func (s *Server) ID() string {
	host := s.Target
	if host == "" {
		host = s.Address.String()
	}
	return fmt.Sprintf("%s:%s:%d", s.Service, host, s.Port)
}

// Check returns the check of the server. ofRegion is the check of servers without their own.
func (s *Server) Check(ofRegion check.Spec) check.Spec {
	if s.HealthCheck == nil {
		ofRegion.Host = cmp.Or(s.Host, ofRegion.Host)
		return ofRegion
	}
	spec := s.HealthCheck.Spec()
	spec.Host = cmp.Or(spec.Host, s.Host)
	return spec
}

// OwnCheck returns the check of a server with an address of the API, which has all settings of its check. Without
// settings, the check is a tcp connection.
func (s *Server) OwnCheck() check.Spec { return s.Check(check.Spec{Type: check.TCP}) }

// Shown returns the server without the secrets of its health check.
func (s *Server) Shown() *Server {
	shown := *s
	shown.HealthCheck = s.HealthCheck.Shown()
	return &shown
}

// legacyCheck is the name of the health check of version 0.9.0, which stores a check.Spec. A server by host name has
// the field health_check in that version too.
const legacyCheck = "check"

// readLegacy converts the health check of version 0.9.0.
func (s *Server) readLegacy(fields map[string]any) error {
	stored, is := fields[legacyCheck].(json.RawMessage)
	delete(fields, legacyCheck)
	if !is || fields["health_check"] != nil {
		return nil
	}
	var spec check.Spec
	if err := json.Unmarshal(stored, &spec); err != nil {
		return err
	}
	encoded, err := json.Marshal(HealthCheckOf(spec))
	fields["health_check"] = json.RawMessage(encoded)
	return err
}

// writeLegacy adds the health check of version 0.9.0.
func (s *Server) writeLegacy(fields map[string]any) {
	if s.Target == "" {
		fields[legacyCheck] = s.OwnCheck()
	}
}
