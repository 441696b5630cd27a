package httpapi

import (
	"iter"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/figures"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// ordered yields all backends by service, address and port.
func ordered(v *registry.View) iter.Seq[*registry.Backend] {
	return func(yield func(*registry.Backend) bool) {
		for _, service := range v.Services() {
			for _, b := range v.Service(service) {
				if !yield(b) {
					return
				}
			}
		}
	}
}

// listBackends answers GET /overwatch/backends?service&region&status.
func (s *Server) listBackends(c *call) (answer, error) {
	service := wire.CanonicalService(c.query["service"])
	matching := filtered(ordered(s.o.View), func(b *registry.Backend) bool {
		return matches(service, b.Service) && matchesRegion(c.query["region"], b.Region) &&
			matches(c.query["status"], b.Status) && (!c.isLimited() || s.seesBackend(c)(b))
	})
	list := api.BackendList{GeneratedAt: stamp(s.o.Now())}
	list.Backends, list.Total = pageOf(matching, c.page, s.backendView)
	return ok(list), nil
}

// getBackend answers GET /overwatch/backends/{service}/{address}/{port}.
func (s *Server) getBackend(c *call) (answer, error) {
	id, err := backendID(c)
	if err != nil {
		return answer{}, err
	}
	b := s.o.View.Get(id)
	if b == nil {
		return answer{}, notFound("no backend %s is known", id)
	}
	return ok(s.backendView(b)), nil
}

// backendID parses the id of a backend, which consists of three segments of the path.
func backendID(c *call) (registry.ID, error) {
	return objects.ParseID(c.Param("service") + ":" + c.Param("address") + ":" + c.Param("port"))
}

func (s *Server) backendView(b *registry.Backend) api.Backend {
	view := api.Backend{
		ID:                  b.ID.String(),
		Service:             b.Service,
		Address:             b.Address.String(),
		Port:                int(b.Port),
		AgentID:             b.AgentID,
		Region:              b.Region,
		Weight:              b.Weight,
		Share:               b.Share / float64(max(b.Host().Addresses, 1)),
		Target:              b.Host().Name,
		Draining:            b.Draining,
		EffectiveStatus:     b.Status,
		MayServe:            b.MayServe,
		Held:                b.Held,
		Reason:              b.Reason,
		AgentHealthy:        b.Reported,
		AgentLastSeen:       api.MomentOrNull(b.Report().At),
		ValidationLastCheck: api.MomentOrNull(b.OwnCheck.At),
	}
	if o := b.Override; o != nil {
		view.Override = &api.ActiveOverride{Healthy: o.Healthy, ActiveOrder: activeOrder(o)}
	}
	view.WeightOverride = activeWeight(b)
	if o := b.AdminDrain; o != nil {
		stage, safeAt := s.o.Drains.Stage(b)
		view.Drain = &api.ActiveDrain{Share: o.Share, EndsAt: stamp(b.DrainEndsAt), Stage: stage,
			SafeAt: api.MomentOrNull(safeAt), ActiveOrder: activeOrder(o)}
	}
	if v := b.OwnCheck; v.State != check.StateUnknown {
		passed := v.State == check.StateHealthy
		latency := figures.Milliseconds(v.Latency)
		view.ValidationHealthy, view.ValidationLatencyMS = &passed, &latency
	}
	if b.OwnCheck.LastError != "" {
		view.ValidationError = &b.OwnCheck.LastError
	}
	if note := b.CheckNote(); note != "" {
		view.ValidationNote = &note
	}
	if votes := b.Dispute.String(); votes != "" {
		view.ValidationVotes = &votes
	}
	return view
}

// activeWeight returns the weight that an operator has set, or nil.
func activeWeight(b *registry.Backend) *api.ActiveWeight {
	if b.AdminWeight == nil {
		return nil
	}
	return &api.ActiveWeight{Weight: b.AdminWeight.Weight, ActiveOrder: activeOrder(b.AdminWeight)}
}

func activeOrder(o *registry.AdminState) api.ActiveOrder {
	return api.ActiveOrder{Reason: o.Reason, By: o.CreatedBy, At: stamp(o.CreatedAt),
		ExpiresAt: api.MomentOrNull(o.ExpiresAt)}
}
