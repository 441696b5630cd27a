package predict

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/wire"
)

// application reads the error count of the application.
type application struct {
	*reader
	trend  *trend
	silent bool // the latest reading failed, and the failure was logged
	up     prometheus.Gauge
	value  prometheus.Gauge
}

// newApplication returns the reader of error_rate.source, or nil without a source. It always registers the metrics.
func newApplication(o Options) *application {
	a := &application{
		trend: newTrend(o.ErrorRate),
		up: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gslb_agent_error_source_up", Help: "1 if the latest reading of error_rate.source is a number.",
		}),
		value: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gslb_agent_errors_per_minute", Help: "Errors per minute by error_rate.source.",
		}),
	}
	o.Registerer.MustRegister(a.up, a.value)
	if !o.ErrorRate.Source.Given() {
		return nil
	}
	a.reader = newReader(o.ErrorRate.Source, o.UserAgent)
	return a
}

// lookAtSource reads the error count of the application, which applies to all backends. A failed reading does not
// change the warning.
func (w *Watch) lookAtSource(ctx context.Context, next *state, now time.Time) (changed bool) {
	a := w.source
	value, err := a.read(ctx)
	if err == nil {
		if a.source.Kind == config.KindCounter {
			value = a.trend.rate.perMinute(value, now)
		}
		changed = a.trend.threshold.observe(value)
		a.value.Set(value)
	}
	w.tellSource(ctx, err)
	if changed {
		w.logSignal(signalErrors, &a.trend.threshold, value, "")
	}
	if a.trend.threshold.set {
		next.all.ErrorRateMillis = wire.Millis(w.options.ErrorRate.BleedDuration)
	}
	w.active.WithLabelValues(signalErrors).Set(number(a.trend.threshold.set))
	return changed
}

// tellSource logs the first failed reading of the source, and the first successful reading after a failure.
func (w *Watch) tellSource(ctx context.Context, err error) {
	a := w.source
	a.up.Set(number(err == nil))
	switch {
	case err != nil && ctx.Err() == nil && !a.silent:
		a.silent = true
		w.options.Logger.Warn().Err(err).Str("url", a.source.URL).
			Msg("agent.predictive.error_rate.source cannot be read: the warning about errors stays as it is until it can")
	case err == nil && a.silent:
		a.silent = false
		w.options.Logger.Info().Str("url", a.source.URL).Msg("agent.predictive.error_rate.source can be read")
	}
}
