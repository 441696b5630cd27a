package settings

import (
	"fmt"
	"time"
)

// Duration is a time.Duration with a text form, such as "1m30s", in JSON and in configuration files.
type Duration time.Duration

// String returns the duration as time.Duration writes it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText returns the duration as time.Duration writes it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses a duration with its unit, such as 30s.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.64q is not a duration: give a number with its unit, such as 30s, 5m or 1h", text)
	}
	*d = Duration(parsed)
	return nil
}
