package httpapi

import (
	"net/http"
	"slices"

	"gslb.internal/shared/api"
)

// getHealth answers GET /api/health. Package ready defines the three statuses.
func (s *Server) getHealth(*call) (answer, error) {
	now := s.o.Now()
	status, message := s.o.Fitness.Judgement()
	return ok(api.Health{
		Status:        status,
		Message:       message,
		Version:       s.o.Build.Version,
		UptimeSeconds: int64(now.Sub(s.o.StartedAt).Seconds()),
		Timestamp:     stamp(now),
	}), nil
}

// listConditions answers GET /overwatch/conditions.
func (s *Server) listConditions(c *call) (answer, error) {
	list := api.ConditionList{Status: s.o.Fitness.Status(), GeneratedAt: stamp(s.o.Now())}
	list.Conditions, list.Total = pageOf(slices.Values(s.o.Fitness.Conditions()), c.page,
		func(one api.Condition) api.Condition { return one })
	return ok(list), nil
}

func (s *Server) getReady(*call) (answer, error) {
	r := s.o.Fitness.Readiness()
	if !r.Ready {
		return answer{http.StatusServiceUnavailable, r}, nil
	}
	return ok(r), nil
}

func (s *Server) getLive(*call) (answer, error) {
	return ok(api.Liveness{Alive: true}), nil
}

func (s *Server) getVersion(*call) (answer, error) {
	b := s.o.Build
	return ok(api.Version{Version: b.Version, GoVersion: b.GoVersion, GitCommit: b.GitCommit, BuildDate: b.BuildDate}), nil
}
