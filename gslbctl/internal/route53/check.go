package route53

import (
	"net/netip"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/imports"
)

// healthCheck is an entry of `aws route53 list-health-checks`.
type healthCheck struct {
	Id                string //nolint:revive // as in the JSON
	HealthCheckConfig struct {
		IPAddress                string
		Port                     int
		Type                     string
		ResourcePath             string
		FullyQualifiedDomainName string
		SearchString             string
		RequestInterval          int
		FailureThreshold         int
		Inverted, Disabled       bool
		EnableSNI                bool
	}
}

// check returns the health check and port of a server, and a note on differences ("" if there are none). at is the
// address of the server, or the zero Addr if it has a target.
func (r *reader) check(id string, at netip.Addr) (c *imports.Check, port int, difference string) {
	c = imports.NoCheck()
	if id == "" {
		return c, unchecked, ""
	}
	h, known := r.checks[id]
	config := h.HealthCheckConfig
	kind, _, _ := strings.Cut(config.Type, "_STR_")
	port = config.Port
	switch {
	case !known:
		return c, unchecked, "health check " + id + " is not known, so there is no check: give --health-checks"
	case config.Disabled:
		return c, unchecked, ""
	case config.Inverted || kind != "HTTP" && kind != "HTTPS" && kind != "TCP":
		return c, unchecked, "there is no check: a node does not support health check " + id + " (" + config.Type + ")"
	}
	c = &imports.Check{Type: strings.ToLower(kind), Host: config.FullyQualifiedDomainName, Interval: "30s",
		Timeout:          "6s",
		FailureThreshold: max(config.FailureThreshold, 1), SuccessThreshold: max(config.FailureThreshold, 1),
		BodyContains: config.SearchString}
	if config.RequestInterval > 0 {
		c.Interval = strconv.Itoa(config.RequestInterval) + "s"
	}
	usual := map[string]int{"HTTP": 80, "HTTPS": 443}[kind]
	if port == 0 {
		port = usual
	}
	if kind == "TCP" {
		c.Host, c.Timeout = "", "10s"
	} else if c.Path = "/" + strings.TrimPrefix(config.ResourcePath, "/"); c.Host != "" && port != usual {
		c.Host += ":" + strconv.Itoa(port)
	}
	if kind == "HTTPS" { // Route 53 does not verify certificates either
		if c.InsecureSkipVerify = true; config.EnableSNI {
			c.ServerName = config.FullyQualifiedDomainName
		}
	}
	if probed, err := netip.ParseAddr(config.IPAddress); err == nil && probed != at {
		c.Address = probed.String()
	} else if config.IPAddress == "" && config.FullyQualifiedDomainName != "" {
		difference = "health check " + id + " probes each address, not what " + config.FullyQualifiedDomainName + " has"
	}
	return c, port, difference
}
