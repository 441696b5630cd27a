package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/state/store"
)

// RegisterStore adds the metrics of the store to r.
func RegisterStore(r prometheus.Registerer, kept *store.Store) error {
	return r.Register(collector(func(s scrape) {
		s.gauge("store_recovered",
			"1 when the store was found damaged at the start, so that pins or overrides may be missing.",
			truth(kept.Recovered() != ""))
		s.gauge("store_failing", "1 while nothing can be stored: the disk is full, failing or read-only, or hangs.",
			truth(kept.Failing()))
	}))
}
