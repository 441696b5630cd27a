package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gslb.internal/shared/settings"
)

// Failback is when the clients of a region return after the region was down. The zero value is automatic.
type Failback struct {
	Manual bool // clients return when an operator requests it
	// The clients of a region return after the region could serve for this time without interruption. The other values of
	// `failback` are the words `automatic` and `manual`.
	After settings.Duration `key:"after" min:"1s" max:"24h"`
}

// The words for a Failback. A duration as a text, such as "10m", is Failback.After.
const (
	FailbackAutomatic = "automatic"
	FailbackManual    = "manual"
)

// MinFailbackAfter and MaxFailbackAfter bound Failback.After.
const (
	MinFailbackAfter = time.Second
	MaxFailbackAfter = 24 * time.Hour
)

// errFailback is the error of an invalid Failback.
var errFailback = fmt.Errorf("give automatic, manual, or {after: 10m} with a time from %s to %s", MinFailbackAfter,
	MaxFailbackAfter)

// Waits reports whether clients stay in another region after their region can serve again.
func (f Failback) Waits() bool { return f != Failback{} }

// String returns the setting for operators: a word, or "after" and the time.
func (f Failback) String() string {
	switch {
	case f.Manual:
		return FailbackManual
	case f.After > 0:
		return "after " + f.After.String()
	}
	return FailbackAutomatic
}

// UnmarshalText parses a word or a duration.
func (f *Failback) UnmarshalText(text []byte) error {
	switch string(text) {
	case FailbackAutomatic:
		*f = Failback{}
		return nil
	case FailbackManual:
		*f = Failback{Manual: true}
		return nil
	}
	after, err := time.ParseDuration(string(text))
	if err != nil || after < MinFailbackAfter || after > MaxFailbackAfter {
		return errFailback
	}
	*f = Failback{After: settings.Duration(after)}
	return nil
}

// MarshalJSON returns a word, or an object with the time.
func (f Failback) MarshalJSON() ([]byte, error) {
	if f.Manual || f.After == 0 {
		return json.Marshal(f.String())
	}
	return json.Marshal(map[string]settings.Duration{"after": f.After})
}

// UnmarshalJSON reads a text as UnmarshalText, or an object with the time.
func (f *Failback) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return f.UnmarshalText([]byte(text))
	}
	var fields map[string]string
	if err := json.Unmarshal(data, &fields); err != nil || len(fields) != 1 || fields["after"] == "" {
		return errFailback
	}
	after, err := time.ParseDuration(fields["after"])
	if err != nil {
		return errors.Join(errFailback, err)
	}
	return f.UnmarshalText([]byte(after.String()))
}
