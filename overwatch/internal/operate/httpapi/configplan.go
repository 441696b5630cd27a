package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/shared/api"
)

// postConfigPlan answers POST /config/plan. It parses the text as /config/validate does.
func (s *Server) postConfigPlan(c *call) (answer, error) {
	if len(c.body) == 0 {
		return answer{}, badRequest("the body is empty: it must be the YAML text of a configuration")
	}
	done, err := s.checkAlone(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	defer done()
	if err := s.o.Flush(c.Request.Context()); err != nil {
		return answer{}, err
	}
	proposed, err := s.o.Definitions.Propose(string(c.body))
	if err != nil {
		return answer{}, err
	}
	view := api.Plan{Changes: []api.PlanChange{}, Force: []string{}, RestartRequired: proposed.Restart,
		GeneratedAt: stamp(s.o.Now())}
	for _, key := range slices.Concat(proposed.Changes, proposed.Restart) {
		view.Changes = append(view.Changes, api.PlanChange{Action: api.PlanUpdate, Kind: "key", ID: key})
	}
	backends, err := impact.UnderConfig(s.o.View, proposed.Config)
	if err != nil {
		return answer{}, fmt.Errorf("the servers of the configuration: %w", err)
	}
	names := map[string]bool{}
	now, _ := s.o.Config()
	for d := range now.AllDomains {
		names[d.Name] = true
	}
	for d := range proposed.Config.AllDomains {
		names[d.Name] = true
	}
	preview := func(wanted func(string) bool) (*zone.View, error) {
		return s.o.Definitions.PreviewFile(proposed, backends, wanted)
	}
	view.Answers, err = s.impact.Compare(c.Request.Context(), slices.Sorted(maps.Keys(names)), preview)
	return answer{http.StatusOK, view}, err
}
