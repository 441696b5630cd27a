package failback

import (
	"slices"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/model"
)

// Observation is the state of a domain at a decision.
type Observation struct {
	Setting model.Failback        // must wait (model.Failback.Waits)
	Regions []policy.RegionHealth // sorted by region
	// InUse are the regions in the answers, without fallback answers, sorted. The region "" contains the backends without
	// a region.
	InUse []string
	// Listed are the regions in the settings of the domain. IsConfigured reports whether the configuration has a region.
	Listed       []string
	IsConfigured func(region string) bool
}

// canBegin reports whether a region can begin to await failback. Agents can choose the names of other regions, so their
// number has no bound.
func (o *Observation) canBegin(region string) bool {
	return slices.Contains(o.Listed, region) || o.IsConfigured(region)
}

// isUsed reports whether a domain uses a region: it has backends, is listed, or could have backends.
func (o *Observation) isUsed(region string) bool {
	return slices.ContainsFunc(o.Regions, func(h policy.RegionHealth) bool { return h.Region == region }) ||
		slices.Contains(o.Listed, region) || len(o.Listed) == 0 && o.IsConfigured(region)
}

// Observe records the state of a domain after a decision with the regions of Awaiting. It finds the regions that begin
// to await failback. It ends the wait of regions that answer because no other region can. While another region answers
// some clients, such as the clients of one address family, the wait continues.
func (t *Tracker) Observe(name string, o Observation) {
	if t.observe(name, &o, t.o.Now()) {
		t.o.Changed(name)
	}
}

func (t *Tracker) observe(name string, o *Observation, now time.Time) (changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.getOrCreate(name)
	d.setting = o.Setting
	if before := d.inUse; len(o.InUse) > 0 {
		d.inUse = o.InUse
		for _, region := range before { // none at the first observation
			if h := o.health(region); h.IsDown && !slices.Contains(o.InUse, region) && d.awaiting[region] == nil &&
				o.canBegin(region) {
				a := &awaiting{at: place{name, region}, since: now.UTC().Truncate(time.Millisecond), own: true}
				d.awaiting[region] = a
				t.markUnsaved(a.at)
				changed = true
			}
		}
		if len(before) > 0 && d.awaitedAll(o.InUse) {
			for _, region := range o.InUse {
				isNew := !slices.Contains(before, region) || !d.awaitedAll(before)
				if a := d.awaiting[region]; isNew && a != nil {
					t.remove(a)
					t.markUnsaved(a.at)
					changed = true
				}
			}
		}
	}
	for region, a := range d.awaiting {
		if !o.isUsed(region) {
			t.leaveUnused(d, a)
			continue
		}
		a.health, a.unusedSince = o.health(region), time.Time{}
		if !a.health.CanServe() {
			a.canServeSince = time.Time{}
		} else if a.canServeSince.IsZero() {
			a.canServeSince = now
		}
		t.setEnd(a, a.endsAt(o.Setting))
	}
	d.decided = d.regions()
	return changed
}

// awaitedAll reports whether all regions of a list awaited failback at the last observation.
func (d *domain) awaitedAll(regions []string) bool {
	return !slices.ContainsFunc(regions, func(region string) bool { return !slices.Contains(d.decided, region) })
}

// health returns the health of a region; a region without backends cannot serve and is not down.
func (o *Observation) health(region string) policy.RegionHealth {
	for i := range o.Regions {
		if o.Regions[i].Region == region {
			return o.Regions[i]
		}
	}
	return policy.RegionHealth{Region: region, Required: 1}
}

// returnsAt returns the time of the automatic failback; zero: none.
func (a *awaiting) returnsAt(setting model.Failback) time.Time {
	if setting.After == 0 || a.canServeSince.IsZero() {
		return time.Time{}
	}
	return a.canServeSince.Add(time.Duration(setting.After))
}

// endsAt returns the time at which the node ends the wait without a request; zero: none.
func (a *awaiting) endsAt(setting model.Failback) time.Time {
	switch {
	case a.unusedSince.IsZero():
		return a.returnsAt(setting)
	case a.own:
		return a.unusedSince.Add(retention)
	}
	return time.Time{}
}
