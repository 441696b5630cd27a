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

// Order is an operator's order about a backend or an address: an override, a weight or a drain, at once or for a window
// of time. There is at most one of a kind about the same service, address and port.
type Order struct {
	Kind    api.OrderKind
	Service string
	Address netip.Addr
	// Port is 0 for all ports of the address, which only an override may be about.
	Port uint16

	Healthy bool          // of an override
	Weight  int           // of a weight, in the place of the declared one
	Share   float64       // what a drain leaves, from 0 to below 1
	Over    time.Duration // how long a drain takes to get there

	Reason string
	// Source is the way in which it was set, CreatedBy its author.
	Source, CreatedBy string
	CreatedAt         time.Time
	// StartsAt is zero for an order that began when it was made, ExpiresAt for one without an end.
	StartsAt, ExpiresAt time.Time
	// Begun is true once the order is in force. Of a stored order it tells whether its beginning is in this node's audit
	// log.
	Begun bool
}

// since returns when the order begins, or began, by the wall clock.
func (o *Order) since() time.Time {
	if o.StartsAt.IsZero() {
		return o.CreatedAt
	}
	return o.StartsAt
}

// Endpoint returns the order's address, with its port unless the order is about all ports.
func (o *Order) Endpoint() string {
	if o.Port == 0 {
		return o.Address.String()
	}
	return netip.AddrPortFrom(o.Address, o.Port).String()
}

// Object returns the type and the id of the order's object as the audit log names it.
func (o *Order) Object() (resource, id string) {
	if o.Kind == api.OrderOverride {
		return "override", o.Service + " " + o.Endpoint()
	}
	return "server", ID{o.Service, o.Address, o.Port}.String()
}

// Record returns the order as the API shows it.
func (o *Order) Record() api.Order {
	r := api.Order{Kind: o.Kind, Service: o.Service, Address: o.Endpoint(), Reason: o.Reason, Source: o.Source,
		CreatedAt: api.Moment(o.CreatedAt).Truncate(time.Millisecond), CreatedBy: o.CreatedBy,
		StartsAt: api.MomentOrNull(o.StartsAt), ExpiresAt: api.MomentOrNull(o.ExpiresAt), InForce: o.Begun}
	switch o.Kind {
	case api.OrderOverride:
		r.Healthy = &o.Healthy
	case api.OrderWeight:
		r.Weight = &o.Weight
	case api.OrderDrain:
		r.Share, r.Duration = &o.Share, o.Over.String()
	}
	return r
}

// normalise brings service and address into their one form, and returns an error for values that an order cannot have.
func (o *Order) normalise() error {
	id, err := NewID(o.Service, o.Address, max(o.Port, 1))
	if err != nil {
		return fmt.Errorf("%s: %w", o.Kind, err)
	}
	o.Service, o.Address = id.Service, id.Address
	switch {
	case o.Kind != api.OrderOverride && o.Kind != api.OrderWeight && o.Kind != api.OrderDrain:
		return fmt.Errorf("order of kind %q about %s: it must be override, weight or drain", o.Kind, o.target())
	case o.Kind != api.OrderOverride && o.Port == 0:
		return fmt.Errorf("%s of %s: it must be about one port", o.Kind, o.target())
	case o.Weight < 0 || o.Weight > api.MaxWeight:
		return fmt.Errorf("weight of %s: %d: want 0 to %d", o.target(), o.Weight, api.MaxWeight)
	case !(o.Share >= 0 && o.Share < 1):
		return fmt.Errorf("drain of %s: share %v: want 0 to below 1", o.target(), o.Share)
	case o.Over < 0 || o.Over > status.MaxRampTime:
		return fmt.Errorf("drain time %v of %s: want 0 to %v", o.Over, o.target(), status.MaxRampTime)
	case !o.ExpiresAt.IsZero() && !o.ExpiresAt.After(o.StartsAt):
		return fmt.Errorf("%s of %s: it ends %s, before it begins", o.Kind, o.target(), o.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}

// Check returns the first fault of an order.
func (o *Order) Check() error {
	trial := *o
	return trial.normalise()
}

// target names the order's object in messages.
func (o *Order) target() string {
	if o.Port == 0 {
		return o.Service + ":" + o.Address.String()
	}
	return ID{o.Service, o.Address, o.Port}.String()
}

// AppliesTo reports whether the order applies to a backend.
func (o *Order) AppliesTo(id ID) bool {
	return o.Service == id.Service && o.Address == id.Address && (o.Port == 0 || o.Port == id.Port)
}

// Replaces reports whether both orders are of one kind and about the same, so that there can be only one of them.
func (o *Order) Replaces(other *Order) bool {
	return o.Kind == other.Kind && o.Service == other.Service && o.Address == other.Address && o.Port == other.Port
}

func compareOrders(a, b Order) int {
	return cmp.Or(strings.Compare(a.Service, b.Service), a.Address.Compare(b.Address), cmp.Compare(a.Port, b.Port),
		strings.Compare(string(a.Kind), string(b.Kind)))
}
