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

// CheckPolicy is the operator's rule for own checks of an agent's backend.
type CheckPolicy struct {
	// Check replaces the check that the agent requests. With the zero Handle, the agent's check applies as far as package
	// reduce allows.
	Check unique.Handle[check.Spec]
	// Trusted is true if the operator lists the backend's address. For other addresses, the node speaks the protocol of
	// the check only if the agent's messages come from the address.
	Trusted bool
}

// deriveOwnCheck derives the own check of r from its agent's check. The caller refreshes r.
func (w *writer) deriveOwnCheck(r *record) {
	c, policy := r.report, w.options.CheckPolicy(r.id)
	if policy.Check != (unique.Handle[check.Spec]{}) {
		c.ownCheck, c.omitted = policy.Check, reduce.ByPolicy
		return
	}
	made, left := reduce.Check(c.requestedCheck.Value(), policy.Trusted || c.agent.address == r.id.Address)
	c.ownCheck, c.omitted = unique.Make(made), left
}

// hasNewAddress reports whether a message proves a new source address of the agent.
func (a *agent) hasNewAddress(from trust.Agent) bool {
	return from.Address().IsValid() && from.Address() != a.address
}

// updateAddress stores a new source address of an agent, and derives the own checks of its backends.
func (w *writer) updateAddress(a *agent, from trust.Agent, now time.Time) {
	if !a.hasNewAddress(from) {
		return
	}
	a.address = from.Address()
	a.budget.Spend(now, len(a.records))
	for _, r := range slices.Clone(a.records) { // refreshBackend may remove records
		w.deriveOwnCheck(r)
		w.markUnsaved(r) // the address is stored
		w.refreshBackend(r, now)
	}
}

// ApplyPolicies applies changes of Options.CheckPolicy to the own checks of agents' backends, and of Options.RegionName
// to all backends. It is used for a reload of the configuration.
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
