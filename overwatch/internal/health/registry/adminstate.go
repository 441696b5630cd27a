package registry

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// AdminState is an override, a weight or a drain that an operator sets for a backend or an address, optionally for a
// time window. A kind and object has at most one admin state.
type AdminState struct {
	Kind    api.OrderKind
	Service string
	Address netip.Addr
	// Port is 0 for all ports of the address. Only an override may have port 0.
	Port uint16

	Healthy  bool          // of an override
	Weight   int           // weight that replaces the declared weight
	Share    float64       // final share of a drain, from 0 to below 1
	Duration time.Duration // the time in which a drain reaches Share

	Reason string
	// Source is the interface that set the admin state, CreatedBy the user.
	Source, CreatedBy string
	CreatedAt         time.Time
	// StartsAt is zero for an admin state without a scheduled start. ExpiresAt is zero for an admin state without an end.
	StartsAt, ExpiresAt time.Time
	// IsActive is true after the start. In the store, it is true if the audit log of this node contains the start.
	IsActive bool
}

// startTime returns the start according to the wall clock.
func (o *AdminState) startTime() time.Time {
	if o.StartsAt.IsZero() {
		return o.CreatedAt
	}
	return o.StartsAt
}

// Endpoint returns the address, and the port unless the port is 0.
func (o *AdminState) Endpoint() string {
	if o.Port == 0 {
		return o.Address.String()
	}
	return netip.AddrPortFrom(o.Address, o.Port).String()
}

// AuditObject returns the type and id of the object in the audit log.
func (o *AdminState) AuditObject() (resource, id string) {
	if o.Kind == api.OrderOverride {
		return "override", o.Service + " " + o.Endpoint()
	}
	return "server", ID{o.Service, o.Address, o.Port}.String()
}

// APIRecord returns the admin state in the form of the API.
func (o *AdminState) APIRecord() api.Order {
	r := api.Order{Kind: o.Kind, Service: o.Service, Address: o.Endpoint(), Reason: o.Reason, Source: o.Source,
		CreatedAt: api.Moment(o.CreatedAt).Truncate(time.Millisecond), CreatedBy: o.CreatedBy,
		StartsAt: api.MomentOrNull(o.StartsAt), ExpiresAt: api.MomentOrNull(o.ExpiresAt), InForce: o.IsActive}
	switch o.Kind {
	case api.OrderOverride:
		r.Healthy = &o.Healthy
	case api.OrderWeight:
		r.Weight = &o.Weight
	case api.OrderDrain:
		r.Share, r.Duration = &o.Share, o.Duration.String()
	}
	return r
}

// normalize converts service and address to canonical form, and returns an error for invalid values.
func (o *AdminState) normalize() error {
	id, err := NewID(o.Service, o.Address, max(o.Port, 1))
	if err != nil {
		return fmt.Errorf("%s: %w", o.Kind, err)
	}
	o.Service, o.Address = id.Service, id.Address
	switch {
	case o.Kind != api.OrderOverride && o.Kind != api.OrderWeight && o.Kind != api.OrderDrain:
		return fmt.Errorf("admin state of %s: kind %q is unknown: want override, weight or drain", o.subject(), o.Kind)
	case o.Kind != api.OrderOverride && o.Port == 0:
		return fmt.Errorf("%s of %s: the port is missing", o.Kind, o.subject())
	case o.Weight < 0 || o.Weight > api.MaxWeight:
		return fmt.Errorf("weight of %s: %d: want 0 to %d", o.subject(), o.Weight, api.MaxWeight)
	case !(o.Share >= 0 && o.Share < 1):
		return fmt.Errorf("drain of %s: share %v: want 0 to below 1", o.subject(), o.Share)
	case o.Duration < 0 || o.Duration > status.MaxRampTime:
		return fmt.Errorf("drain time %v of %s: want 0 to %v", o.Duration, o.subject(), status.MaxRampTime)
	case !o.ExpiresAt.IsZero() && !o.ExpiresAt.After(o.StartsAt):
		return fmt.Errorf("%s of %s: the end %s is before the start", o.Kind, o.subject(), o.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}

// Validate returns the first error of an admin state.
func (o *AdminState) Validate() error {
	trial := *o
	return trial.normalize()
}

// subject returns the object for error messages.
func (o *AdminState) subject() string {
	if o.Port == 0 {
		return o.Service + ":" + o.Address.String()
	}
	return ID{o.Service, o.Address, o.Port}.String()
}

// AppliesTo reports whether the admin state applies to a backend.
func (o *AdminState) AppliesTo(id ID) bool {
	return o.Service == id.Service && o.Address == id.Address && (o.Port == 0 || o.Port == id.Port)
}

// HasSameObject reports whether both admin states have the same kind and object, so that one replaces the other.
func (o *AdminState) HasSameObject(other *AdminState) bool {
	return o.Kind == other.Kind && o.Service == other.Service && o.Address == other.Address && o.Port == other.Port
}

func compareAdminStates(a, b AdminState) int {
	return cmp.Or(strings.Compare(a.Service, b.Service), a.Address.Compare(b.Address), cmp.Compare(a.Port, b.Port),
		strings.Compare(string(a.Kind), string(b.Kind)))
}
