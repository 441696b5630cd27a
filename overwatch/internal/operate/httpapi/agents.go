package httpapi

import (
	"cmp"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
)

// pinOperations returns the operations about several pins and about locked tokens.
func pinOperations() []Operation {
	const service = "app.example.com"
	return []Operation{
		{Method: del, Path: v1 + "/overwatch/agents", Changes: KindNode, handle: (*Server).deleteAgents,
			Summary: "Delete the pins of selected agents",
			Description: "Selects agents of a service that have never reported, or that were pinned after a time, at most 500 " +
				"per call. Revoked agents are not selected. An agent with a valid token is pinned at its next report.",
			Status: 200,
			Query: []Parameter{
				needed(text("service", "select only agents of this service", nil)), flag("never_reported",
					"select only agents that have never reported"),
				moment("pinned_since", "select only agents that were pinned after this time"), flag("dry_run",
					"return the selected agents and "+
						"change nothing"),
				ifSafeParameter(),
			},
			Answer: api.Unpinned{Unpinned: []string{"eu-west-host-7"}}, Errors: []int{conflict, noStore}},
		{Method: get, Path: v1 + "/overwatch/locks", handle: (*Server).listLocks, Query: none,
			Summary: "List services with locked tokens", Status: 200,
			Answer: api.TokenLockList{Locks: []api.TokenLock{
				{Service: service, AgentID: "eu-west-host-1", Reason: "its key was stolen", LockedAt: exampleTime()},
			}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: del, Path: v1 + "/overwatch/locks/{service}", Changes: KindLock, handle: (*Server).deleteLock,
			Summary: "Unlock the tokens of a service", Status: 200,
			Answer: api.Outcome{Success: true, Message: "the token of " + service + " admits new agents again"},
			Errors: []int{noStore}},
	}
}

// listAgents answers GET /overwatch/agents.
func (s *Server) listAgents(c *call) (answer, error) {
	counts := s.o.Pins.Count(api.DefaultExpiringDays * 24 * time.Hour)
	list := api.AgentList{GeneratedAt: stamp(s.o.Now()), Expiring: counts.Expiring, Revoked: counts.Revoked}
	records, total := s.o.Pins.Page(c.page.offset, c.page.limit)
	list.Agents, list.Total = make([]api.Agent, len(records)), total
	troubles := s.o.Pins.Troubles()
	for i, r := range records {
		list.Agents[i] = s.nodes.Pinned(r, troubles)
	}
	return ok(list), nil
}

// getAgent answers GET /overwatch/agents/{agent_id}.
func (s *Server) getAgent(c *call) (answer, error) {
	r, found := s.o.Pins.Get(c.Param("agent_id"))
	if !found {
		return answer{}, unknownAgent(c.Param("agent_id"))
	}
	return ok(s.nodes.Pinned(r, s.o.Pins.Troubles())), nil
}

// listExpiringAgents answers GET /overwatch/agents/expiring?threshold_days.
func (s *Server) listExpiringAgents(c *call) (answer, error) {
	days := c.query.number("threshold_days")
	list := api.ExpiringAgents{Expiring: []api.Agent{}, ThresholdDays: days}
	troubles := s.o.Pins.Troubles()
	for _, r := range expiring(s.o.Pins.Agents(), days) {
		list.Expiring = append(list.Expiring, s.nodes.Pinned(r, troubles))
	}
	list.Count = len(list.Expiring)
	return ok(list), nil
}

// expiring returns the agents with a certificate that expires within a number of days, sorted by expiry, without
// revoked agents.
func expiring(records []trust.Record, days int) []trust.Record {
	within := (time.Duration(days) * 24 * time.Hour).Hours()
	soon := slices.DeleteFunc(slices.Clone(records),
		func(r trust.Record) bool { return r.Revoked || r.ExpiresInHours > within })
	slices.SortStableFunc(soon, func(a, b trust.Record) int { return cmp.Compare(a.ExpiresInHours, b.ExpiresInHours) })
	return soon
}

// deleteAgent answers DELETE /overwatch/agents/{agent_id}: it deletes the pin and the agent's reports.
func (s *Server) deleteAgent(c *call) (answer, error) {
	id := c.Param("agent_id")
	before, found := s.o.Pins.Get(id)
	if !found {
		return answer{}, unknownAgent(id)
	}
	err := s.change(c, changes.UnpinAgent{ID: id, Pinned: true, Before: s.nodes.Pinned(before, nil)})
	return ok(api.Outcome{Success: true,
		Message: "the pin of " + id + " is deleted: it must prove its service token again"}), err
}

func unknownAgent(id string) error {
	return notFound("no agent %.260q is pinned", id)
}
