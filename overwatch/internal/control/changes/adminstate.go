package changes

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/shared/api"
)

// sourceAPI is the default source of an admin state.
const sourceAPI = "api"

// Target is the object of an admin state: an address of a service, with a single port or all ports.
type Target struct {
	Service string
	Address netip.Addr
	Port    uint16 // 0: all
}

// TargetOf returns the object of an admin state.
func TargetOf(o registry.AdminState) Target { return Target{o.Service, o.Address, o.Port} }

// String returns service and endpoint.
func (t Target) String() string {
	if t.Port == 0 {
		return t.Service + " " + t.Address.String()
	}
	return t.Service + " " + netip.AddrPortFrom(t.Address, t.Port).String()
}

// Has reports whether a backend of the service is at the address.
func (t Target) Has(b *registry.Backend) bool {
	return b.Address == t.Address && (t.Port == 0 || b.Port == t.Port)
}

// SetAdminState is the Object that sets an override, a weight or a drain, immediately or for a time window.
type SetAdminState struct {
	Kind   api.OrderKind
	Target Target
	// With Patch, nil and empty fields do not change. Patch requires an existing admin state.
	Patch bool

	Healthy  *bool   // of an override
	Weight   *int    // of a weight
	Share    float64 // of a drain
	Duration string  // of a drain; "": the default of the service

	Reason, Source string
	StartsAt       *time.Time // nil: now
	ExpiresIn      string     // counted from the start; "": no end

	// State is the resulting admin state, set by Plan.
	State registry.AdminState
}

// Plan implements Object.
func (s *SetAdminState) Plan(_ context.Context, t *Transaction) error {
	before, replaces := t.c.AdminState(s.Kind, s.Target)
	if s.Patch {
		if !replaces {
			return NoAdminState(s.Kind, s.Target)
		}
		s.complete(before)
	}
	o, err := s.build(t)
	if err != nil {
		return err
	}
	if s.Patch {
		keepWindow(&o, before, s.StartsAt == nil, s.ExpiresIn, t.now())
	}
	s.State = o
	if !slices.ContainsFunc(t.c.o.View.Service(s.Target.Service), s.Target.Has) {
		return s.unknownBackend()
	}
	var now any
	if replaces {
		now = before
	}
	if err := t.accepts(now); err != nil {
		return err
	}
	if replaces {
		if err := mayReplace(before, o, t.change.Force || s.Patch); err != nil {
			return err
		}
	}
	if !o.ExpiresAt.IsZero() && !o.ExpiresAt.After(o.StartsAt) {
		return fault.Invalidf("it would end %s, before it starts: give expires_in too", o.ExpiresAt.Format(time.RFC3339))
	}
	return t.replaceAdminState(string(o.Kind), o, before, replaces)
}

// replaceAdminState adds the steps that set o. replaces reports whether o replaces before.
func (t *Transaction) replaceAdminState(action string, o, before registry.AdminState, replaces bool) error {
	stored := restore.Order(o)
	if err := CheckAdminState(&stored); err != nil {
		return fault.FromCheck(err)
	}
	t.Entry.Action = action
	t.Entry.Resource, t.Entry.ID = o.AuditObject()
	t.Entry.Before, t.Entry.After = recordOrNil(before, replaces), o.APIRecord()
	if w, removes := removedBy(o); removes {
		t.Removes(w)
	}
	t.SetAdminState(o)
	return nil
}

// complete sets the omitted fields of a PATCH to the values of the current admin state.
func (s *SetAdminState) complete(before registry.AdminState) {
	s.Healthy, s.Weight = cmp.Or(s.Healthy, &before.Healthy), cmp.Or(s.Weight, &before.Weight)
	s.Reason, s.Source = cmp.Or(s.Reason, before.Reason), cmp.Or(s.Source, before.Source)
}

// build validates the fields and returns the resulting admin state.
func (s *SetAdminState) build(t *Transaction) (o registry.AdminState, err error) {
	o = registry.AdminState{Kind: s.Kind, Service: s.Target.Service, Address: s.Target.Address, Port: s.Target.Port,
		Reason: s.Reason, Source: cmp.Or(s.Source, sourceAPI), CreatedBy: t.change.Actor.Name, CreatedAt: stamp(t.now()),
		IsActive: true}
	if err := s.buildValue(t, &o); err != nil {
		return o, err
	}
	if s.Kind != api.OrderDrain || s.Reason != "" {
		if err := objects.CheckText("reason", s.Reason, api.MaxReason); err != nil {
			return o, err
		}
	}
	if s.Source != "" {
		if err := objects.CheckText("source", s.Source, api.MaxSource); err != nil {
			return o, err
		}
	}
	return o, s.buildWindow(t.now(), &o)
}

// buildValue sets the fields of the kind.
func (s *SetAdminState) buildValue(t *Transaction, o *registry.AdminState) (err error) {
	switch s.Kind {
	case api.OrderOverride:
		if s.Healthy == nil {
			return fault.Invalidf("healthy is missing: it must be true or false")
		}
		o.Healthy = *s.Healthy
	case api.OrderWeight:
		if s.Weight == nil {
			return fault.Invalidf("weight is missing: it must be from 0 to %d", api.MaxWeight)
		}
		if *s.Weight < 0 || *s.Weight > api.MaxWeight {
			return fault.Invalidf("weight is %d: it must be from 0 to %d", *s.Weight, api.MaxWeight)
		}
		o.Weight = *s.Weight
	case api.OrderDrain:
		o.Duration = t.c.o.Registry.DrainTime(o.Service)
		if s.Duration != "" {
			if o.Duration, err = time.ParseDuration(s.Duration); err != nil || o.Duration <= 0 || o.Duration > api.MaxDrain {
				return fault.Invalidf("duration is %.64q: it must be above zero and at most %s, such as 30s", s.Duration,
					api.MaxDrain)
			}
		}
		if s.Share < 0 || s.Share >= 1 {
			return fault.Invalidf("share is %v: it must be the part that stays, from 0 to below 1, such as 0.25",
				s.Share)
		}
		o.Share = s.Share
	}
	return nil
}

// unknownBackend returns the error of an admin state with an unknown backend as its target.
func (s *SetAdminState) unknownBackend() error {
	if s.Kind == api.OrderDrain {
		return fault.NotFoundf("no server %s is known", registry.ID{Service: s.Target.Service, Address: s.Target.Address,
			Port: s.Target.Port})
	}
	return fault.NotFoundf("no backend of %s is known", s.Target)
}

// AdminState returns the active or planned admin state of a kind for exactly this target.
func (c *Changes) AdminState(kind api.OrderKind, t Target) (registry.AdminState, bool) {
	for _, o := range c.o.View.AdminStates() {
		if o.Kind == kind && TargetOf(o) == t {
			return o, true
		}
	}
	return registry.AdminState{}, false
}

// removedBy returns the backends that an admin state removes from answers. removes is false if there are none.
func removedBy(o registry.AdminState) (w impact.Withdrawal, removes bool) {
	w = impact.Withdrawal{Service: o.Service, Takes: TargetOf(o).Has, Alter: explain.MarkDrained}
	switch o.Kind {
	case api.OrderOverride:
		w.Alter = impact.Forbid
		return w, !o.Healthy
	case api.OrderWeight:
		w.Answer = api.AnswerZeroWeight
		return w, o.Weight == 0
	}
	return w, o.Share == 0
}

// recordOrNil returns the record of an admin state for the audit log, or nil without an admin state.
func recordOrNil(o registry.AdminState, found bool) any {
	if !found {
		return nil
	}
	return o.APIRecord()
}
