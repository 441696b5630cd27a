package cli // inside: it shares fake_test.go

import (
	"net/netip"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func officeMapping(network, region string) model.Mapping {
	return model.Mapping{CIDR: netip.MustParsePrefix(network), Region: region, Comment: "office"}
}

// fakeSettings returns the answers about regions, mappings and settings.
func fakeSettings(started time.Time) map[string]any {
	eu := api.Region{ID: "eu", Name: "eu", Region: model.Region{Code: "eu1", Description: "Frankfurt",
		Latitude: pointer(50.1), Longitude: pointer(8.7), Countries: []string{"DE", "FR"}, Continents: []string{"EU"},
		Enabled: true}, Continent: "EU", ServerCount: 2, HealthyServers: 2, Source: api.FromConfig}
	us := api.Region{ID: "us", Name: "US East", Region: model.Region{Countries: []string{}, Continents: []string{"NA"},
		Enabled: true, Priority: 2}, Continent: "NA", ServerCount: 2, HealthyServers: 1, Source: api.FromAPI}
	waits := api.ConfigState{Overlay: []string{"default_ttl"}, RestartRequired: []string{"dns.rate_limit"}}
	same := api.ConfigState{Overlay: []string{}, RestartRequired: []string{}}
	dns := api.DNSConfigAnswer{ConfigState: waits,
		Config: api.DNSConfig{ListenAddress: []string{":53"}, EnableTCP: true, EnableUDP: true, MaxUDPSize: 1232,
			DefaultTTL: 60,
			MaxTTL:     2147483647, NegativeTTL: 30, RateLimitEnabled: true, RateLimitQPS: 1000,
			Zones: []string{"example.com", "example.org"}}}
	checks := api.HealthCheckConfigAnswer{ConfigState: same,
		Config: api.HealthCheckConfig{ValidationEnabled: true, DefaultIntervalSeconds: 30, DefaultTimeoutSeconds: 5,
			HealthyThreshold: 2, UnhealthyThreshold: 3, MaxConcurrentChecks: 100, DefaultProtocol: "tcp",
			HTTPFollowRedirects: true}}
	logging := api.LoggingConfigAnswer{ConfigState: same, Config: api.LoggingConfig{Level: "info", Format: "json"}}
	preferences := api.PreferencesAnswer{Preferences: api.DefaultPreferences()}
	gossip := api.GossipSettings{ConfigState: same,
		Config: api.GossipConfig{Enabled: true, BindAddress: "0.0.0.0", BindPort: 7946, EncryptionEnabled: true,
			GossipIntervalMS: 200, ProbeIntervalMS: 1000, ProbeTimeoutMS: 500}}
	mapping := api.GeoMapping{Mapping: officeMapping("203.0.113.0/24", "eu"), Source: api.GeoFromAPI}
	records := api.RecordSet{RecordSet: model.RecordSet{Name: "www.example.com", Type: "A", TTL: 60,
		Data: []string{"192.0.2.1"}}, Records: []api.RecordValue{{Data: "192.0.2.1", TTL: 60}}}
	listed := api.RecordSetList{Records: []api.RecordSet{records}, Total: 1, GeneratedAt: now}
	return map[string]any{
		"GET /api/v1/records":                      listed,
		"POST /api/v1/records":                     records,
		"PUT /api/v1/records/www.example.com/A":    records,
		"DELETE /api/v1/records/www.example.com/A": nil,
		"GET /api/v1/regions": api.RegionList{Regions: []api.Region{eu, us}, Total: 2,
			GeneratedAt: now},
		"GET /api/v1/regions/eu":                     eu,
		"POST /api/v1/regions":                       api.Region{ID: "ap", Name: "ap"},
		"PATCH /api/v1/regions/ap":                   api.Region{ID: "ap", Name: "ap"},
		"DELETE /api/v1/regions/ap":                  nil,
		"PUT /api/v1/geo/mappings":                   mapping,
		"DELETE /api/v1/geo/mappings/203.0.113.0/24": nil,
		"GET /api/v1/config/dns":                     dns,
		"PATCH /api/v1/config/dns":                   dns,
		"DELETE /api/v1/config/dns":                  nil,
		"DELETE /api/v1/gossip/config":               nil,
		"GET /api/v1/config/health-check":            checks,
		"PATCH /api/v1/config/health-check":          checks,
		"GET /api/v1/config/logging":                 logging,
		"PATCH /api/v1/config/logging":               logging,
		"PATCH /api/v1/gossip/config":                gossip,
		"GET /api/v1/preferences":                    preferences,
		"PATCH /api/v1/preferences":                  preferences,
		"GET /api/v1/config/system": api.SystemConfigAnswer{
			Config: api.SystemConfig{Version: "1.2.3",
				BuildInfo: api.BuildInfo{GoVersion: "go1.26", GitCommit: "fedcba9876543210", BuildDate: "2026-01-01T00:00:00Z",
					Platform: "linux/amd64"},
				Mode: "overwatch", NodeID: "ow-1", NodeName: "ow-1", Region: "eu", Features: []string{"dnssec", "geolocation"},
				StartTime: started, ConfigPath: "/etc/gslb/overwatch.yaml", DataDir: "/var/lib/gslb"}},
		"GET /api/v1/metrics/overview": api.OverviewAnswer{
			Overview: api.Overview{Timestamp: now, UptimeSeconds: 51 * 3600, QueriesTotal: 8123456, QueriesPerSec: 44.246,
				ActiveDomains: 2, ActiveServers: 3, HealthyServers: 2,
				UnhealthyServers: 1, StaleServers: 1, OverwatchNodes: 2, AgentNodes: 2, DNSSECEnabled: true, GossipEnabled: true,
				ErrorRate: 0.0125, ResponseTimes: api.ResponseTimes{AvgMS: 0.0312, P50MS: 0.03, P95MS: 0.05, P99MS: 0.1,
					MaxMS: 1.25},
				Memory: api.MemoryUse{UsedBytes: pointer(uint64(48 << 20)), TotalBytes: pointer(uint64(8 << 30)), Percent: 0.6},
				CPU:    api.CPUUse{UsedPercent: 1.5, Cores: 4}}},
		"GET /api/v1/metrics/nodes/eu-1": api.NodeMetricsAnswer{
			Metrics: api.NodeMetrics{NodeID: "eu-1", NodeType: api.NodeAgent, Timestamp: now, Status: "online",
				UptimeSeconds: 7200, ChecksTotal: 2880, ChecksPerSec: 0.4}},
		"GET /api/v1/metrics/regions/eu": api.RegionMetricsAnswer{
			Metrics: api.RegionMetrics{RegionID: "eu", Timestamp: now, TotalServers: 2, HealthyServers: 2,
				QueriesTotal: pointer(uint64(6000000)), TrafficPercent: pointer(73.9)}},
		"GET /api/v1/metrics/routing": api.RoutingStatsAnswer{
			Stats: api.RoutingStats{Timestamp: now, TotalDecisions: 8000000,
				ByAlgorithm: map[string]uint64{"weighted": 7000000, "failover": 1000000},
				ByRegion:    map[string]uint64{"eu": 6000000, "us": 2000000},
				ByOutcome:   map[api.RoutingDecisionKind]uint64{api.RoutingSuccess: 8000000}, AvgDecisionTimeUS: 0.42}},
		"GET /api/v1/metrics/history": api.History{Total: 2, GeneratedAt: now, DataPoints: []api.HistoryPoint{
			{Timestamp: now.Add(-time.Minute), Values: map[string]float64{"queries_per_sec": 44.246, "error_rate": 0.0125,
				"response_p99_ms": 0.1, "healthy_servers": 2}},
			{Timestamp: now, Values: map[string]float64{"queries_per_sec": 45, "error_rate": 0}}}},
		"GET /api/v1/nodes/overwatch": api.OverwatchNodeList{Total: 2, GeneratedAt: now, Nodes: []api.OverwatchNode{
			{ID: "ow-1", Name: "ow-1", Address: "192.0.2.1", Port: 53, APIPort: 8080, Region: "eu", Status: api.OverwatchOnline,
				Version: "1.2.3", UptimeSeconds: pointer[int64](51 * 3600), LastSeen: ago(0),
				QueriesTotal: pointer[uint64](8123456), QueriesPerSec: 44.25,
				DNSSECEnabled: true, Self: true},
			{ID: "ow-2", Name: "ow-2", Address: "192.0.2.2", Region: "us", Status: api.OverwatchDegraded,
				LastSeen: ago(12 * time.Second)}}},
		"GET /api/v1/nodes/agent": api.AgentNodeList{Total: 2, GeneratedAt: now, Nodes: []api.AgentNode{
			{ID: "eu-1", Name: "eu-1", Region: "eu", Status: api.AgentOnline, Version: "1.2.3", UptimeSeconds: 7200,
				LastSeen: ago(4 * time.Second), ChecksTotal: 2880, ChecksPerSec: 0.4, ActiveChecks: 2, TargetCount: 2,
				RegisteredAt: &started},
			{ID: "eu-9", Name: "eu-9", Status: api.AgentPending}}},
		"GET /api/v1/nodes/agent/eu-1/certificate": api.AgentCertificateAnswer{
			Certificate: api.AgentCertificate{AgentID: "eu-1", Serial: "0a1b", NotBefore: started,
				NotAfter:    now.Add(300 * 24 * time.Hour),
				Fingerprint: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
				Status:      api.CertificateValid,
				IssuedAt:    started}},
		"GET /api/v1/nodes/overwatch/ow-1": api.OverwatchNode{ID: "ow-1", Name: "ow-1", Address: "192.0.2.1", Port: 53,
			APIPort: 8080, Region: "eu", Status: api.OverwatchOnline, Version: "1.2.3", UptimeSeconds: pointer[int64](51 * 3600),
			LastSeen: ago(0), QueriesTotal: pointer[uint64](8123456), QueriesPerSec: 44.25, DNSSECEnabled: true, Self: true},
		"DELETE /api/v1/nodes/agent/eu-1/certificate": nil,
		"POST /api/v1/nodes/agent":                    api.AgentNode{ID: "eu-9", Status: api.AgentPending},
		"DELETE /api/v1/nodes/agent/eu-9":             nil,
		"POST /api/v1/nodes/agent/eu-1/certificate": api.CertificateReissue{Message: "its next certificate is pinned",
			Status: api.AgentPending},
		"GET /api/v1/gossip/nodes": api.GossipNodeList{Total: 2, Healthy: 1, GeneratedAt: now, Nodes: []api.GossipNode{
			{ID: "ow-1", Name: "ow-1", Address: "192.0.2.1", Port: 7946, Status: api.GossipAlive, State: api.GossipSelf,
				Region: "eu", Version: "1.2.3", LastSeen: ago(0), JoinedAt: &started},
			{ID: "eu-1", Name: "eu-1", Status: api.GossipSuspect, State: api.GossipMember, Region: "eu", RTTMS: 12,
				LastSeen: ago(40 * time.Second), JoinedAt: &started}}},
	}
}
