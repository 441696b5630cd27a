package config

import "gslb.internal/shared/settings"

// inactive lists what the configuration asks for and this build does not do yet. A line leaves with the work that makes it
// untrue.
func inactive(c *Config, report *settings.Report) []string {
	var found []string
	add := func(asked bool, sentence string) {
		if asked {
			found = append(found, sentence)
		}
	}
	add(len(c.Overwatch.DNSSEC.KeySync.Peers) > 0, "overwatch.dnssec.key_sync: this build exchanges no keys")
	add(report.IsSet("overwatch.geolocation.database_path") || report.IsSet("overwatch.geolocation.default_region") ||
		len(c.Overwatch.Geolocation.CustomMappings) > 0, "overwatch.geolocation: this build does not place clients")
	return found
}
