package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// sourceAPI is the source of an override whose setter names none.
const sourceAPI = "api"

// target is the address that an override is about, with one port or all.
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

// going is the set of the backends that an override of unhealthy takes out.
func (t target) going() going {
	return going{t.service, func(b *registry.Backend) bool {
		return b.Address == t.address && (t.port == 0 || b.Port == t.port)
	}, forbidden}
}

// matches reports whether an override is about exactly this target.
func (t target) matches(o registry.Override) bool {
	return o.Service == t.service && o.Address == t.address && o.Port == t.port
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
	address, err := parseAddress(text)
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
	list.Overrides, list.Total = pageOf(slices.Values(s.o.View.Overrides()), c.page, overrideRecord)
	return ok(list), nil
}

// getOverride answers GET /overrides/{service}/{address}.
func (s *Server) getOverride(c *call) (answer, error) {
	t, err := overrideTarget(c)
	if err != nil {
		return answer{}, err
	}
	o, found := s.findOverride(t)
	if !found {
		return answer{}, noOverride(t)
	}
	return tagged(c, http.StatusOK, overrideRecord(o), overrideRecord(o)), nil
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
	return tagged(c, http.StatusOK, overrideRecord(o), overrideRecord(o)), nil
}

// deleteOverride answers DELETE /overrides/{service}/{address}.
func (s *Server) deleteOverride(c *call) (answer, error) {
	t, err := overrideTarget(c)
	if err != nil {
		return answer{}, err
	}
	return noContent(), s.clearOverride(c, t)
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
	return ok(api.Outcome{Success: true, Message: fmt.Sprintf("the override of %s is gone", t)}), s.clearOverride(c, t)
}

// setOverride stores an override, then applies it, then waits for DNS.
func (s *Server) setOverride(c *call, t target) (registry.Override, error) {
	var req api.OverrideRequest
	if err := c.decode(&req); err != nil {
		return registry.Override{}, err
	}
	patch := c.Request.Method == http.MethodPatch
	s.overrides.Lock()
	defer s.overrides.Unlock()
	ch := &change{action: "override", resource: "override", id: t.String()}
	before, replaces := s.findOverride(t)
	if replaces {
		ch.before = overrideRecord(before)
	}
	if patch {
		if !replaces {
			return before, noOverride(t)
		}
		req = completed(req, before)
	}
	o, err := s.newOverride(c, t, req)
	if err != nil {
		return o, err
	}
	if patch && req.ExpiresIn == "" {
		o.ExpiresAt = before.ExpiresAt
	}
	if !s.knows(t) {
		return o, notFound("no backend of %s is known", t)
	}
	if err := c.condition.holds(ch.before); err != nil {
		return o, err
	}
	if !o.Healthy {
		done, err := s.safely(c, t.going())
		defer done()
		if err != nil {
			return o, err
		}
	}
	ch.after = overrideRecord(o)
	return o, s.commit(c, ch, func(ctx context.Context, note store.Entry) error {
		if err := s.o.OverrideStore.PutOverride(storedOverride(o), note); err != nil {
			return err
		}
		err := s.o.Orders.SetOverride(ctx, o)
		if errors.Is(err, registry.ErrUnknownBackend) { // it left meanwhile: the disk must not remember what was refused
			return errors.Join(err, s.restoreStored(t, before, replaces))
		}
		return err
	})
}

// completed returns a request with the fields that it lacks taken from the override in force.
func completed(req api.OverrideRequest, before registry.Override) api.OverrideRequest {
	if req.Healthy == nil {
		req.Healthy = &before.Healthy
	}
	req.Reason, req.Source = cmp.Or(req.Reason, before.Reason), cmp.Or(req.Source, before.Source)
	return req
}

// restoreStored undoes what was stored for an override that the registry has refused.
func (s *Server) restoreStored(t target, before registry.Override, existed bool) error {
	if existed {
		return s.o.OverrideStore.PutOverride(storedOverride(before))
	}
	return s.o.OverrideStore.DeleteOverride(t.service, t.endpoint())
}

// newOverride checks a request and returns the override that it asks for.
func (s *Server) newOverride(c *call, t target, req api.OverrideRequest) (registry.Override, error) {
	now := s.o.Now()
	o := registry.Override{
		Service: t.service, Address: t.address, Port: t.port,
		Reason: req.Reason, Source: req.Source, CreatedBy: c.actor, CreatedAt: stamp(now),
	}
	if req.Healthy == nil {
		return o, badRequest("healthy is missing: it must be true or false")
	}
	o.Healthy = *req.Healthy
	if err := checkText("reason", req.Reason, api.MaxReason); err != nil {
		return o, err
	}
	if req.Source == "" {
		o.Source = sourceAPI
	} else if err := checkText("source", req.Source, api.MaxSource); err != nil {
		return o, err
	}
	if req.ExpiresIn == "" {
		return o, nil
	}
	life, err := time.ParseDuration(req.ExpiresIn)
	if err != nil || life <= 0 || life > api.MaxExpiresIn {
		return o, badRequest("expires_in is %.64q: it must be a duration above zero and at most %s, such as 30m",
			req.ExpiresIn, api.MaxExpiresIn)
	}
	o.ExpiresAt = stamp(now.Add(life))
	return o, nil
}

// clearOverride deletes an override from the disk, then from the registry,
// then waits for DNS.
func (s *Server) clearOverride(c *call, t target) error {
	s.overrides.Lock()
	defer s.overrides.Unlock()
	before, found := s.findOverride(t)
	if !found {
		return noOverride(t)
	}
	ch := &change{action: "override", resource: "override", id: t.String(), before: overrideRecord(before)}
	if err := c.condition.holds(ch.before); err != nil {
		return err
	}
	return s.commit(c, ch, func(ctx context.Context, note store.Entry) error {
		if err := s.o.OverrideStore.DeleteOverride(t.service, t.endpoint(), note); err != nil {
			return err
		}
		return s.o.Orders.ClearOverride(ctx, t.service, t.address, t.port)
	})
}

func (s *Server) findOverride(t target) (registry.Override, bool) {
	list := s.o.View.Overrides()
	at := slices.IndexFunc(list, t.matches)
	if at < 0 {
		return registry.Override{}, false
	}
	return list[at], true
}

// knows reports whether any backend matches a target.
func (s *Server) knows(t target) bool {
	return slices.ContainsFunc(s.o.View.Service(t.service), func(b *registry.Backend) bool {
		return b.Address == t.address && (t.port == 0 || b.Port == t.port)
	})
}

func noOverride(t target) *problem {
	return notFound("no override of %s is in force", t)
}

func overrideRecord(o registry.Override) api.Override {
	return api.Override{
		Service: o.Service, Address: target{o.Service, o.Address, o.Port}.endpoint(), Healthy: o.Healthy,
		Reason: o.Reason, Source: o.Source, CreatedAt: stamp(o.CreatedAt), CreatedBy: o.CreatedBy,
		ExpiresAt: stampOrNull(o.ExpiresAt),
	}
}

func storedOverride(o registry.Override) store.Override {
	return store.Override{
		Service: o.Service, Address: target{o.Service, o.Address, o.Port}.endpoint(), Healthy: o.Healthy,
		Reason: o.Reason, Source: o.Source, CreatedAt: o.CreatedAt, CreatedBy: o.CreatedBy,
		ExpiresAt: stampOrNull(o.ExpiresAt),
	}
}
