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

// AdminState is an operator's order about a backend or an address: an override, a weight or a drain, at once or for a
// window of time. There is at most one of a kind about the same service, address and port.
type AdminState struct {
	Kind    api.OrderKind
	Service string
	Address netip.Addr
	// Port is 0 for all ports of the address, which only an override may be about.
	Port uint16

	Healthy  bool          // of an override
	Weight   int           // of a weight, in the place of the declared one
	Share    float64       // what a drain leaves, from 0 to below 1
	Duration time.Duration // how long a drain takes to get there

	Reason string
	// Source is the way in which it was set, CreatedBy its author.
	Source, CreatedBy string
	CreatedAt         time.Time
	// StartsAt is zero for an order that began when it was made, ExpiresAt for one without an end.
	StartsAt, ExpiresAt time.Time
	// IsActive is true once the order is in force. Of a stored order it tells whether its beginning is in this node's
	// audit log.
	IsActive bool
}

// startTime returns when the order begins, or began, by the wall clock.
func (o *AdminState) startTime() time.Time {
	if o.StartsAt.IsZero() {
		return o.CreatedAt
	}
	return o.StartsAt
}

// Endpoint returns the order's address, with its port unless the order is about all ports.
func (o *AdminState) Endpoint() string {
	if o.Port == 0 {
		return o.Address.String()
	}
	return netip.AddrPortFrom(o.Address, o.Port).String()
}

// AuditObject returns the type and the id of the order's object as the audit log names it.
func (o *AdminState) AuditObject() (resource, id string) {
	if o.Kind == api.OrderOverride {
		return "override", o.Service + " " + o.Endpoint()
	}
	return "server", ID{o.Service, o.Address, o.Port}.String()
}

// APIRecord returns the order as the API shows it.
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

// normalize brings service and address into their one form, and returns an error for values that an order cannot have.
func (o *AdminState) normalize() error {
	id, err := NewID(o.Service, o.Address, max(o.Port, 1))
	if err != nil {
		return fmt.Errorf("%s: %w", o.Kind, err)
	}
	o.Service, o.Address = id.Service, id.Address
	switch {
	case o.Kind != api.OrderOverride && o.Kind != api.OrderWeight && o.Kind != api.OrderDrain:
		return fmt.Errorf("order of kind %q about %s: it must be override, weight or drain", o.Kind, o.subject())
	case o.Kind != api.OrderOverride && o.Port == 0:
		return fmt.Errorf("%s of %s: it must be about one port", o.Kind, o.subject())
	case o.Weight < 0 || o.Weight > api.MaxWeight:
		return fmt.Errorf("weight of %s: %d: want 0 to %d", o.subject(), o.Weight, api.MaxWeight)
	case !(o.Share >= 0 && o.Share < 1):
		return fmt.Errorf("drain of %s: share %v: want 0 to below 1", o.subject(), o.Share)
	case o.Duration < 0 || o.Duration > status.MaxRampTime:
		return fmt.Errorf("drain time %v of %s: want 0 to %v", o.Duration, o.subject(), status.MaxRampTime)
	case !o.ExpiresAt.IsZero() && !o.ExpiresAt.After(o.StartsAt):
		return fmt.Errorf("%s of %s: it ends %s, before it begins", o.Kind, o.subject(), o.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}

// Validate returns the first fault of an order.
func (o *AdminState) Validate() error {
	trial := *o
	return trial.normalize()
}

// subject names the order's object in messages.
func (o *AdminState) subject() string {
	if o.Port == 0 {
		return o.Service + ":" + o.Address.String()
	}
	return ID{o.Service, o.Address, o.Port}.String()
}

// AppliesTo reports whether the order applies to a backend.
func (o *AdminState) AppliesTo(id ID) bool {
	return o.Service == id.Service && o.Address == id.Address && (o.Port == 0 || o.Port == id.Port)
}

// HasSameObject reports whether both orders are of one kind and about the same, so that there can be only one of them.
func (o *AdminState) HasSameObject(other *AdminState) bool {
	return o.Kind == other.Kind && o.Service == other.Service && o.Address == other.Address && o.Port == other.Port
}

func compareAdminStates(a, b AdminState) int {
	return cmp.Or(strings.Compare(a.Service, b.Service), a.Address.Compare(b.Address), cmp.Compare(a.Port, b.Port),
		strings.Compare(string(a.Kind), string(b.Kind)))
}
