package config

import (
	"time"

	"gslb.internal/shared/logging"
)

// Defaults of the keys: the specification's reference values where it has one.
const (
	DefaultDataDir = "/var/lib/gslb"
	DefaultWeight  = 100

	DefaultPredictiveInterval = 10 * time.Second
	DefaultCPUThreshold       = 85 // percent
	DefaultCPUBleed           = 30 * time.Second
	DefaultMemoryThreshold    = 90 // percent
	DefaultMemoryBleed        = 30 * time.Second
	DefaultErrorRateThreshold = 10 // errors per minute
	DefaultErrorRateWindow    = time.Minute
	DefaultErrorRateBleed     = time.Minute

	DefaultErrorSourceKind    = KindCounter
	DefaultErrorSourceTimeout = 2 * time.Second

	DefaultHeartbeatInterval = 10 * time.Second
	DefaultMissedThreshold   = 3

	// DefaultDrainTime is the default TTL of answers: what was answered before the drain is used up by its end.
	DefaultDrainTime = 30 * time.Second

	DefaultMetricsAddress = "127.0.0.1:9100"
)

// Default returns the configuration of a file that says nothing.
func Default() *Config {
	return &Config{
		DataDir: DefaultDataDir,
		Agent: Agent{
			Predictive: Predictive{
				CheckInterval: DefaultPredictiveInterval,
				CPU:           Resource{Threshold: DefaultCPUThreshold, BleedDuration: DefaultCPUBleed},
				Memory:        Resource{Threshold: DefaultMemoryThreshold, BleedDuration: DefaultMemoryBleed},
				ErrorRate: ErrorRate{
					Threshold: DefaultErrorRateThreshold, Window: DefaultErrorRateWindow, BleedDuration: DefaultErrorRateBleed,
					Source: ErrorSource{Kind: DefaultErrorSourceKind, Timeout: DefaultErrorSourceTimeout},
				},
			},
			Heartbeat: Heartbeat{Interval: DefaultHeartbeatInterval, MissedThreshold: DefaultMissedThreshold},
			DrainTime: DefaultDrainTime,
		},
		Logging: logging.Config{Level: logging.DefaultLevel, Format: logging.DefaultFormat},
		Metrics: Metrics{Address: DefaultMetricsAddress},
	}
}

// SetDefaults gives a backend what it has unless its keys say otherwise.
func (b *Backend) SetDefaults() { b.Weight = DefaultWeight }
