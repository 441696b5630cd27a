package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// sourceAPI is the source of an override whose setter names none.
const sourceAPI = "api"

// target is the object of an override: an address of a service, with one port or all.
type target struct {
	service string
	address netip.Addr
	port    uint16 // 0: all
}

func (t target) endpoint() string {
	if t.port == 0 {
		return t.address.String()
	}
	return netip.AddrPortFrom(t.address, t.port).String()
}

func (t target) String() string { return t.service + " " + t.endpoint() }

// has reports whether a backend of the service is at the address.
func (t target) has(b *registry.Backend) bool {
	return b.Address == t.address && (t.port == 0 || b.Port == t.port)
}

// overrideTarget reads {service}/{address}: an address for all of its ports, or "<ip>:<port>", where an IPv6 address
// needs its brackets.
func overrideTarget(c *call) (target, error) {
	t := target{service: wire.CanonicalService(c.Param("service"))}
	text := c.Param("address")
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		if withPort.Port() == 0 {
			return t, badRequest("address %.64q: the port must be from 1 to 65535", text)
		}
		t.port, text = withPort.Port(), withPort.Addr().String()
	}
	address, err := objects.ParseAddress(text)
	if err != nil {
		return t, badRequest("address %.64q: it must be <ip> or <ip>:<port>, an IPv6 address before a port in brackets",
			c.Param("address"))
	}
	t.address = address
	return t, nil
}

// backendTarget reads {service}/{address}/{port}.
func backendTarget(c *call) (target, error) {
	id, err := backendID(c)
	return target{id.Service, id.Address, id.Port}, err
}

// listOverrides answers GET /overrides.
func (s *Server) listOverrides(c *call) (answer, error) {
	list := api.OverrideList{GeneratedAt: stamp(s.o.Now())}
	overrides := filtered(slices.Values(s.o.View.Orders()), func(o registry.Order) bool {
		return o.Kind == api.OrderOverride
	})
	list.Overrides, list.Total = pageOf(overrides, c.page, overrideRecord)
	return ok(list), nil
}

// getOverride answers GET /overrides/{service}/{address}.
func (s *Server) getOverride(c *call) (answer, error) {
	t, err := overrideTarget(c)
	if err != nil {
		return answer{}, err
	}
	o, found := s.findOrder(api.OrderOverride, t)
	if !found {
		return answer{}, noOverride(t)
	}
	return orderAnswer(c, o), nil
}

// putOverride answers PUT and PATCH /overrides/{service}/{address}. A field that the body does not have stays with
// PATCH.
func (s *Server) putOverride(c *call) (answer, error) {
	t, err := overrideTarget(c)
	if err != nil {
		return answer{}, err
	}
	o, err := s.setOverride(c, t)
	if err != nil {
		return answer{}, err
	}
	return orderAnswer(c, o), nil
}

// deleteOverride answers DELETE /overrides/{service}/{address}.
func (s *Server) deleteOverride(c *call) (answer, error) {
	t, err := overrideTarget(c)
	if err != nil {
		return answer{}, err
	}
	return noContent(), s.clearOrder(c, api.OrderOverride, t, noOverride(t))
}

// postBackendOverride answers POST on the override of one backend.
func (s *Server) postBackendOverride(c *call) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	o, err := s.setOverride(c, t)
	if err != nil {
		return answer{}, err
	}
	verdict := "unhealthy"
	if o.Healthy {
		verdict = "healthy"
	}
	message := fmt.Sprintf("%s is %s by override", t, verdict)
	if !o.Begun {
		message = fmt.Sprintf("%s will be %s by override from %s on", t, verdict, o.StartsAt.UTC().Format(time.RFC3339))
	}
	if id, err := registry.NewID(t.service, t.address, t.port); err == nil && o.Healthy {
		if b := s.o.View.Get(id); b != nil && b.Draining {
			message += "; it drains all the same: DELETE /api/v1/servers/" + id.String() +
				"/drain ends that, unless its agent drains it"
		}
	}
	return ok(api.Outcome{Success: true, Message: message}), nil
}

// deleteBackendOverride answers DELETE on the override of one backend.
func (s *Server) deleteBackendOverride(c *call) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	return ok(api.Outcome{Success: true, Message: fmt.Sprintf("the override of %s is gone", t)}),
		s.clearOrder(c, api.OrderOverride, t, noOverride(t))
}

// setOverride puts the override of a request into force, at once or later.
func (s *Server) setOverride(c *call, t target) (registry.Order, error) {
	var req api.OverrideRequest
	if err := c.decode(&req); err != nil {
		return registry.Order{}, err
	}
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	before, replaces := s.findOrder(api.OrderOverride, t)
	if c.Request.Method == http.MethodPatch {
		if !replaces {
			return before, noOverride(t)
		}
		req = completed(req, before)
	}
	o, err := s.newOverride(c, t, req)
	if err != nil {
		return o, err
	}
	if c.Request.Method == http.MethodPatch {
		keepWindow(&o, before, req.StartsAt == nil, req.ExpiresIn, s.o.Now())
	}
	return o, s.giveOrder(c, o)
}

// completed returns a request with the fields that it lacks taken from the override in force.
func completed(req api.OverrideRequest, before registry.Order) api.OverrideRequest {
	if req.Healthy == nil {
		req.Healthy = &before.Healthy
	}
	req.Reason, req.Source = cmp.Or(req.Reason, before.Reason), cmp.Or(req.Source, before.Source)
	return req
}

// newOverride checks a request and returns its override.
func (s *Server) newOverride(c *call, t target, req api.OverrideRequest) (registry.Order, error) {
	if req.Healthy == nil {
		return registry.Order{}, badRequest("healthy is missing: it must be true or false")
	}
	o, err := s.newOrder(c, api.OrderOverride, t, orderRequest{req.Reason, req.Source, req.StartsAt, req.ExpiresIn}, true)
	o.Healthy = *req.Healthy
	return o, err
}

func noOverride(t target) *problem {
	return notFound("no override of %s is in force or planned", t)
}

func overrideRecord(o registry.Order) api.Override {
	return api.Override{
		Service: o.Service, Address: o.Endpoint(), Healthy: o.Healthy,
		Reason: o.Reason, Source: o.Source, CreatedAt: stamp(o.CreatedAt), CreatedBy: o.CreatedBy,
		StartsAt: api.MomentOrNull(o.StartsAt), ExpiresAt: api.MomentOrNull(o.ExpiresAt), InForce: o.Begun,
	}
}
