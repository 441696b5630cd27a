package conditions

import (
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// Domain is a load-balanced name with the properties that determine its conditions.
type Domain struct {
	Name       string
	MinHealthy policy.Minimum
	OnAllDown  policy.OnAllDown // fallback answer; empty: none
	Names      bool             // answers are host names, so they contain only backends with a host name
	Regions    []string         // regions in the configuration of the name
}

// DomainsOf returns the domains of a configuration.
func DomainsOf(c *config.Config) []Domain {
	list := make([]Domain, 0, c.CountDomains())
	for d := range c.AllDomains {
		list = append(list, DomainOf(c, d))
	}
	return list
}

// DomainOf returns a domain of a configuration.
func DomainOf(c *config.Config, d *config.Domain) Domain {
	minimum, _ := policy.ParseMinimum(d.MinHealthy) // checked by package config
	fallback := policy.OnAllDown(d.OnAllDown)
	if fallback == "" && c.DNS.ReturnLastHealthy {
		fallback = policy.LastHealthy
	}
	return Domain{Name: d.Name, Regions: d.Regions, MinHealthy: minimum, OnAllDown: fallback, Names: d.AnswersNames()}
}
