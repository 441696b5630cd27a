package agent

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/agent/internal/monitor"
	"gslb.internal/agent/internal/predict"
)

// startDrains starts the drain of backends that are no longer discovered, and ends completed drains. It reports whether
// the set of backends to check has changed.
func (d *discovery) startDrains(before []monitor.Backend) bool {
	after := d.discovered()
	if over := d.config.Agent.DrainTime; over > 0 {
		for _, b := range before {
			if !names(after, b) {
				d.leaving[b] = time.Now().Add(over)
			}
		}
	}
	changed := !slices.Equal(before, after)
	maps.DeleteFunc(d.leaving, func(b monitor.Backend, ends time.Time) bool {
		gone := !time.Now().Before(ends) || names(after, b) || names(monitored(d.config.Agent.Backends), b)
		changed = changed || gone
		return gone
	})
	return changed
}

// allBackends returns the backends to check, and the draining backends among them. The backends of the configuration,
// of files and of targets precede the draining backends. If the list is full, the draining backends that end first are
// dropped.
func (d *discovery) allBackends() (all []monitor.Backend, drained []predict.Target) {
	all = append(monitored(d.config.Agent.Backends), d.discovered()...)
	ends := func(a, b monitor.Backend) int { return d.leaving[b].Compare(d.leaving[a]) }
	for _, b := range slices.SortedFunc(maps.Keys(d.leaving), ends) {
		if monitor.Check(append(all, b)) != nil {
			delete(d.leaving, b)
			continue
		}
		all, drained = append(all, b), append(drained, predict.Target{Service: b.Service,
			At: netip.AddrPortFrom(b.Address.Unmap(), b.Port)})
	}
	return all, drained
}

// names reports whether a list has a backend of the same service, address and port.
func names(list []monitor.Backend, b monitor.Backend) bool {
	return slices.ContainsFunc(list, func(o monitor.Backend) bool { return o.String() == b.String() })
}
