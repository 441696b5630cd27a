package publish

import (
	"slices"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/policy"
)

// Failbacks stores the regions that await failback; *failback.Tracker implements it. Its methods must not block.
type Failbacks interface {
	// Awaiting returns the regions of a domain that await failback, sorted.
	Awaiting(domain string) []string
	// Observe receives the state of a domain after a decision.
	Observe(domain string, o failback.Observation)
	// Release ends the waits of a domain in which no region can await failback.
	Release(domain string)
	// Suspend retains the waits of a domain that is disabled or removed.
	Suspend(domain string)
}

// ForPreview returns Failbacks with the regions of f, for views that no client sees. It changes nothing.
func ForPreview(f Failbacks) Failbacks {
	if f == nil {
		return nil
	}
	return preview{f}
}

// preview is the result of ForPreview.
type preview struct{ Failbacks }

func (preview) Observe(string, failback.Observation) {}
func (preview) Release(string)                       {}
func (preview) Suspend(string)                       {}

// waitsForFailback reports whether regions of the domain can await failback.
func (d *domain) waitsForFailback() bool {
	return d.rules.Algorithm.ChoosesRegion() && d.rules.Parameters().Failback.Waits()
}

// awaitingFailback returns the regions of a domain that await failback.
func (p *decider) awaitingFailback(d *domain) []string {
	if p.failbacks == nil || !d.waitsForFailback() {
		return nil
	}
	return p.failbacks.Awaiting(d.service)
}

// observeFailback passes the result of a decision to the failbacks.
func (p *decider) observeFailback(d *domain, input *policy.DecisionInput, decisions [][2]policy.Decision) {
	if p.failbacks == nil || !d.waitsForFailback() {
		return
	}
	p.failbacks.Observe(d.service, failback.Observation{Setting: d.rules.Parameters().Failback,
		Regions: policy.RegionsOf(d.rules, input.Candidates), InUse: regionsInUse(decisions), Listed: d.rules.Regions,
		IsConfigured: func(region string) bool { return p.positions.places.names[region] == region }})
}

// regionsInUse returns the regions in the answers of decisions, without fallback answers and answers to fenced clients,
// which ignore failback, sorted. "" is for backends without a region.
func regionsInUse(decisions [][2]policy.Decision) (list []string) {
	add := func(region string) {
		if at, known := slices.BinarySearch(list, region); !known {
			list = slices.Insert(list, at, region)
		}
	}
	for i := range decisions {
		for f := range decisions[i] {
			d := &decisions[i][f]
			if d.Outcome != policy.Success && d.Outcome != policy.FailedOver || !d.Algorithm.ChoosesRegion() ||
				d.Fence != "" {
				continue
			}
			add(d.Region)
			for _, region := range d.Shared {
				add(region)
			}
		}
	}
	return list
}

// releaseFailbacks ends the waits of a new or changed domain in which no region can await failback.
func (p *Publisher) releaseFailbacks(d *domain) {
	if p.failbacks != nil && !d.waitsForFailback() {
		p.failbacks.Release(d.service)
	}
}

// suspendFailbacks retains the waits of a removed domain.
func (p *Publisher) suspendFailbacks(d *domain) {
	if p.failbacks != nil {
		p.failbacks.Suspend(d.service)
	}
}
