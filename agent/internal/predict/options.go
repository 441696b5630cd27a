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

// Resource is the warning threshold of a resource.
type Resource struct {
	// Threshold is a percentage. A higher value sets the warning.
	Threshold float64
	// Bleed is the time over which traffic is reduced.
	Bleed time.Duration
}

// Settings are agent.predictive of the configuration.
type Settings struct {
	// Enabled turns warnings on. Figures are measured in any case.
	Enabled bool
	// Interval is the time between two measurements.
	Interval time.Duration
	CPU      Resource
	Memory   Resource
	// Errors is the threshold of failed checks or of the errors that Source counts. Its Threshold
	// is per minute, counted over Window.
	Errors Resource
	Window time.Duration
	// Source is read for errors instead of counting failed checks. Its errors concern all backends.
	// Nil means none.
	Source *Source
}

// Meter measures the machine. *Gauge implements it.
type Meter interface {
	CPU(ctx context.Context) (percent float64, err error)
	Memory(ctx context.Context) (percent float64, err error)
}

// Options are the inputs of New. All are required.
type Options struct {
	Settings
	Meter Meter
	// Failures returns the number of failed checks of each current backend since the start.
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
