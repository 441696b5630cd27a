package validation

import (
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
)

// Settings are overwatch.validation of the configuration.
type Settings struct {
	// Enabled says whether backends are checked at all.
	Enabled bool
	// Interval is the time between two checks of one backend, Timeout bounds each, where the backend's own check has no
	// times.
	Interval, Timeout time.Duration
	// FailureThreshold and SuccessThreshold are those of checks that have none of their own; 0 means the default of
	// package check.
	FailureThreshold, SuccessThreshold int
	// Concurrency bounds the checks under way; 0 means DefaultConcurrency. Checks that match a pattern have an eighth of
	// it for themselves.
	Concurrency int
}

// DefaultConcurrency bounds the checks under way at once. Each holds a descriptor and some 30 KiB. At the
// reference values (every 30 s, 5 s to answer) it lets 6 000 backends be dead at once without delaying the checks of
// the others.
const DefaultConcurrency = 1024

// complete fills in what may be left out, and checks s.
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
		return fmt.Errorf("overwatch.validation: %d checks at once: give a number above 0", s.Concurrency)
	}
	if problems := s.Given(check.Spec{Type: check.TCP}).Validate(); len(problems) > 0 {
		return fmt.Errorf("overwatch.validation: %w", problems[0])
	}
	return nil
}

// Given returns a backend's check with these times and thresholds where it has none of its own.
func (s *Settings) Given(spec check.Spec) check.Spec {
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
