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

// deriveOwnCheck derives this node's check of r from its agent's. The caller refreshes r.
func (w *writer) deriveOwnCheck(r *record) {
	c, policy := r.report, w.options.CheckPolicy(r.id)
	if policy.Check != (unique.Handle[check.Spec]{}) {
		c.ownCheck, c.omitted = policy.Check, reduce.ByPolicy
		return
	}
	made, left := reduce.Check(c.requestedCheck.Value(), policy.Trusted || c.agent.address == r.id.Address)
	c.ownCheck, c.omitted = unique.Make(made), left
}

// hasNewAddress reports whether a message proves that the agent is heard from another address than before.
func (a *agent) hasNewAddress(from trust.Agent) bool {
	return from.Address().IsValid() && from.Address() != a.address
}

// updateAddress notes the new address of an agent, and derives the checks of its backends from it.
func (w *writer) updateAddress(a *agent, from trust.Agent, now time.Time) {
	if !a.hasNewAddress(from) {
		return
	}
	a.address = from.Address()
	a.budget.charge(len(a.records))
	for _, r := range slices.Clone(a.records) { // of which refresh may remove some
		w.deriveOwnCheck(r)
		w.markUnsaved(r) // where the agent was heard from outlives the process
		w.refreshBackend(r, now)
	}
}

// ApplyPolicies derives the checks of all agents' backends anew from Options.CheckPolicy, as after a reload, and the
// regions of all backends from Options.RegionName.
func (r *Registry) ApplyPolicies(ctx context.Context) error {
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		for rec := range w.records() {
			_, region, _ := rec.effectiveSettings()
			isRenamed := rec.published.Region != w.options.RegionName(region)
			if rec.report != nil {
				w.deriveOwnCheck(rec)
			}
			if rec.report != nil || isRenamed {
				w.refreshBackend(rec, now)
			}
		}
		return nil
	})
}
