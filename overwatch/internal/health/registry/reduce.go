package registry

import (
	"context"
	"slices"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/check"
)

// CheckPolicy is the operator's rule for this node's checks of an agent's backend.
type CheckPolicy struct {
	// Check, if set, is the node's check whatever the agent asks for. With the zero Handle, the agent's check counts as
	// far as package reduce allows.
	Check unique.Handle[check.Spec]
	// Trusted tells that the operator named the backend's address. At others, a node speaks the check's protocol only
	// where the agent is heard from.
	Trusted bool
}

// reduce derives this node's check of r from its agent's. The caller refreshes r.
func (w *writer) reduce(r *record) {
	c, policy := r.claim, w.options.CheckPolicy(r.id)
	if policy.Check != (unique.Handle[check.Spec]{}) {
		c.check, c.omitted = policy.Check, reduce.ByPolicy
		return
	}
	made, left := reduce.Check(c.asked.Value(), policy.Trusted || c.agent.address == r.id.Address)
	c.check, c.omitted = unique.Make(made), left
}

// hasMoved reports whether a message proves that the agent is heard from another address than before.
func (a *agent) hasMoved(from trust.Agent) bool {
	return from.Address().IsValid() && from.Address() != a.address
}

// noteAddress notes the new address of an agent, and derives the checks of its backends from it.
func (w *writer) noteAddress(a *agent, from trust.Agent, now time.Time) {
	if !a.hasMoved(from) {
		return
	}
	a.address = from.Address()
	a.budget.charge(len(a.claims))
	for _, r := range slices.Clone(a.claims) { // of which refresh may remove some
		w.reduce(r)
		w.keep(r) // where the agent was heard from outlives the process
		w.refresh(r, now)
	}
}

// RecheckPolicies derives the checks of all agents' backends anew from Options.CheckPolicy, as after a reload, and the
// regions of all backends from Options.RegionName.
func (r *Registry) RecheckPolicies(ctx context.Context) error {
	return tell(ctx, r, func(w *writer, now time.Time) error {
		for rec := range w.records() {
			_, region, _ := rec.declaration()
			isRenamed := rec.pub.Region != w.options.RegionName(region)
			if rec.claim != nil {
				w.reduce(rec)
			}
			if rec.claim != nil || isRenamed {
				w.refresh(rec, now)
			}
		}
		return nil
	})
}
