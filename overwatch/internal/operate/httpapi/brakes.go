package httpapi

import (
	"cmp"
	"slices"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

func brakeOperations() []Operation {
	service := "app.example.com"
	brake := api.Brake{Service: service, Concern: api.BrakeUnhealthy, Since: exampleTime(), Until: exampleTime(),
		Backends: []string{exampleServer}}
	return []Operation{
		{Method: get, Path: v1 + "/overwatch/brakes", handle: (*Server).listBrakes, Query: paged(),
			Summary: "List mass-failure holds", Status: 200,
			Answer: api.BrakeList{Brakes: []api.Brake{brake}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: del, Path: v1 + "/overwatch/brakes/{service}", Changes: KindNode,
			handle: (*Server).deleteBrake, Role: api.RoleOperate,
			Summary: "Release a mass-failure hold",
			Description: "The node uses the reports of the name's agents again. With `scope` the " +
				"last part of the path is the agent's id or the region. A request without a hold succeeds.",
			Query: []Parameter{word("scope", "the kind of the protected object: `name` by default",
				[]string{api.BrakeOfName,
					api.BrakeOfAgent, api.BrakeOfRegion}), ifSafeParameter()}, Status: 200,
			Answer: api.Outcome{Success: true, Message: "the agents of " + service + " are no longer held"},
			Errors: []int{conflict}},
	}
}

// listBrakes answers GET /overwatch/brakes.
func (s *Server) listBrakes(c *call) (answer, error) {
	list := api.BrakeList{GeneratedAt: stamp(s.o.Now())}
	list.Brakes, list.Total = pageOf(slices.Values(s.o.View.Holds()), c.page, s.brakeRecord)
	return ok(list), nil
}

// hold is a hold that an operator releases.
type hold struct {
	scope, subject string // as returned by api.Brake.Scope
	states         []registry.HoldState
}

// holdOf returns the hold that a request names.
func (s *Server) holdOf(c *call) (hold, error) {
	h := hold{scope: cmp.Or(c.query["scope"], api.BrakeOfName), subject: c.Param("service")}
	switch h.scope {
	case api.BrakeOfName:
		h.subject = wire.CanonicalService(h.subject)
	case api.BrakeOfRegion:
		h.subject = s.regionNames().Of(h.subject)
	}
	backends := s.o.View.Service(h.subject)
	for _, state := range s.o.View.Holds() {
		b := api.Brake{Service: state.Service, Agent: state.Agent, Region: state.Region}
		scope, subject := b.Scope()
		if scope == h.scope && subject == h.subject ||
			h.scope == api.BrakeOfName && slices.ContainsFunc(backends, state.Covers) {
			h.states = append(h.states, state)
		}
	}
	_, heard := s.o.View.Agent(h.subject)
	switch {
	case len(h.states) > 0:
	case h.scope == api.BrakeOfName && backends == nil:
		return h, notFound("no backend of %.253s is known", h.subject)
	case h.scope == api.BrakeOfAgent && !heard:
		return h, notFound("no agent %.253s is known", h.subject)
	}
	return h, nil
}

// takes reports whether the release of the hold stops traffic to b.
func (h hold) takes(b *registry.Backend) bool {
	return b.Held && b.HeldKind() == status.ReportUnhealthy && (h.scope != api.BrakeOfName || b.Service == h.subject) &&
		slices.ContainsFunc(h.states, func(s registry.HoldState) bool { return s.Covers(b) })
}

// describe returns the subject for a sentence.
func (h hold) describe() string {
	if h.scope == api.BrakeOfName {
		return h.subject
	}
	return h.scope + " " + h.subject
}

// deleteBrake answers DELETE /overwatch/brakes/{service}.
func (s *Server) deleteBrake(c *call) (answer, error) {
	h, err := s.holdOf(c)
	if err != nil {
		return answer{}, err
	}
	if len(h.states) == 0 {
		return ok(api.Outcome{Success: true, Message: "no agents of " + h.describe() + " are held"}), nil
	}
	var before []api.Brake
	for _, state := range h.states {
		before = append(before, s.brakeRecord(state))
	}
	err = s.change(c, changes.ReleaseHold{Scope: h.scope, Subject: h.subject, ID: h.describe(), Before: before,
		Takes: h.takes})
	return ok(api.Outcome{Success: true, Message: "the agents of " + h.describe() + " are no longer held"}), err
}

// brakeRecord returns a hold with its backends.
func (s *Server) brakeRecord(b registry.HoldState) api.Brake {
	record := api.Brake{Service: b.Service, Agent: b.Agent, Region: b.Region, Concern: b.Kind.Concern(),
		Since: stamp(b.Since), Until: stamp(b.Until), Backends: []string{}}
	for backend := range b.HeldBackends(s.o.View) {
		record.Backends = append(record.Backends, backend.ID.String())
	}
	slices.Sort(record.Backends)
	return record
}
