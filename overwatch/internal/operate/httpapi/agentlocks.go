package httpapi

import (
	"fmt"
	"strings"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// postRevokeAgent answers POST /overwatch/agents/{agent_id}/revoke.
func (s *Server) postRevokeAgent(c *call, req api.RevokeRequest) (answer, error) {
	if err := objects.CheckText("reason", req.Reason, api.MaxReason); err != nil {
		return answer{}, err
	}
	id := c.Param("agent_id")
	before, found := s.o.Pins.Get(id)
	if !found {
		return answer{}, unknownAgent(id)
	}
	out := api.Revocation{Success: true, Services: append([]string{}, s.o.Pins.Services(id)...), Locked: []string{}}
	revoke := &changes.RevokeAgent{ID: id, Reason: req.Reason, LockService: req.LockService,
		Before: s.nodes.Pinned(before, nil), After: req}
	err := s.change(c, revoke)
	out.Locked = append(out.Locked, revoke.Locked...)
	out.Message, out.Next = revoked(id, req, out)
	return ok(out), err
}

// revoked returns a sentence about the effect of a revocation and the next steps of the operator.
func revoked(id string, req api.RevokeRequest, out api.Revocation) (message string, next []string) {
	services := strings.Join(out.Services, ", ")
	message = id + " is revoked: its reports are ignored"
	if len(out.Services) == 0 {
		return message, []string{}
	}
	message += "; it knew the service token of " + services
	if len(out.Locked) > 0 {
		message += ", which admits no new agents until it is changed"
	} else {
		message += ", which still admits others, also the same machine under another id: to stop that, repeat it " +
			"with " +
			"--lock-service"
		next = append(next, fmt.Sprintf("lock the token: gslbctl agents revoke %s --reason TEXT --lock-service", id))
	}
	for _, service := range out.Services {
		next = append(next,
			fmt.Sprintf(
				"list who came since the machine was lost: gslbctl agents unpin --service %s --since TIME "+
					"--dry-run, and "+
					"without --dry-run to forget them", service),
			fmt.Sprintf(
				"make a new token (gslbctl keygen token) and put it into overwatch.agent_tokens of every node for "+
					"%s, the old "+
					"one into previous_agent_tokens; reload", service),
			fmt.Sprintf("give the agents of %s that you trust the new token, and reload them", service),
			fmt.Sprintf(
				"remove the old token of %s from previous_agent_tokens of every node; reload: whoever has nothing "+
					"else loses "+
					"the service", service))
	}
	return message, append(next, "the agent also knew the gossip key: change it as well (rotation.md, Gossip key)")
}

// deleteAgents answers DELETE /overwatch/agents?service&never_reported&pinned_since&dry_run: it deletes the pins of
// the selected agents of a service.
func (s *Server) deleteAgents(c *call) (answer, error) {
	selection, dryRun, err := selectionOf(c.query)
	if err != nil {
		return answer{}, err
	}
	ids := s.o.Pins.Select(selection)
	batch := ids[:min(len(ids), api.MaxUnpin)]
	out := api.Unpinned{Unpinned: append([]string{}, batch...), Remaining: len(ids), DryRun: dryRun}
	if dryRun || len(batch) == 0 {
		return ok(out), nil
	}
	what := map[string]any{"service": selection.Service, "never_reported": selection.NeverReported, "agents": batch}
	if !selection.PinnedSince.IsZero() {
		what["pinned_since"] = stamp(selection.PinnedSince)
	}
	unpin := &changes.UnpinAgents{Selection: selection, IDs: batch, Before: what}
	err = s.change(c, unpin)
	out.Unpinned, out.Remaining = append([]string{}, unpin.Unpinned...), len(ids)-len(unpin.Unpinned)
	return ok(out), err
}

// selectionOf parses the selection of agents. It requires never_reported or pinned_since.
func selectionOf(q params) (selection trust.Selection, dryRun bool, err error) {
	if q["service"] == "" {
		return selection, false, badRequest("service is missing: give the service of the agents")
	}
	selection.Service = wire.CanonicalService(q["service"])
	selection.NeverReported, selection.PinnedSince = q.flag("never_reported"), q.moment("pinned_since")
	if !selection.NeverReported && selection.PinnedSince.IsZero() {
		return selection, false,
			badRequest("never_reported and pinned_since are missing: give one of them, or delete the agents one by one")
	}
	return selection, q.flag("dry_run"), nil
}

// listLocks answers GET /overwatch/locks.
func (s *Server) listLocks(c *call) (answer, error) {
	list := api.TokenLockList{Locks: []api.TokenLock{}, GeneratedAt: stamp(s.o.Now())}
	for _, l := range s.o.Pins.Locks() {
		list.Locks = append(list.Locks, api.TokenLock{
			Service: l.Service, AgentID: l.AgentID, Reason: l.Reason, LockedAt: stamp(l.At), AdmitsNew: !l.Closed,
		})
	}
	list.Total = len(list.Locks)
	return ok(list), nil
}

// deleteLock answers DELETE /overwatch/locks/{service}.
func (s *Server) deleteLock(c *call) (answer, error) {
	service := wire.CanonicalService(c.Param("service"))
	err := s.change(c, changes.UnlockToken{Service: service})
	return ok(api.Outcome{Success: true, Message: "the token of " + service + " admits new agents again"}), err
}
