package metrics

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Store is the source of the metrics of what is stored; store.Store implements it.
type Store interface {
	// Recovered returns a sentence about damage that was found at the start; "" without any.
	Recovered() string
	// Failing reports whether nothing can be stored.
	Failing() bool
}

// RegisterStore adds the metrics of the store to r.
func RegisterStore(r prometheus.Registerer, s Store) error {
	recovered := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gslb_store_recovered",
		Help: "1 when the store was found damaged at the start, so that pins or overrides may be missing.",
	}, func() float64 { return truth(s.Recovered() != "") })
	failing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gslb_store_failing", Help: "1 while nothing can be stored: the disk is full, failing or read-only, or hangs.",
	}, func() float64 { return truth(s.Failing()) })
	return errors.Join(r.Register(recovered), r.Register(failing))
}
