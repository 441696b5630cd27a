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
	// InUse are the regions in the answers, without fallback answers, sorted. "" stands for backends without a region.
	InUse []string
}

// Observe records the state of a domain after a decision with the regions of Awaiting. It finds the regions that begin
// to await failback. It ends the wait of regions that answer because no other region can. While another region answers
// some clients, such as those of one address family, the wait continues.
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
			if h := o.health(region); h.IsDown && !slices.Contains(o.InUse, region) && d.awaiting[region] == nil {
				d.awaiting[region] = &awaiting{since: now.UTC().Truncate(time.Millisecond)}
				t.markUnsaved(name, region)
				changed = true
			}
		}
		if len(before) > 0 && d.awaitedAll(o.InUse) {
			for _, region := range o.InUse {
				isNew := !slices.Contains(before, region) || !d.awaitedAll(before)
				if isNew && d.awaiting[region] != nil {
					delete(d.awaiting, region)
					t.markUnsaved(name, region)
					changed = true
				}
			}
		}
	}
	for region, a := range d.awaiting {
		a.health = o.health(region)
		if !a.health.CanServe() {
			a.canServeSince = time.Time{}
		} else if a.canServeSince.IsZero() {
			a.canServeSince = now
		}
		if at := a.returnsAt(o.Setting); !at.IsZero() && (t.next.IsZero() || at.Before(t.next)) {
			t.next = at
			t.wakeRun()
		}
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
