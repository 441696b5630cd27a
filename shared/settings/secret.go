package settings

import "strconv"

// redacted is printed in place of a secret.
const redacted = "[redacted]"

// Secret is a configuration value that must not be shown: it prints, formats and encodes as "[redacted]"
// (as nothing when empty), so a Config can be logged or sent over the API without thinking about it.
// A struct field of this type, or a map whose values are of this type, makes its key a secret key: it may
// also come from an environment variable or from the file named by <key>_file, and a YAML file that sets
// it must not be readable by group or others.
type Secret string

// Reveal returns the secret itself. Callers pass it on and keep no copy.
func (s Secret) Reveal() string { return string(s) }

// String returns "[redacted]", or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns what String does, quoted, for %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// MarshalText returns what String does, for encoders of text and JSON, also where the secret is a map's value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
