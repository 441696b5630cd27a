package control

import (
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
)

// maxEmptyListed is the maximum number of domains without a backend that a log line lists.
const maxEmptyListed = 10

// LogEmpty logs the domains without a backend, because their answers may be unexpected.
func LogEmpty(domains []string, view *registry.View, log zerolog.Logger) {
	var empty []string
	for _, name := range domains {
		if len(view.Service(name)) == 0 {
			empty = append(empty, name)
		}
	}
	if len(empty) > 0 {
		log.Info().Int("count", len(empty)).Strs("domains", empty[:min(maxEmptyListed, len(empty))]).
			Msg("waiting for backends of these domains: until an agent reports one or a server is configured, they " +
				"have the fallback answer (on_all_down)")
	}
}
