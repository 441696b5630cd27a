package objects

import (
	"slices"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// SectionState returns the fields of a section of the configuration that the API has changed, and the keys of the
// section that take effect at the next start. restart lists these keys of all sections.
func SectionState(set *definitions.Set, section string, restart []string) api.ConfigState {
	state := api.ConfigState{Overlay: definitions.Fields(set.Settings[section]), RestartRequired: []string{}}
	for _, key := range restart {
		if definitions.Concerns(section, key) {
			state.RestartRequired = append(state.RestartRequired, key)
		}
	}
	return state
}

// Features returns the names of the features that a node has switched on, in ascending order. signs reports whether it
// signs answers.
func Features(cfg *config.Config, signs bool) []string {
	list := []string{"dns", "gossip", "api"}
	for name, on := range map[string]bool{
		"dnssec":               signs,
		"validation":           cfg.Overwatch.Validation.Enabled,
		"ecs":                  cfg.Overwatch.Geolocation.ECSEnabled,
		"geolocation-database": cfg.Overwatch.Geolocation.DatabasePath != "",
		"metrics":              cfg.Metrics.Enabled,
		"cors":                 cfg.API.EnableCORS,
	} {
		if on {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
