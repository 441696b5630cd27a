package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"

	"gslb.internal/shared/check"
)

// Server is a backend that a configuration file or the API declares: an address, or a host name that resolves to
// backends.
type Server struct {
	// IPv4 or IPv6. Required, or `target`.
	Address netip.Addr `key:"address" json:"address,omitzero" usage:"IPv4 or IPv6 address"`
	// A host name instead of `address`, such as `app-1234.eu.example.net`: each of its addresses, at most 32, is a
	// separate backend. The backends share `weight` equally. See [host names](routing.md#backends-by-host-name).
	Target string `key:"target" json:"target,omitempty" usage:"host name whose addresses are backends"`
	// The permitted networks for addresses of `target`. Default: the networks for backends of agents
	// (`overwatch.agent_policies`), except loopback, link-local and cloud metadata addresses.
	AllowedCIDRs []netip.Prefix `key:"allowed_cidrs" json:"allowed_cidrs,omitempty" usage:"networks of the addresses that a host name may have, such as 10.0.0.0/8 (default: networks of agents)"`
	// Required.
	Port uint16 `key:"port" json:"port" write:"always" usage:"port, from 1 to 65535" min:"1" max:"65535"`
	// The weight of the server relative to the other servers of the domain.
	Weight int `key:"weight" json:"weight" write:"always" usage:"weight relative to other servers of the domain, from 1 to 1000" default:"100" min:"1" max:"1000"`
	// The domain of the server. Default: every domain that lists the region.
	Service string `key:"service" json:"service" write:"always" usage:"domain that the server serves"`
	// Host header of its http checks; `host` in the server's own `health_check` has priority.
	Host string `key:"host" json:"host,omitempty" usage:"Host header of the health checks; health_check.host takes precedence"`
	// The id of the agent of this server. The node ignores drains and warnings of other agents. It also ignores their
	// unhealthy reports while its own checks succeed: see [when a backend may
	// answer](../README.md#when-a-backend-may-answer).
	Agent string `key:"agent" json:"agent,omitempty" usage:"agent of the server: reports of other agents do not override successful checks"`
	// The health check of this server. It replaces the whole block of the region.
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

// Key returns the id.
func (s *Server) Key() string { return s.ID() }

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

// legacyCheck is the name of the health check of version 0.9.0, which stores a check.Spec. For a server by host name,
// version 0.9.0 also has the field health_check.
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
