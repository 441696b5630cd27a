package impact

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

const (
	// flowPeriod is the period of the answers that are the weights of a plan's effects.
	flowPeriod = time.Hour
	// maxPlanNames is the maximum number of names that a plan compares. maxPlanRows is the maximum number of rows.
	maxPlanNames, maxPlanRows = 10_000, 1_000
)

// NoEffects returns the effects of a plan without changes.
func NoEffects() api.PlanAnswers {
	return api.PlanAnswers{Moves: []api.PlanMove{}, Names: []api.PlanName{}, Losses: []api.Consequence{},
		Unused: []string{}}
}

// Compare compares the current answers for names with the answers of the view that preview returns. names must be
// sorted. It stops when ctx ends.
func (a *Assessor) Compare(ctx context.Context, names []string,
	preview func(wanted func(name string) bool) (*zone.View, error)) (api.PlanAnswers, error) {
	e := &answerComparison{result: NoEffects(), moves: map[explain.Move]float64{}}
	if len(names) > maxPlanNames {
		e.result.Skipped = len(names) - maxPlanNames
		names = names[:maxPlanNames]
	}
	after, err := preview(func(name string) bool {
		_, found := slices.BinarySearch(names, name)
		return found
	})
	if err != nil {
		return e.result, err
	}
	e.before, e.after = a.o.DNSView(), after
	e.count(a)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return e.result, err
		}
		if err := e.name(name); err != nil {
			return e.result, err
		}
	}
	return e.finish(), nil
}

// answerComparison compares the answers of names before and after a plan.
type answerComparison struct {
	before, after *zone.View
	counts        map[string]map[string]uint64 // answers of the last hour by name and region of the clients
	elsewhere     float64                      // answers
	moves         map[explain.Move]float64     // answers
	result        api.PlanAnswers
}

// count sums the answers of the last flowPeriod by name and region of the clients, and computes their total.
func (e *answerComparison) count(a *Assessor) {
	e.counts = map[string]map[string]uint64{}
	for _, flow := range a.o.Decisions.Flows(a.o.Now().Add(-flowPeriod), time.Time{}) {
		e.result.Total += flow.Count
		if e.counts[flow.Domain] == nil {
			e.counts[flow.Domain] = map[string]uint64{}
		}
		e.counts[flow.Domain][flow.Source] += flow.Count
	}
}

// name compares the answers of a name. Flows do not distinguish A and AAAA. If the name has both, the flows are the
// weights of A.
func (e *answerComparison) name(name string) error {
	counted := false
	for _, family := range []policy.Family{policy.IPv4, policy.IPv6} {
		shifts, err := explain.Shifts(e.before, e.after, name, family)
		if err != nil {
			return err
		}
		if !answered(shifts) {
			continue
		}
		for i := range shifts {
			e.shift(name, family, &shifts[i], !counted)
		}
		counted = true
	}
	loss, loses, err := explain.Worse(e.before, e.after, name)
	if err != nil {
		return err
	}
	if loses {
		e.result.Losses = append(e.result.Losses, consequence(name, loss))
	}
	return e.unused(name)
}

// answered reports whether any client receives an address, before or after the plan.
func answered(shifts []explain.Shift) bool {
	return slices.ContainsFunc(shifts, func(s explain.Shift) bool { return len(s.Before)+len(s.After) > 0 })
}

func (e *answerComparison) shift(name string, family policy.Family, shift *explain.Shift, weigh bool) {
	var n uint64
	if weigh {
		for region, count := range e.counts[name] {
			if region == shift.Region || shift.Everybody {
				n += count
			}
		}
	}
	e.result.Counted += n
	if !shift.Differs() {
		return
	}
	e.elsewhere += float64(n) * shift.Elsewhere
	for move, part := range shift.Moves {
		e.moves[move] += float64(n) * part
	}
	e.result.Names = append(e.result.Names, api.PlanName{Name: name, QueryType: family.QueryType(),
		ClientRegion: shift.Region, Counted: n, Percent: percent(shift.Elsewhere), Before: routingShares(shift.Before),
		After: routingShares(shift.After)})
}

// unused adds the servers of a name that have clients before the plan and no clients after it.
func (e *answerComparison) unused(name string) error {
	for _, family := range []policy.Family{policy.IPv4, policy.IPv6} {
		was, err := explain.ByRegion(e.before, name, family)
		if err != nil {
			return err
		}
		is, err := explain.ByRegion(e.after, name, family)
		if err != nil {
			return err
		}
		for _, server := range newlyUnused(was, is, family) {
			e.result.Unused = append(e.result.Unused, name+":"+server.String())
		}
	}
	return nil
}

// newlyUnused returns the servers of a name that only the answers before a change contain.
func newlyUnused(was, is []explain.RegionAnswer, family policy.Family) []netip.AddrPort {
	before := map[netip.AddrPort]bool{}
	for _, server := range unusedServers(was, family) {
		before[server] = true
	}
	return slices.DeleteFunc(unusedServers(is, family), func(server netip.AddrPort) bool { return before[server] })
}

// unusedServers lists the servers of a name that no answer contains.
func unusedServers(answers []explain.RegionAnswer, family policy.Family) (list []netip.AddrPort) {
	if len(answers) == 0 {
		return nil
	}
	used := map[string]bool{}
	for _, a := range answers {
		for _, due := range a.Decision.Members {
			used[due.Name()] = true
		}
	}
	for _, c := range answers[0].Decision.Input.Candidates {
		if !used[c.Address.String()] && !used[c.Target] && family.Contains(c.Address) {
			list = append(list, netip.AddrPortFrom(c.Address, c.Port))
		}
	}
	return list
}

func (e *answerComparison) finish() api.PlanAnswers {
	r := &e.result
	if r.Total > 0 {
		r.ElsewherePercent = percent(e.elsewhere / float64(r.Total))
	}
	for move, answers := range e.moves {
		if r.Total > 0 && answers > 0 {
			r.Moves = append(
				r.Moves,
				api.PlanMove{From: move.From, To: move.To, Percent: percent(answers / float64(r.Total))},
			)
		}
	}
	slices.SortFunc(r.Moves, func(a, b api.PlanMove) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	slices.SortStableFunc(r.Losses, worstFirst)
	slices.SortStableFunc(r.Names, func(a, b api.PlanName) int { return cmp.Compare(b.Counted, a.Counted) })
	r.Names = r.Names[:min(len(r.Names), maxPlanRows)]
	r.Unused = r.Unused[:min(len(r.Unused), maxPlanRows)]
	return *r
}

// worstFirst sorts losses: names without an answer, then names with the fewest serving backends.
func worstFirst(a, b api.Consequence) int {
	none := func(c api.Consequence) int {
		if c.Answer == api.AnswerNone {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(none(a), none(b)), cmp.Compare(a.Serving, b.Serving), cmp.Compare(a.Name, b.Name))
}

// percent returns a part in percent, with three decimals.
func percent(part float64) float64 { return float64(int64(part*100_000+0.5)) / 1000 }

func routingShares(parts map[string]float64) []api.RoutingShare {
	list := make([]api.RoutingShare, 0, len(parts))
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		list = append(list, api.RoutingShare{Address: name, Share: float64(int64(parts[name]*1e6+0.5)) / 1e6})
	}
	return list
}
