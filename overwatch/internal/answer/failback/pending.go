package failback

import (
	"cmp"
	"slices"
	"time"

	"gslb.internal/shared/model"
)

// Pending is a region that awaits failback.
type Pending struct {
	Domain, Region string
	Since          time.Time // when its clients moved to other regions
	Setting        model.Failback
	// Serving is the number of backends of the region that may serve, Required the number that the region needs.
	Serving, Required int
	CanServeSince     time.Time // zero: the region cannot serve
	ReturnsAt         time.Time // zero: no automatic failback
}

// CanServe reports whether the region has enough backends that may serve.
func (p *Pending) CanServe() bool { return !p.CanServeSince.IsZero() }

// Of returns the regions of a domain that await failback, by name. The result is empty without the setting, and has no
// regions that the domain no longer uses.
func (t *Tracker) Of(name string) []Pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.domains[name].pending(name)
}

// List returns the regions of all domains as Of, by domain and region.
func (t *Tracker) List() (list []Pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, d := range t.domains {
		list = append(list, d.pending(name)...)
	}
	slices.SortFunc(list, func(a, b Pending) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Region, b.Region))
	})
	return list
}

// pending returns the regions that await failback, by name; nil for a nil domain.
func (d *domain) pending(name string) (list []Pending) {
	if d == nil || !d.setting.Waits() {
		return nil
	}
	for region, a := range d.awaiting {
		if !a.unusedSince.IsZero() {
			continue
		}
		list = append(list, Pending{Domain: name, Region: region, Since: a.since, Setting: d.setting,
			Serving: a.health.Serving, Required: a.health.Required, CanServeSince: a.canServeSince,
			ReturnsAt: a.returnsAt(d.setting)})
	}
	slices.SortFunc(list, func(a, b Pending) int { return cmp.Compare(a.Region, b.Region) })
	return list
}
