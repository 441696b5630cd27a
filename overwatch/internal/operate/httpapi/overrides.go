package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// overrideTarget parses {service}/{address}: an address for all of its ports, or "<ip>:<port>". An IPv6 address with a
// port requires brackets.
func overrideTarget(c *call) (changes.Target, error) {
	t := changes.Target{Service: wire.CanonicalService(c.Param("service"))}
	text := c.Param("address")
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		if withPort.Port() == 0 {
			return t, badRequest("address %.64q: the port must be from 1 to 65535", text)
		}
		t.Port, text = withPort.Port(), withPort.Addr().String()
	}
	address, err := objects.ParseAddress(text)
	if err != nil {
		return t, badRequest("address %.64q: it must be <ip> or <ip>:<port>, an IPv6 address before a port in brackets",
			c.Param("address"))
	}
	t.Address = address
	return t, nil
}

// backendTarget reads {service}/{address}/{port}.
func backendTarget(c *call) (changes.Target, error) {
	id, err := backendID(c)
	return targetOfServer(id), err
}

// listOverrides answers GET /overrides.
func (s *Server) listOverrides(c *call) (answer, error) {
	list := api.OverrideList{GeneratedAt: stamp(s.o.Now())}
	overrides := filtered(slices.Values(s.o.View.AdminStates()), func(o registry.AdminState) bool {
		return o.Kind == api.OrderOverride && (!c.isLimited() || s.seesAdminState(c)(o))
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
	o, found := s.o.Changes.AdminState(api.OrderOverride, t)
	if !found {
		return answer{}, changes.NoAdminState(api.OrderOverride, t)
	}
	return adminStateAnswer(c, o), nil
}

// putOverride answers PUT and PATCH /overrides/{service}/{address}. PATCH keeps the values of omitted fields.
func (s *Server) putOverride(c *call) (answer, error) {
	t, err := overrideTarget(c)
	if err != nil {
		return answer{}, err
	}
	o, err := s.setOverride(c, t)
	if err != nil {
		return answer{}, err
	}
	return adminStateAnswer(c, o), nil
}

// deleteOverride answers DELETE /overrides/{service}/{address}.
func (s *Server) deleteOverride(c *call) (answer, error) {
	t, err := overrideTarget(c)
	if err != nil {
		return answer{}, err
	}
	return noContent(), s.change(c, changes.EndAdminState{Kind: api.OrderOverride, Target: t})
}

// postBackendOverride answers POST of the override of a backend.
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
	if !o.IsActive {
		message = fmt.Sprintf("%s will be %s by override from %s on", t, verdict, o.StartsAt.UTC().Format(time.RFC3339))
	}
	if id, err := registry.NewID(t.Service, t.Address, t.Port); err == nil && o.Healthy {
		if b := s.o.View.Get(id); b != nil && b.Draining {
			message += "; it drains all the same: DELETE /api/v1/servers/" + id.String() +
				"/drain ends that, unless its agent drains it"
		}
	}
	return ok(api.Outcome{Success: true, Message: message}), nil
}

// deleteBackendOverride answers DELETE of the override of a backend.
func (s *Server) deleteBackendOverride(c *call) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	return ok(api.Outcome{Success: true, Message: fmt.Sprintf("the override of %s is deleted", t)}),
		s.change(c, changes.EndAdminState{Kind: api.OrderOverride, Target: t})
}

// setOverride sets the override of a request, immediately or at its start.
func (s *Server) setOverride(c *call, t changes.Target) (registry.AdminState, error) {
	var req api.OverrideRequest
	if err := c.decode(&req); err != nil {
		return registry.AdminState{}, err
	}
	set := &changes.SetAdminState{Kind: api.OrderOverride, Target: t, Patch: c.Request.Method == http.MethodPatch,
		Healthy: req.Healthy, Reason: req.Reason, Source: req.Source, StartsAt: req.StartsAt, ExpiresIn: req.ExpiresIn}
	err := s.change(c, set)
	return set.State, err
}

func overrideRecord(o registry.AdminState) api.Override {
	return api.Override{
		Service: o.Service, Address: o.Endpoint(), Healthy: o.Healthy,
		Reason: o.Reason, Source: o.Source, CreatedAt: stamp(o.CreatedAt), CreatedBy: o.CreatedBy,
		StartsAt: api.MomentOrNull(o.StartsAt), ExpiresAt: api.MomentOrNull(o.ExpiresAt), InForce: o.IsActive,
	}
}
