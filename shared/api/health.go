package api

import "time"

// Health is the answer of GET /api/health.
type Health struct {
	Status        ServiceStatus `json:"status"`
	Version       string        `json:"version"`
	UptimeSeconds int64         `json:"uptime_seconds"`
	Timestamp     time.Time     `json:"timestamp"`
	Message       string        `json:"message,omitempty"` // only when not healthy
}

// Readiness is the answer of GET /api/v1/ready: with status 200 when Ready,
// else with 503.
type Readiness struct {
	Ready       bool   `json:"ready"`
	DNSReady    bool   `json:"dns_ready"`
	HealthReady bool   `json:"health_ready"`
	Message     string `json:"message,omitempty"` // only when not ready
}

// Liveness is the answer of GET /api/v1/live.
type Liveness struct {
	Alive bool `json:"alive"`
}

// Version is the answer of GET /api/v1/version.
type Version struct {
	Version   string `json:"version"`
	GoVersion string `json:"go_version"`
	GitCommit string `json:"git_commit"`
	BuildDate string `json:"build_date"` // RFC 3339, or "unknown" for a build without one
}

// ServerHealth is the health record of a server.
type ServerHealth struct {
	ID                   string      `json:"id"`
	Service              string      `json:"service"`
	Address              string      `json:"address"`
	Port                 int         `json:"port"`
	Region               string      `json:"region"`
	Healthy              bool        `json:"healthy"`
	Status               CheckStatus `json:"status"`
	LastCheck            *time.Time  `json:"last_check"`   // null: never checked
	LastHealthy          *time.Time  `json:"last_healthy"` // null: never healthy
	ConsecutiveFailures  int         `json:"consecutive_failures"`
	ConsecutiveSuccesses int         `json:"consecutive_successes"`
	LastError            *string     `json:"last_error"` // null when healthy
}

// ServerHealthList is the answer of GET /api/v1/health/servers.
type ServerHealthList struct {
	Servers     []ServerHealth `json:"servers"`
	Total       int            `json:"total"`
	GeneratedAt time.Time      `json:"generated_at"`
}

// RegionHealth summarizes the servers of a region.
type RegionHealth struct {
	Name           string  `json:"name"`
	TotalServers   int     `json:"total_servers"`
	HealthyCount   int     `json:"healthy_count"`
	UnhealthyCount int     `json:"unhealthy_count"`
	HealthPercent  float64 `json:"health_percent"` // 0 for a region without servers
}

// RegionHealthList is the answer of GET /api/v1/health/regions.
type RegionHealthList struct {
	Regions     []RegionHealth `json:"regions"`
	Total       int            `json:"total"`
	GeneratedAt time.Time      `json:"generated_at"`
}
