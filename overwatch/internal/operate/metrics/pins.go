package metrics

import "gslb.internal/overwatch/internal/health/trust"

// collectPins collects the use of each service's limits. It includes only services with a token, so that agents cannot
// invent label values.
func collectPins(s scrape, usage []trust.Use) {
	for _, use := range usage {
		s.gauge("overwatch_service_pins", "Pinned agents of a service that are not revoked.", float64(use.Pins),
			"service", use.Service)
		s.gauge("overwatch_service_pins_limit", "Maximum number of pins of a service: agent_policies.<service>.max_agents.",
			float64(use.Limit), "service", use.Service)
		s.gauge("overwatch_service_pins_unreported", "Pins of agents that have not reported.", float64(use.Unreported),
			"service", use.Service)
		s.gauge("overwatch_service_locked", "1 while the service's token admits no new agents.", truth(use.Locked),
			"service", use.Service)
	}
}
