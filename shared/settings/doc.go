// Package settings reads YAML files into a struct and tells everything that is wrong with them at once.
package settings

import "strconv"

// maxShown is how many octets of a wrong value a message repeats.
const maxShown = 60

// quoteValue shows a value the operator wrote, on one line and not too long.
func quoteValue(v string) string {
	if len(v) > maxShown {
		v = v[:maxShown] + "..."
	}
	return strconv.Quote(v)
}

// Report collects what is wrong while a configuration is read and checked, and knows where each key stands.
type Report struct{ problems Problems }
