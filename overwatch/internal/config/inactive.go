package config

// inactive lists what the configuration asks for and this build does not do yet. A line leaves with the work that makes it
// untrue.
func inactive(c *Config) []string {
	var found []string
	add := func(asked bool, sentence string) {
		if asked {
			found = append(found, sentence)
		}
	}
	add(len(c.Overwatch.DNSSEC.KeySync.Peers) > 0, "overwatch.dnssec.key_sync: this build exchanges no keys")
	return found
}
