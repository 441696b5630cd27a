package httpapi

import (
	"net/http"
	"slices"

	"gslb.internal/shared/api"
)

func serviceOperations() []Operation {
	down := "no cycle of health checks has completed yet"
	return []Operation{
		{Method: get, Path: "/api/health", handle: (*Server).getHealth, Role: api.RoleNone, Public: true,
			Summary: "Get the health of the node", Status: 200,
			Answer: api.Health{Status: api.ServiceHealthy, Version: "1.2.0", UptimeSeconds: 86400, Timestamp: exampleTime()}},
		{Method: get, Path: v1 + "/ready", handle: (*Server).getReady, Role: api.RoleNone, Public: true,
			Summary: "Get the readiness of the node for queries", Status: 200,
			Answer: api.Readiness{Ready: true, DNSReady: true, HealthReady: true},
			Also:   map[int]any{busy: api.Readiness{DNSReady: true, Message: down}}},
		{Method: get, Path: v1 + "/live", handle: (*Server).getLive, Role: api.RoleNone, Public: true,
			Summary: "Get the liveness of the process", Status: 200, Answer: api.Liveness{Alive: true}},
		{Method: get, Path: v1 + "/version", handle: (*Server).getVersion, Role: api.RoleNone, Public: true,
			Summary: "Get the version and build of the node", Status: 200,
			Answer: api.Version{Version: "1.2.0", GoVersion: "go1.26.0", GitCommit: "0123456",
				BuildDate: "2026-01-01T00:00:00Z"}},
		{Method: get, Path: v1 + "/health/servers", handle: (*Server).listServerHealth,
			Summary: "List the health of servers",
			Query:   paged(), Status: 200,
			Answer: api.ServerHealthList{Servers: []api.ServerHealth{{
				ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, Region: "eu-west",
				Healthy: true,
				Status:  api.CheckHealthy, LastCheck: new(exampleTime()), LastHealthy: new(exampleTime()), ConsecutiveSuccesses: 12,
			}}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/health/regions", handle: (*Server).listRegionHealth, Query: none,
			Summary: "List the health of regions",
			Status:  200,
			Answer: api.RegionHealthList{Regions: []api.RegionHealth{
				{Name: "eu-west", TotalServers: 4, HealthyCount: 3, UnhealthyCount: 1, HealthPercent: 75}}, Total: 1,
				GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/openapi.json", handle: file("application/json", openAPI), Role: api.RoleNone,
			Summary: "Get the OpenAPI document", Status: 200, Answer: map[string]any{}},
		{Method: get, Path: "/api/docs", handle: (*Server).getDocs, Role: api.RoleNone,
			Summary: "Get the documentation page", Status: 200, Files: []string{"text/html"}},
		{Method: get, Path: "/api/docs/docs.js", handle: file("text/javascript; charset=utf-8", docsProgram),
			Role: api.RoleNone, Summary: "Get the script of the documentation page", Status: 200,
			Files: []string{"text/javascript"}},
		{Method: get, Path: "/api/docs/page.js", handle: file("text/javascript; charset=utf-8", docsPageProgram),
			Role: api.RoleNone, Summary: "Get the script of the page of a node without a console", Status: 200,
			Files: []string{"text/javascript"}},
		{Method: get, Path: "/api/docs/docs.css", handle: file("text/css; charset=utf-8", docsStyle),
			Role:    api.RoleNone,
			Summary: "Get the style sheet of the documentation page", Status: 200, Files: []string{"text/css"}},
	}
}

// getHealth answers GET /api/health.
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
	return ok(api.Version{Version: b.Version, GoVersion: b.GoVersion, GitCommit: b.GitCommit, BuildDate: b.BuildDate}),
		nil
}
