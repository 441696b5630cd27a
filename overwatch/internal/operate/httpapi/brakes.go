package httpapi

import (
	"context"
	"slices"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

func brakeOperations() []Operation {
	service := "app.example.com"
	brake := api.Brake{Service: service, Concern: api.BrakeUnhealthy, Since: at(), Until: at(),
		Backends: []string{exampleServer}}
	return []Operation{
		{Method: get, Path: v1 + "/overwatch/brakes", handle: (*Server).listBrakes, Query: paged(),
			Summary: "Names of which agents alone would have taken too much at once, and what is held", Status: 200,
			Answer: api.BrakeList{Brakes: []api.Brake{brake}, Total: 1, GeneratedAt: at()}},
		{Method: del, Path: v1 + "/overwatch/brakes/{service}", handle: (*Server).deleteBrake, Role: api.RoleOperate,
			Summary: "Believe the agents of a name again", Description: "It is no error if nothing is held.",
			Query: []Parameter{ifSafeParameter()}, Status: 200,
			Answer: api.Outcome{Success: true, Message: "the agents of " + service + " are believed again"},
			Errors: []int{conflict}},
	}
}

// listBrakes answers GET /overwatch/brakes.
func (s *Server) listBrakes(c *call) (answer, error) {
	list := api.BrakeList{GeneratedAt: stamp(s.o.Now())}
	list.Brakes, list.Total = pageOf(slices.Values(s.o.View.Brakes()), c.page, s.brakeRecord)
	return ok(list), nil
}

// deleteBrake answers DELETE /overwatch/brakes/{service}.
func (s *Server) deleteBrake(c *call) (answer, error) {
	service := wire.CanonicalService(c.Param("service"))
	var before []api.Brake
	for _, b := range s.o.View.Brakes() {
		if b.Service == service {
			before = append(before, s.brakeRecord(b))
		}
	}
	switch {
	case len(before) > 0:
	case s.o.View.Service(service) == nil:
		return answer{}, notFound("no backend of %.253s is known", service)
	default:
		return ok(api.Outcome{Success: true, Message: "no agents of " + service + " are held"}), nil
	}
	held := func(b *registry.Backend) bool { return b.Held && b.HeldFor() == registry.ConcernIll }
	done, err := s.safely(c, withdrawal{service: service, alter: explain.MarkDrained, takes: held})
	defer done()
	if err != nil {
		return answer{}, err
	}
	ch := &change{action: api.AuditRelease, resource: "brake", id: service, before: before}
	err = s.commit(c, ch, func(ctx context.Context, _ store.Entry) error {
		_, err := s.o.Orders.ReleaseBrake(ctx, service)
		return err
	})
	return ok(api.Outcome{Success: true, Message: "the agents of " + service + " are believed again"}), err
}

// brakeRecord returns a brake with the backends that it holds now.
func (s *Server) brakeRecord(b registry.BrakeState) api.Brake {
	record := api.Brake{Service: b.Service, Concern: b.Concern.Word(), Since: stamp(b.Since), Until: stamp(b.Until),
		Backends: []string{}}
	for _, backend := range s.o.View.Service(b.Service) {
		if backend.Held && b.Concern == backend.HeldFor() {
			record.Backends = append(record.Backends, backend.ID.String())
		}
	}
	return record
}
