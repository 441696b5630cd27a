package predict

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Target names a backend.
type Target struct {
	Service string
	At      netip.AddrPort
}

// Resource is the limit of a resource.
type Resource struct {
	// Threshold is in percent; a value above it sets the signal.
	Threshold float64
	// Bleed is the time over which traffic becomes less.
	Bleed time.Duration
}

// Settings are the configuration's agent.predictive.
type Settings struct {
	// Enabled says that signals are set; figures are taken in any case.
	Enabled bool
	// Interval is the time between two looks.
	Interval time.Duration
	CPU      Resource
	Memory   Resource
	// Errors is about failed checks, or what Source says: its Threshold is per minute, counted over Window.
	Errors Resource
	Window time.Duration
	// Source, unless nil, is where errors are read instead of counting failed checks; they are then about all backends.
	Source *Source
}

// Meter measures the machine; *Gauge is the one.
type Meter interface {
	CPU(ctx context.Context) (percent float64, err error)
	Memory(ctx context.Context) (percent float64, err error)
}

// Options is what a Watch needs; all of it is required.
type Options struct {
	Settings
	Meter Meter
	// Failures returns how many checks of each backend have failed since the start. Backends come and go with it.
	Failures   func() map[Target]uint64
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

func (o *Options) check() error {
	if o.Meter == nil || o.Failures == nil || o.Registerer == nil {
		return errors.New("predict: Meter, Failures and Registerer must be set")
	}
	if o.Interval <= 0 || o.Window <= 0 {
		return errors.New("predict: Interval and Window must be above zero")
	}
	return nil
}
