package impact

import (
	"context"
	"slices"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// maxQuestion is the maximum number of backends, regions and agents of a request.
const maxQuestion = 1000

// Ask returns the names that would have too few backends if the backends of a request were drained, removed or set to
// weight 0. regions contains the ids of the regions.
func (a *Assessor) Ask(ctx context.Context, req api.ConsequenceRequest, regions config.RegionNames) ([]api.Consequence,
	error) {
	if n := len(req.Backends) + len(req.Regions) + len(req.Agents); n == 0 || n > maxQuestion {
		return nil, fault.Invalidf("backends, regions and agents have %d names together: want 1 to %d", n, maxQuestion)
	}
	ids := map[registry.ID]bool{}
	for _, text := range req.Backends {
		if target, err := definitions.ParseTargetID(text); err == nil {
			for b := range AddressesOf(a.o.View, target) {
				ids[b.ID] = true
			}
			continue
		}
		id, err := objects.ParseID(text)
		if err != nil {
			return nil, err
		}
		ids[id] = true
	}
	named := regions.All(req.Regions)
	g := Withdrawal{Takes: func(b *registry.Backend) bool {
		return ids[b.ID] || slices.Contains(named, b.Region) ||
			slices.ContainsFunc(req.Agents, func(id string) bool { return DependsOnAgent(b, id) })
	}, Alter: explain.MarkDrained}
	switch {
	case req.Removed && req.ZeroWeight:
		return nil, fault.Invalidf("removed and zero_weight are both true: a removed backend has no weight")
	case req.Removed:
		g.Alter = Remove
	case req.ZeroWeight:
		g.Answer = api.AnswerZeroWeight
	}
	return a.Losses(ctx, g)
}
