package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Plan compares the objects of a document with the objects of the API, and computes the effect on answers. It stops
// when ctx ends.
func (pl *Planner) Plan(ctx context.Context, req Request, wanted *Objects) (p *Plan, view api.Plan,
	err error) {
	if err := pl.o.Flush(ctx); err != nil {
		return nil, api.Plan{}, err
	}
	p = pl.compare(ctx, req, wanted, pl.current(), api.Stamp(pl.o.Now()))
	if p.outside {
		return nil, api.Plan{}, fault.New(fault.Forbidden, "nothing was changed: the document has an object outside the "+
			"scope of the token")
	}
	if err := p.problems.err(fault.Conflict); err != nil {
		return nil, api.Plan{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, api.Plan{}, err
	}
	view = api.Plan{Changes: append([]api.PlanChange{}, p.changes...), Unchanged: p.unchanged, Force: []string{},
		GeneratedAt: api.Stamp(pl.o.Now())}
	if view.Answers, err = pl.Effects(ctx, p); err != nil {
		return nil, api.Plan{}, wanted.locate(err)
	}
	view.Force = p.forceReasons(view.Answers.Losses)
	if pl.allowed != nil {
		pl.hideOutside(&view)
	}
	return p, view, nil
}

// hideOutside removes the names outside the scope of the operator from a plan. A reason for force with such a name
// becomes a reason without names.
func (pl *Planner) hideOutside(view *api.Plan) {
	cfg := pl.o.Edit.Config()
	isOutside := func(name string) bool {
		d, found := pl.o.Edit.FindDomain(cfg, name)
		return found && !pl.includes(model.KindDomain, &d)
	}
	a := &view.Answers
	a.Names = slices.DeleteFunc(a.Names, func(n api.PlanName) bool { return isOutside(n.Name) })
	a.Unused = slices.DeleteFunc(a.Unused, func(id string) bool {
		service, _, _ := strings.Cut(id, ":")
		return isOutside(service)
	})
	losses := len(a.Losses)
	a.Losses = slices.DeleteFunc(a.Losses, func(c api.Consequence) bool { return isOutside(c.Name) })
	if a.HiddenLosses = losses - len(a.Losses); a.HiddenLosses > 0 {
		view.Force[0] = "a name would have too few backends, possibly a name outside the scope of the token"
	}
	a.Moves = []api.PlanMove{}
}

// NeedsForce returns the rejection of a plan that requires force, or nil.
func NeedsForce(p *api.Plan) error {
	if len(p.Force) == 0 {
		return nil
	}
	err := fault.Conflictf("nothing was changed: %s; with force it is done all the same", strings.Join(p.Force, "; "))
	err.Names = p.Answers.Losses
	return err
}

// forceReasons returns the reasons why a plan requires force, the most severe first: names that lose backends, then the
// share of the owner's objects that would change.
func (p *Plan) forceReasons(losses []api.Consequence) []string {
	reasons := []string{}
	if len(losses) > 0 {
		reasons = append(reasons, impact.Sentence(losses))
	}
	if p.owned >= api.OwnedFloor && p.touched*100 > p.owned*api.OwnedChange {
		reasons = append(reasons, fmt.Sprintf("%d of the %d objects that %s has would change or go, more than %d %%",
			p.touched, p.owned, p.request.Owner, api.OwnedChange))
	}
	return reasons
}

// locate adds the positions of objects in the document to an error.
func (o *Objects) locate(err error) error {
	p, isProblem := errors.AsType[*fault.Error](err)
	if !isProblem || len(p.Objects) == 0 {
		return err
	}
	found := make(problems, len(p.Objects))
	for i, one := range p.Objects {
		found[i] = one
		if place := o.places[one.Object]; place != "" {
			found[i].Object = place
		}
	}
	return found.err(p.Kind)
}

// Store stores and applies a plan, completely or not at all. note is the audit entry of the change.
func (pl *Planner) Store(ctx context.Context, p *Plan, note store.Entry) error {
	if len(p.put.of[sectionServers])+len(p.gone.of[sectionServers]) == 0 {
		return pl.o.Definitions.DefineWith(note, p.change(pl), definitions.Attached{})
	}
	var puts []model.Server
	for _, server := range typed[model.Server](p.put, sectionServers) {
		puts = append(puts, *server)
	}
	var gone []registry.ID
	for _, server := range typed[model.Server](p.gone, sectionServers) {
		gone = append(gone, endpointOf(server))
	}
	return pl.o.Inventory.Apply(ctx, puts, gone, func(servers definitions.Attached) error {
		if err := p.staleServers(pl.o.Inventory); err != nil {
			return err
		}
		return pl.o.Definitions.DefineWith(note, p.change(pl), servers)
	})
}

// IsEmpty reports whether a plan has no changes.
func (p *Plan) IsEmpty() bool { return len(p.changes) == 0 }

// Removed returns the backends of the servers that a plan deletes.
func (p *Plan) Removed(view *registry.View) (removed []registry.ID) {
	for _, server := range typed[model.Server](p.gone, sectionServers) {
		removed = append(removed, endpointOf(server))
	}
	for _, t := range typed[model.Server](p.gone, sectionTargets) {
		for b := range impact.AddressesOf(view, definitions.TargetIDOf(t)) {
			removed = append(removed, b.ID)
		}
	}
	return removed
}

// Summary is the summary of an apply in the audit log: at most maxSummary objects by action.
type Summary struct {
	Created, Updated, Deleted []string
	More                      int `json:",omitempty"` // number of unlisted objects
}

// maxSummary is the maximum number of objects that an audit entry lists.
const maxSummary = 200

// Summary returns the summary of a plan.
func (p *Plan) Summary() Summary {
	var sum Summary
	for i, one := range p.changes {
		if i == maxSummary {
			sum.More = len(p.changes) - maxSummary
			break
		}
		name := one.Kind + " " + one.ID
		switch one.Action {
		case api.PlanCreate:
			sum.Created = append(sum.Created, name)
		case api.PlanUpdate:
			sum.Updated = append(sum.Updated, name)
		default:
			sum.Deleted = append(sum.Deleted, name)
		}
	}
	return sum
}
