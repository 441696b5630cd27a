package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// postPlan answers POST /document/plan.
func (s *Server) postPlan(c *call, req documentBody) (answer, error) {
	wanted, err := s.readDocument(c.Request.Context(), req)
	if err != nil {
		return answer{}, err
	}
	_, view, err := s.plan(c.Request.Context(), req, wanted)
	return ok(view), err
}

// postApply answers POST /document/apply.
func (s *Server) postApply(c *call, req documentBody) (answer, error) {
	wanted, err := s.readDocument(c.Request.Context(), req)
	if err != nil {
		return answer{}, err
	}
	s.o.OrderLock.Lock() // before s.safe, as changes of orders do
	defer s.o.OrderLock.Unlock()
	s.safe.Lock()
	defer s.safe.Unlock()
	s.regions.Lock() // no server comes into a region that goes
	defer s.regions.Unlock()
	p, view, err := s.plan(c.Request.Context(), req, wanted)
	if err != nil {
		return answer{}, err
	}
	if len(view.Force) > 0 && !req.Force {
		return answer{}, &problem{status: http.StatusConflict, names: view.Answers.Losses,
			sentence: "nothing was changed: " + strings.Join(view.Force, "; ") + "; with force it is done all the same"}
	}
	if err := c.Request.Context().Err(); err != nil { // the client has left, and nothing has begun
		return answer{}, err
	}
	if len(p.changes) > 0 {
		err = s.apply(c, p)
	}
	view.Applied = err == nil
	return ok(view), err
}

// plan compares the objects of a document with those that the API has, and describes the effect on answers. It stops
// when ctx ends.
func (s *Server) plan(ctx context.Context, req documentBody, wanted *objectSet) (p *documentPlan, view api.Plan,
	err error) {
	if err := s.o.Flush(ctx); err != nil {
		return nil, api.Plan{}, err
	}
	p = planDocument(ctx, req, wanted, s.currentObjects(), stamp(s.o.Now()))
	if err := p.problems.err(http.StatusConflict); err != nil {
		return nil, api.Plan{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, api.Plan{}, err
	}
	view = api.Plan{Changes: append([]api.PlanChange{}, p.changes...), Unchanged: p.unchanged, Force: []string{},
		GeneratedAt: stamp(s.o.Now())}
	if view.Answers, err = s.effectsOf(ctx, p); err != nil {
		return nil, api.Plan{}, wanted.located(err)
	}
	view.Force = p.forceReasons(view.Answers.Losses)
	return p, view, nil
}

// forceReasons returns the reasons why a plan needs force, the worst first: names that lose backends, then the part of
// the owner's objects that would change.
func (p *documentPlan) forceReasons(losses []api.Consequence) []string {
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

// located names the objects of an error by their places in the document.
func (o *objectSet) located(err error) error {
	p, isProblem := errors.AsType[*problem](err)
	if !isProblem || len(p.objects) == 0 {
		return err
	}
	found := make(documentProblems, len(p.objects))
	for i, one := range p.objects {
		found[i] = one
		if place := o.places[one.Object]; place != "" {
			found[i].Object = place
		}
	}
	return found.err(p.status)
}

// apply puts a plan into force, all of it or nothing. Options.OrderLock must be held.
func (s *Server) apply(c *call, p *documentPlan) error {
	ch := &change{action: api.AuditApply, resource: "document", id: p.request.Owner, after: p.summary()}
	return s.applyPlan(c, p, ch, nil)
}

// applyPlan makes the changes of a plan, and restores orders of servers that come back. It stores what was before for
// an undo. Options.OrderLock must be held.
func (s *Server) applyPlan(c *call, p *documentPlan, ch *change, restored []api.Order) error {
	puts := make([]store.Server, 0, len(p.put.servers))
	for _, server := range p.put.servers {
		puts = append(puts, *server)
	}
	gone := slices.Collect(maps.Keys(p.gone.servers))
	deleted := slices.Clone(gone)
	for id := range p.gone.targets {
		deleted = append(deleted, targetBackends(s.o.View, id)...)
	}
	name := appliedName(c.id, strconv.FormatUint(ch.undoes, 10))
	if err := s.keepApplied(name, p, deleted); err != nil {
		return err
	}
	err := s.commit(c, ch, func(ctx context.Context, note store.Entry) (err error) {
		if len(puts)+len(gone) == 0 {
			err = s.o.Definitions.DefineWith(note, p.change(s), definitions.Attached{})
		} else {
			err = s.o.Inventory.Apply(ctx, puts, gone, func(servers definitions.Attached) error {
				if err := p.staleServers(s.o.Inventory); err != nil {
					return err
				}
				return s.o.Definitions.DefineWith(note, p.change(s), servers)
			})
		}
		if err == nil {
			err = errors.Join(s.forgetOrders(ctx, deleted...), s.restoreOrders(ctx, restored))
		}
		return err
	})
	if err != nil && !c.noted { // refused: it changed nothing
		err = errors.Join(err, s.o.Applied.DeleteApplied(name))
	}
	return err
}

// keepApplied stores what a plan changes, with the orders of the servers that it deletes. A state that is too large is
// left out: the apply cannot be undone then.
func (s *Server) keepApplied(name string, p *documentPlan, deleted []registry.ID) error {
	state, err := stateOf(p)
	if err != nil {
		return fmt.Errorf("what the document changes: %w", err)
	}
	state.Orders = s.ordersOf(deleted)
	packed, err := state.encode()
	if err != nil {
		return err
	}
	if len(packed) > store.MaxAppliedSize {
		s.log.Warn().Int("bytes", len(packed)).Msg("an applied document is too large to be undone")
		return nil
	}
	return s.o.Applied.PutApplied(name, packed)
}

// appliedSummary is the summary of an apply in the audit log: at most maxSummary objects by what was done with them.
type appliedSummary struct {
	Created, Updated, Deleted []string
	More                      int `json:",omitempty"` // that are not listed
}

// maxSummary bounds the objects that one audit entry names.
const maxSummary = 200

func (p *documentPlan) summary() appliedSummary {
	var sum appliedSummary
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
