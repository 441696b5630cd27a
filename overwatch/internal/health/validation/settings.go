package validation

import (
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
)

// Settings are overwatch.validation of the configuration.
type Settings struct {
	// Enabled enables own checks.
	Enabled bool
	// Interval is the time between two checks of a backend, and Timeout the timeout of a check. The times of a check
	// replace them.
	Interval, Timeout time.Duration
	// FailureThreshold and SuccessThreshold are the thresholds of checks without thresholds; 0 means the default of
	// package check.
	FailureThreshold, SuccessThreshold int
	// Concurrency is the maximum number of concurrent checks without a pattern; 0 means DefaultConcurrency. Checks with a
	// pattern have a separate limit of an eighth of it.
	Concurrency int
}

// DefaultConcurrency is the default number of concurrent checks. A check uses a file descriptor and 30 KiB. With the
// default times (every 30 s, timeout 5 s), 6,000 backends can be down without delaying other checks.
const DefaultConcurrency = 1024

// complete validates s and sets defaults.
func (s *Settings) complete() error {
	for _, field := range []struct {
		value *int
		left  int
	}{
		{&s.FailureThreshold, check.DefaultFailureThreshold}, {&s.SuccessThreshold, check.DefaultSuccessThreshold},
		{&s.Concurrency, DefaultConcurrency},
	} {
		if *field.value == 0 {
			*field.value = field.left
		}
	}
	if s.Concurrency < 0 {
		return fmt.Errorf("overwatch.validation: concurrency %d is out of range: want a number above 0", s.Concurrency)
	}
	if problems := s.WithDefaults(check.Spec{Type: check.TCP}).Validate(); len(problems) > 0 {
		return fmt.Errorf("overwatch.validation: %w", problems[0])
	}
	return nil
}

// WithDefaults returns a check with the times and thresholds of s for its unset values.
func (s *Settings) WithDefaults(spec check.Spec) check.Spec {
	if spec.Interval == 0 {
		spec.Interval, spec.Timeout = s.Interval, s.Timeout
		spec.FastInterval = min(spec.FastInterval, s.Interval)
	}
	if spec.FailureThreshold == 0 {
		spec.FailureThreshold = s.FailureThreshold
	}
	if spec.SuccessThreshold == 0 {
		spec.SuccessThreshold = s.SuccessThreshold
	}
	return spec
}

// SettingsOf returns the settings of the node's own checks under a configuration.
func SettingsOf(cfg *config.Config) Settings {
	v := cfg.Overwatch.Validation
	return Settings{
		Enabled: v.Enabled, Interval: v.CheckInterval, Timeout: v.CheckTimeout, FailureThreshold: v.FailureThreshold,
		SuccessThreshold: v.SuccessThreshold, Concurrency: v.MaxConcurrentChecks,
	}
}
