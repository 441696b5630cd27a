package httpapi

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// maxConsequences bounds the backends, regions and agents of one question.
const maxConsequences = 1000

// ifSafeParameter is the parameter of changes that may take a name's last backends.
func ifSafeParameter() Parameter {
	return flag("if_safe", "refuse with 409 if a name would be left with fewer backends than min_healthy, or with none")
}

// orderParameters are the parameters of changes that give an order.
func orderParameters() []Parameter {
	return []Parameter{ifSafeParameter(),
		flag("replace_planned", "replace a planned one of the same kind, which is refused with 409 otherwise")}
}

// withdrawal is a set of backends that a change takes away or stops from serving, and the effect of that on their
// candidates.
type withdrawal struct {
	service string // empty: they may be of any
	takes   func(*registry.Backend) bool
	alter   func(*policy.Candidate) bool // what the change makes of one, as explain.IfChanged has it
	answer  api.ConsequenceAnswer        // what names would answer that lose them; empty: as was decided
}

// removed drops a candidate: the change removes its backend.
func removed(*policy.Candidate) bool { return false }

// forbidden keeps a candidate that may not serve, not even as a last resort: the effect of an override of unhealthy.
func forbidden(c *policy.Candidate) bool {
	c.MayServe, c.Forbidden = false, true
	return true
}

// ofServer returns the set of the backend of one server.
func ofServer(id registry.ID) withdrawal {
	return withdrawal{id.Service, func(b *registry.Backend) bool { return b.ID == id }, removed, ""}
}

// dependsOnAgent reports whether a backend serves only on the word of an agent.
func dependsOnAgent(b *registry.Backend, agentID string) bool {
	return b.AgentID == agentID && (b.Source == api.SourceAgent || b.Validation.State != check.StateHealthy)
}

// ofAgents returns the set of the backends that live by any of the agents.
func ofAgents(ids ...string) withdrawal {
	return withdrawal{"", func(b *registry.Backend) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return dependsOnAgent(b, id) })
	}, removed, ""}
}

// ofTarget returns the set of the addresses of a server by host name.
func ofTarget(id definitions.TargetID) withdrawal {
	return withdrawal{id.Service, func(b *registry.Backend) bool { return isAddressOf(b, id) }, removed, ""}
}

// ofRegion returns the set of the backends in a region.
func ofRegion(name string) withdrawal {
	return withdrawal{"", func(b *registry.Backend) bool { return b.Region == name }, explain.MarkDrained, ""}
}

// postConsequences answers POST /routing/consequences.
func (s *Server) postConsequences(c *call, req api.ConsequenceRequest) (answer, error) {
	if n := len(req.Backends) + len(req.Regions) + len(req.Agents); n == 0 || n > maxConsequences {
		return answer{}, badRequest("backends, regions and agents have %d names together: want 1 to %d", n, maxConsequences)
	}
	ids := map[registry.ID]bool{}
	for _, text := range req.Backends {
		if target, err := definitions.ParseTargetID(text); err == nil {
			for b := range addressesOf(s.o.View, target) {
				ids[b.ID] = true
			}
			continue
		}
		id, err := parseID(text)
		if err != nil {
			return answer{}, err
		}
		ids[id] = true
	}
	regions := s.regionNames().All(req.Regions)
	g := withdrawal{takes: func(b *registry.Backend) bool {
		return ids[b.ID] || slices.Contains(regions, b.Region) ||
			slices.ContainsFunc(req.Agents, func(id string) bool { return dependsOnAgent(b, id) })
	}, alter: explain.MarkDrained}
	switch {
	case req.Removed && req.ZeroWeight:
		return answer{}, badRequest("removed and zero_weight are both true: what is removed has no weight")
	case req.Removed:
		g.alter = removed
	case req.ZeroWeight:
		g.answer = api.AnswerZeroWeight
	}
	names, err := s.losses(c.Request.Context(), g)
	return ok(api.ConsequenceList{Names: names, Total: len(names), GeneratedAt: stamp(s.o.Now())}), err
}

// safely refuses a change with if_safe that would leave a name with too few backends. Until done is called, other
// changes with if_safe wait, so that two do not take a name's last backends together. Without if_safe it does nothing.
// done is never nil.
func (s *Server) safely(c *call, g withdrawal) (done func(), err error) {
	if !c.query.flag("if_safe") {
		return func() {}, nil
	}
	s.safe.Lock()
	names, err := s.losses(c.Request.Context(), g)
	if err == nil && len(names) > 0 {
		err = &problem{status: http.StatusConflict, sentence: "nothing was changed: " + consequenceSentence(names),
			names: names}
	}
	return s.safe.Unlock, err
}

// consequenceSentence describes the loss of at most ten names, and counts the others.
func consequenceSentence(names []api.Consequence) string {
	const shown = 10
	var parts []string
	for _, n := range names[:min(len(names), shown)] {
		parts = append(parts, fmt.Sprintf("%s would be left with %d of at least %d backends (%s: %s)", n.Name, n.Serving,
			n.Minimum, strings.Join(n.QueryTypes, " and "), strings.ReplaceAll(string(n.Answer), "_", " ")))
	}
	if more := len(names) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more names", more))
	}
	return strings.Join(parts, "; ")
}

// losses returns the names that would have too few backends without g, in order. It decides from the view that DNS
// answers from, after all earlier changes have reached it.
func (s *Server) losses(ctx context.Context, g withdrawal) ([]api.Consequence, error) {
	if err := s.o.Flush(ctx); err != nil {
		return nil, err
	}
	gone := map[string]map[netip.AddrPort]bool{}
	backends := s.o.View.Backends()
	if g.service != "" {
		backends = slices.Values(s.o.View.Service(g.service))
	}
	for b := range filtered(backends, g.takes) {
		if gone[b.Service] == nil {
			gone[b.Service] = map[netip.AddrPort]bool{}
		}
		gone[b.Service][netip.AddrPortFrom(b.Address, b.Port)] = true
	}
	names := []api.Consequence{}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		loss, loses, err := explain.IfChanged(s.o.DNSView(), name, func(c *policy.Candidate) bool {
			switch {
			case gone[name][netip.AddrPortFrom(c.Address, c.Port)]:
				return g.alter(c)
			case g.answer == api.AnswerZeroWeight && c.Weight == 0: // it has as little
				return explain.MarkDrained(c)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if loses {
			one := consequence(name, loss)
			if g.answer != "" {
				one.Answer = g.answer
			}
			names = append(names, one)
		}
	}
	return names, nil
}

func consequence(name string, loss explain.Loss) api.Consequence {
	c := api.Consequence{Name: name, Answer: api.AnswerLastResort, Serving: loss.Serving, Minimum: loss.Minimum}
	if loss.Outcome == policy.NoHealthyBackend {
		c.Answer = api.AnswerNone
	}
	for _, family := range loss.Families {
		c.QueryTypes = append(c.QueryTypes, queryType(family))
	}
	return c
}
