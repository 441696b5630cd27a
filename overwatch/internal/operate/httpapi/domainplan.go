package httpapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

func domainPlanOperation(domain string, change api.DomainChange) Operation {
	plan := api.Plan{
		Changes: []api.PlanChange{{Action: api.PlanUpdate, Kind: "domain", ID: "app.example.com",
			Fields: []api.PlanField{{Name: "ttl", Before: "30", After: "60"}}}},
		Force: []string{}, GeneratedAt: exampleTime(),
		Answers: api.PlanAnswers{Counted: 400, Total: 12_345, Moves: []api.PlanMove{}, Names: []api.PlanName{},
			Losses: []api.Consequence{}, Unused: []string{}},
	}
	return Operation{Method: post, Path: domain + "/plan", handle: documentTurn(decoded((*Server).postDomainPlan)),
		Role: api.RoleOperate, Summary: "Plan a change of a domain",
		Description: "Returns the fields that a PATCH with the same body would change, and the effect on answers, " +
			"weighted with the answers of the last hour. Nothing changes.",
		Body: change, Status: 200, Answer: plan, Errors: []int{conflict, tooMany}}
}

// postDomainPlan answers POST /domains/{name}/plan.
func (s *Server) postDomainPlan(c *call, req api.DomainChange) (answer, error) {
	cfg, _ := s.o.Config()
	before, err := s.domainOf(c, cfg)
	if err != nil {
		return answer{}, err
	}
	edit, err := s.op.TryDomain(c.request(), wire.CanonicalService(before.Name), req)
	if err != nil {
		return answer{}, err
	}
	if err := s.o.Flush(c.Request.Context()); err != nil {
		return answer{}, err
	}
	kept := impact.NewBackends(s.o.View, api.SourceAPI, nil, func(registry.ID) bool { return false })
	view := api.Plan{Changes: []api.PlanChange{}, Force: []string{}, GeneratedAt: stamp(s.o.Now())}
	view.Answers, err = s.impact.Compare(c.Request.Context(), []string{before.Name},
		func(wanted func(string) bool) (*zone.View, error) {
			return s.o.Definitions.Preview(edit, kept, wanted)
		})
	if err != nil {
		return answer{}, err
	}
	fields := plannedFields(before, req)
	if disables(fields, view.Answers) {
		view.Answers.Losses, err = s.impact.Losses(c.Request.Context(), impact.OfDomain(before.Name))
		if err != nil {
			return answer{}, err
		}
	}
	if len(fields) > 0 {
		view.Changes = append(view.Changes, api.PlanChange{Action: api.PlanUpdate, Kind: "domain", ID: before.Name,
			Fields: fields})
	} else {
		view.Unchanged = 1
	}
	if len(view.Answers.Losses) > 0 {
		view.Force = append(view.Force, impact.Sentence(view.Answers.Losses))
	}
	return ok(view), nil
}

// disables reports whether a plan disables a domain that has answers. Compare has no loss for such a domain, because
// the domain is not in the view after the plan.
func disables(fields []api.PlanField, effects api.PlanAnswers) bool {
	planned := slices.ContainsFunc(fields, func(f api.PlanField) bool { return f.Name == "enabled" })
	return planned && len(effects.Losses) == 0 && slices.ContainsFunc(effects.Names, func(n api.PlanName) bool {
		return len(n.Before) > 0 && len(n.After) == 0
	})
}

// plannedFields lists the top-level fields of a request that differ from a domain.
func plannedFields(before model.Domain, req api.DomainChange) (list []api.PlanField) {
	was := jsonOf(model.All(&before))
	for _, name := range slices.Sorted(maps.Keys(jsonOf(req))) {
		value, known := was[name]
		if after := jsonOf(req)[name]; after != value || !known {
			list = append(list, api.PlanField{Name: name, Before: value, After: after})
		}
	}
	return list
}

// jsonOf returns the JSON of each field, strings without quotes.
func jsonOf(object any) map[string]string {
	fields := map[string]string{}
	encoded, err := json.Marshal(object)
	if err != nil {
		return fields
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(encoded, &raw) != nil {
		return fields
	}
	for name, value := range raw {
		fields[name] = strings.Trim(string(value), `"`)
	}
	return fields
}
