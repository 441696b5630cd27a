package httpapi

import (
	"gslb.internal/shared/api"
)

func serviceOperations() []Operation {
	down := "no cycle of health checks has completed yet"
	return []Operation{
		{Method: get, Path: "/api/health", handle: (*Server).getHealth, Role: api.RoleNone, Public: true,
			Summary: "How the service does", Status: 200,
			Answer: api.Health{Status: api.ServiceHealthy, Version: "1.2.0", UptimeSeconds: 86400, Timestamp: at()}},
		{Method: get, Path: v1 + "/ready", handle: (*Server).getReady, Role: api.RoleNone, Public: true,
			Summary: "Whether the node may get queries", Status: 200,
			Answer: api.Readiness{Ready: true, DNSReady: true, HealthReady: true},
			Also:   map[int]any{busy: api.Readiness{DNSReady: true, Message: down}}},
		{Method: get, Path: v1 + "/live", handle: (*Server).getLive, Role: api.RoleNone, Public: true,
			Summary: "Whether the process runs", Status: 200, Answer: api.Liveness{Alive: true}},
		{Method: get, Path: v1 + "/version", handle: (*Server).getVersion, Role: api.RoleNone, Public: true,
			Summary: "What runs", Status: 200,
			Answer: api.Version{Version: "1.2.0", GoVersion: "go1.26.0", GitCommit: "0123456",
				BuildDate: "2026-01-01T00:00:00Z"}},
		{Method: get, Path: v1 + "/health/servers", handle: (*Server).listServerHealth, Summary: "Health of each server",
			Query: paged(), Status: 200,
			Answer: api.ServerHealthList{Servers: []api.ServerHealth{{
				ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, Region: "eu-west", Healthy: true,
				Status: api.CheckHealthy, LastCheck: new(at()), LastHealthy: new(at()), ConsecutiveSuccesses: 12,
			}}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/health/regions", handle: (*Server).listRegionHealth, Query: none,
			Summary: "Health of each region",
			Status:  200,
			Answer: api.RegionHealthList{Regions: []api.RegionHealth{
				{Name: "eu-west", TotalServers: 4, HealthyCount: 3, UnhealthyCount: 1, HealthPercent: 75}}, Total: 1,
				GeneratedAt: at()}},
		{Method: get, Path: v1 + "/openapi.json", handle: file("application/json", openAPI), Role: api.RoleNone,
			Summary: "This document", Status: 200, Answer: map[string]any{}},
		{Method: get, Path: "/api/docs", handle: file("text/html; charset=utf-8", docsPage), Role: api.RoleNone,
			Summary: "This document as a page", Status: 200, Files: []string{"text/html"}},
		{Method: get, Path: "/api/docs/docs.js", handle: file("text/javascript; charset=utf-8", docsProgram),
			Role: api.RoleNone, Summary: "The program of the page", Status: 200, Files: []string{"text/javascript"}},
		{Method: get, Path: "/api/docs/docs.css", handle: file("text/css; charset=utf-8", docsStyle), Role: api.RoleNone,
			Summary: "The style of the page", Status: 200, Files: []string{"text/css"}},
	}
}
