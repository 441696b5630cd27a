package conditions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// reduced contains the backends of an agent that serve with a reduced share.
type reduced struct {
	backends []*registry.Backend
	names    map[string]bool
	lowest   *registry.Backend
	regions  map[string]bool // their regions
}

// countShare adds a serving backend with a reduced share to its agent, or records a backend with a full share in its
// region.
func (l *losses) countShare(b *registry.Backend) {
	if !b.IsReduced() {
		l.full[b.Region] = l.full[b.Region] || b.MayServe
		return
	}
	r := l.reduced[b.AgentID]
	if r == nil {
		r = &reduced{names: map[string]bool{}, lowest: b, regions: map[string]bool{}}
		l.reduced[b.AgentID] = r
	}
	r.backends = append(r.backends, b)
	r.names[b.Service] = true
	r.regions[b.Region] = true
	if b.Share < r.lowest.Share {
		r.lowest = b
	}
}

// walkShares reports agents with backends that have a reduced share.
func (l *losses) walkShares(to report) {
	for _, id := range slices.Sorted(maps.Keys(l.reduced)) {
		to(api.DegradedShare, id, func() (string, string) { return l.describeShare(id), "gslbctl agents show " + id })
	}
}

func (l *losses) describeShare(agent string) string {
	r := l.reduced[agent]
	why := "agent " + agent + " warned"
	switch r.lowest.Reason {
	case status.ReasonWarnsOfCPU:
		why = "agent " + agent + " warns of the processor's load"
	case status.ReasonWarnsOfMemory:
		why = "agent " + agent + " warns of memory running out"
	case status.ReasonWarnsOfErrors:
		why = "agent " + agent + " warns of failing checks"
	}
	text := fmt.Sprintf("%s: %s of %s serve with a reduced share, the lowest %.0f %% (%s)", why,
		counted(len(r.backends), "backend"), counted(len(r.names), "name"), 100*r.lowest.Share, r.lowest.ID)
	if problem := r.lowest.Report().LastError; problem != "" {
		text += "; its last error: " + problem
	}
	var whole []string // regions without a full backend
	for region := range r.regions {
		if !l.full[region] {
			whole = append(whole, region)
		}
	}
	if slices.Sort(whole); len(whole) > 0 {
		text += fmt.Sprintf("; every serving backend of region %s is reduced, so its clients stay there: shares are "+
			"relative inside a region", strings.Join(whole, ", "))
	}
	return text
}

func (j *Judge) flapWindow() time.Duration {
	if j.o.FlapWindow == nil {
		return registry.DefaultFlapWindow
	}
	return j.o.FlapWindow()
}

// span returns a duration as text, in minutes if it has no seconds.
func span(d time.Duration) string {
	if d%time.Minute == 0 {
		return counted(int(d/time.Minute), "minute")
	}
	return d.String()
}

// walkFlapping reports flapping backends, or their region if several backends of the region flap. It omits backends of
// lost regions and agents.
func (l *losses) walkFlapping(window time.Duration, to report) {
	for _, region := range slices.Sorted(maps.Keys(l.flapping)) {
		list := slices.DeleteFunc(slices.Clone(l.flapping[region]), l.folds)
		if len(list) == 0 {
			continue
		}
		first := list[0]
		subject, what := first.ID.String(), fmt.Sprintf("%s in %s flaps: it", first.ID, region)
		if len(list) > 1 {
			subject = "region " + region
			what = fmt.Sprintf("%d backends of region %s flap, such as %s: each", len(list), region, first.ID)
		}
		to(api.Flapping, subject, fixed(what+" stopped serving 3 times within "+span(window)+"; the last reason: "+
			first.FlapReason, "gslbctl events --name "+first.Service))
	}
}
