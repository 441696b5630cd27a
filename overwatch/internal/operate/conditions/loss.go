package conditions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Each search for losses reads every backend, and events call it each second. If a search takes longer than lossQuick,
// the pause before the next search is lossPause times as long.
const (
	lossQuick = 2 * time.Millisecond
	lossPause = 50
)

// partlyBackFor is the time after which the loss of a partly recovered group ends. After it, each failing backend has a
// separate condition.
const partlyBackFor = 10 * time.Minute

// The states of a lost region or agent, which are also event states.
const (
	StateLost       = "lost"        // no backend serves
	StateSilent     = "silent"      // the agent is silent, and its backends serve
	StatePartlyBack = "partly_back" // some backends serve
)

// group contains the backends of a region or an agent, except backends that an operator stopped.
type group struct {
	name    string
	total   int
	serving int
	failing int // serving backends that become unhealthy at the next failed check
	unknown int // backends of unknown health
	down    []*registry.Backend
	stale   []*registry.Backend // backends of a silent agent, serving or not
	names   map[string]bool     // names of down and stale backends
	agents  map[string]bool     // of a region: silent agents of its down and stale backends
	regions map[string]bool     // of an agent: regions of its down and stale backends
	lost    bool                // the loss has not ended
	partly  time.Time           // start of the partial recovery; zero: fully lost
}

// losses has the lost regions and agents at a time.
type losses struct {
	regions, agents map[string]*group
	silent          map[string]registry.AgentState // agents without a recent heartbeat
	refused         map[string]bool                // agents with a condition about their rejection
	reduced         map[string]*reduced            // by agent
	full            map[string]bool                // regions with a backend that serves with full share
	flapping        map[string][]*registry.Backend // by region
}

// findLosses returns the losses. A region is lost if no backend serves, or if all serving backends fail their checks.
// An agent is lost if it is silent and has backends. A loss lasts until all of its backends serve and its agent
// reports, so that the gradual recovery of a site has a single end. A loss that has been partly recovered for
// partlyBackFor also ends.
func (j *Judge) findLosses() *losses {
	j.lossMu.Lock()
	defer j.lossMu.Unlock()
	began := j.o.Now()
	if j.lossFound != nil && began.Before(j.lossUntil) {
		return j.lossFound
	}
	l := &losses{regions: map[string]*group{}, agents: map[string]*group{}, silent: map[string]registry.AgentState{},
		refused: j.troubledAgents(), reduced: map[string]*reduced{}, full: map[string]bool{},
		flapping: map[string][]*registry.Backend{}}
	for a := range j.o.View.EachAgent() {
		if !a.HasLeft() && AgentStatus(*a, began) == api.GossipDead {
			l.silent[a.ID] = *a
		}
	}
	for _, d := range j.o.Domains() {
		for _, b := range j.o.View.Service(d.Name) {
			switch {
			case b.Override == nil && !b.IsDrained():
				l.count(b)
			case b.MayServe:
				l.full[b.Region] = true
			}
		}
	}
	l.judge(j.lost, began)
	j.lost = map[string]time.Time{}
	for name, g := range l.regions {
		if g.lost {
			j.lost["region "+name] = g.partly
		}
	}
	for id, g := range l.agents {
		if g.lost {
			j.lost["agent "+id] = g.partly
		}
	}
	j.lossFound, j.lossUntil = l, began
	if took := j.o.Now().Sub(began); took > lossQuick {
		j.lossUntil = began.Add(lossPause * took)
	}
	return l
}

// count adds a backend to the groups of its region and its agent.
func (l *losses) count(b *registry.Backend) {
	if b.Region != "" {
		groupOf(l.regions, b.Region).add(b)
	}
	if b.AgentID != "" {
		groupOf(l.agents, b.AgentID).add(b)
	}
	l.countShare(b)
	if b.FlapReason != "" {
		l.flapping[b.Region] = append(l.flapping[b.Region], b)
	}
}

func groupOf(all map[string]*group, name string) *group {
	g := all[name]
	if g == nil {
		g = &group{name: name, names: map[string]bool{}, agents: map[string]bool{}, regions: map[string]bool{}}
		all[name] = g
	}
	return g
}

func (g *group) add(b *registry.Backend) {
	g.total++
	if b.Reason == status.ReasonUnknown {
		g.unknown++
		return
	}
	v := &b.OwnCheck
	if !b.MayServe {
		g.down = append(g.down, b)
	} else if g.serving++; v.State == check.StateHealthy && v.Failures >= max(1, b.FailureThreshold()-1) {
		g.failing++
	}
	if b.Status == api.EffectiveStale {
		g.stale = append(g.stale, b)
		g.agents[b.AgentID] = true
	}
	if !b.MayServe || b.Status == api.EffectiveStale {
		g.names[b.Service] = true
		g.regions[b.Region] = true
	}
}

// judge sets lost and partly of all groups. before contains the losses of the previous search, with their partly.
func (l *losses) judge(before map[string]time.Time, now time.Time) {
	for key := range before { // regions without a backend
		if region, ok := strings.CutPrefix(key, "region "); ok && l.hasSilentAgentIn(region) {
			groupOf(l.regions, region)
		}
	}
	for name, g := range l.regions {
		silent := g.total == 0 && l.hasSilentAgentIn(name)
		if g.lost = len(g.down) > 0 && g.unknown == 0 && g.serving == g.failing; !g.lost {
			g.endLoss(before, "region "+name, silent, g.serving > g.failing, now)
		}
	}
	for id := range l.silent {
		groupOf(l.agents, id)
	}
	for id, g := range l.agents {
		_, silent := l.silent[id]
		if g.lost = len(g.stale) > 0; !g.lost {
			g.endLoss(before, "agent "+id, silent, !silent, now)
		}
	}
}

// endLoss sets lost and partly of a group without a new loss. A loss of the previous search may continue.
func (g *group) endLoss(before map[string]time.Time, key string, silent, partly bool, now time.Time) {
	since, was := before[key]
	if g.lost = was && (len(g.down) > 0 || silent); !g.lost || !partly {
		return
	}
	g.partly = cmp.Or(since, now)
	g.lost = now.Sub(g.partly) < partlyBackFor
}

func (l *losses) hasSilentAgentIn(region string) bool {
	for _, a := range l.silent {
		if a.Region == region {
			return true
		}
	}
	return false
}

// folds reports whether the condition of a lost region or agent includes b.
func (l *losses) folds(b *registry.Backend) bool {
	if g := l.regions[b.Region]; g != nil && g.lost && !b.MayServe {
		return true
	}
	g := l.agents[b.AgentID]
	return b.AgentID != "" && g != nil && g.lost && (!b.MayServe || b.Status == api.EffectiveStale)
}

// foldsAgent reports whether the conditions of lost regions include the loss of an agent. Each region of the agent's
// down and stale backends must be lost, and either no backend of the agent serves or the agent has resumed its reports.
// An agent without backends is included if the region of its reports is lost.
func (l *losses) foldsAgent(id string) bool {
	g := l.agents[id]
	a, silent := l.silent[id]
	if g != nil && len(g.regions) > 0 {
		for region := range g.regions {
			if r := l.regions[region]; r == nil || !r.lost {
				return false
			}
		}
		reportsAgain := !silent && len(g.stale) == 0
		return len(g.down) > 0 && (g.serving == 0 || reportsAgain)
	}
	return silent && l.regions[a.Region] != nil && l.regions[a.Region].lost
}

// walkLosses reports lost regions and agents.
func (j *Judge) walkLosses(l *losses, to report) {
	for _, name := range slices.Sorted(maps.Keys(l.regions)) {
		if g := l.regions[name]; g.lost {
			to(api.RegionLost, name, func() (string, string) { return l.describeRegion(g) })
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.agents)) {
		if g := l.agents[id]; g.lost && !l.foldsAgent(id) && (len(g.down) > 0 || !l.refused[id]) {
			to(api.AgentLost, id, func() (string, string) { return l.describeAgent(g) })
		}
	}
}

// state returns the event state of the loss of a region or an agent.
func (g *group) state(ofAgent bool) string {
	switch {
	case ofAgent && len(g.down) == 0 && g.total > 0:
		return StateSilent
	case g.serving > g.failing:
		return StatePartlyBack
	}
	return StateLost
}

func (l *losses) describeRegion(g *group) (sentence, command string) {
	command = "gslbctl backends list --region " + g.name
	switch {
	case g.total == 0:
		return fmt.Sprintf("region %s is lost: %s, and its backends were removed", g.name,
			l.silence(agentsIn(l.silent, g.name))), command
	case g.serving > g.failing:
		return fmt.Sprintf("region %s is partly back: %d of %s serve%s", g.name, g.serving, counted(g.total, "backend"),
			g.problems()), command
	case g.failing > 0:
		return fmt.Sprintf("region %s is lost: %d of %s of %s stopped serving, and the others fail their checks%s", g.name,
			len(g.down), counted(g.total, "backend"), counted(len(g.names), "name"), g.problems()), command
	}
	why := g.problems()
	if len(g.agents) > 0 {
		why = ": " + l.silence(slices.Sorted(maps.Keys(g.agents))) + "; " + strings.TrimPrefix(why, ": ")
	}
	return fmt.Sprintf("region %s is lost: none of its %s of %s serves%s", g.name, counted(g.total, "backend"),
		counted(len(g.names), "name"), why), command
}

func agentsIn(silent map[string]registry.AgentState, region string) (ids []string) {
	for id, a := range silent {
		if a.Region == region {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// silence returns the text about silent agents.
func (l *losses) silence(ids []string) string {
	since := time.Time{}
	for _, id := range ids {
		if a, silent := l.silent[id]; silent && (since.IsZero() || a.LastSeen.Before(since)) {
			since = a.LastSeen
		}
	}
	text := "agent " + strings.Join(ids, ", ") + " is silent"
	if len(ids) != 1 {
		text = "agents " + strings.Join(ids, ", ") + " are silent"
	}
	if !since.IsZero() {
		text += " since " + moment(since)
	}
	return text
}

func (l *losses) describeAgent(g *group) (sentence, command string) {
	command = "gslbctl agents show " + g.name
	what := l.silence([]string{g.name})
	if l.refused[g.name] {
		what = "this node refuses agent " + g.name
	}
	if _, silent := l.silent[g.name]; !silent && len(g.stale) == 0 && !l.refused[g.name] {
		what = "agent " + g.name + " reports again"
	}
	switch {
	case g.total == 0:
		return what + ": its backends were removed", command
	case len(g.down) == 0:
		return fmt.Sprintf("%s: its %s of %s serve on this node's own checks", what, counted(len(g.stale), "backend"),
			counted(len(g.names), "name")), command
	}
	return fmt.Sprintf("%s: %d of its %s do not serve%s", what, len(g.down), counted(g.total, "backend"), g.problems()),
		command
}

// problems lists at most three down backends, each with the reason.
func (g *group) problems() string {
	const shown = 3
	var list []string
	for _, b := range g.down[:min(len(g.down), shown)] {
		list = append(list, b.ID.String()+": "+problemOf(b))
	}
	if len(list) == 0 {
		return ""
	}
	text := ": " + strings.Join(list, ", ")
	if more := len(g.down) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// problemOf returns the last error of b, or the reason of its status.
func problemOf(b *registry.Backend) string {
	if b.Reason == status.ReasonAgentUnhealthy {
		return cmp.Or(b.Report().LastError, b.Reason)
	}
	return cmp.Or(b.OwnCheck.LastError, b.Report().LastError, b.Reason)
}
