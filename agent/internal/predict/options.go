package predict

import (
	"context"
	"errors"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
)

// Target names a backend.
type Target struct {
	Service string
	At      netip.AddrPort
}

// Meter measures the machine. *Gauge implements it.
type Meter interface {
	CPU(ctx context.Context) (percent float64, err error)
	Memory(ctx context.Context) (percent float64, err error)
}

// Options are the inputs of New. All except UserAgent are required.
type Options struct {
	config.Predictive // validated by config.Load; the machine is measured even if it is disabled
	UserAgent         string
	Meter             Meter
	// Failures returns the number of failed checks of each current backend since the start.
	Failures   func() map[Target]uint64
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

func (o *Options) check() error {
	if o.Meter == nil || o.Failures == nil || o.Registerer == nil {
		return errors.New("predict: Meter, Failures and Registerer must be set")
	}
	if o.CheckInterval <= 0 || o.ErrorRate.Window <= 0 {
		return errors.New("predict: CheckInterval and Window must be above zero")
	}
	return nil
}
