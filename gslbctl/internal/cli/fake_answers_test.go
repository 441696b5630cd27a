package cli // inside: it shares fake_test.go

import (
	"encoding/json"
	"maps"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// wellAnswers returns a complete set of answers of a node with two domains, four backends and three agents. All except
// one backend are healthy.
func wellAnswers() map[string]any {
	started := now.Add(-51 * time.Hour)
	healthy, unhealthy := fakeBackends()
	stale := api.Backend{
		ID: "www.example.com:2001:db8::1:443", Service: "www.example.com", Address: "2001:db8::1", Port: 443,
		AgentID: "us-1",
		Region:  "us", Weight: 100, Share: 1,
		EffectiveStatus: api.EffectiveStale, MayServe: true,
		Reason:       "the agent is silent; own checks succeed",
		AgentHealthy: pointer(true), AgentLastSeen: ago(95 * time.Second), ValidationHealthy: pointer(true),
		ValidationLastCheck: ago(9 * time.Second), ValidationLatencyMS: pointer(81.25),
	}
	all := append(append([]api.Backend{}, healthy...), unhealthy, stale)
	one := func(list ...api.Backend) api.BackendList {
		return api.BackendList{Backends: list, Total: len(list), GeneratedAt: now}
	}
	agents := fakeAgents()
	domains := []api.Domain{fakeDomain("app.example.com", "weighted", 30, 3, 2),
		fakeDomain("www.example.com", "failover", 60, 1, 1)}
	shop := api.DomainDetail{Domain: api.Domain{Domain: model.Domain{Name: "shop.example.com"}}}
	over := api.DomainDetail{Domain: api.Domain{Domain: model.Domain{Name: "over.example.com"}, Overlay: &api.Overlay{}}}
	shown := domains[0]
	shown.HTTPS = model.HTTPS{ALPN: []string{"h2", "h3"}, Port: 8443, ECH: "AEX+"}
	shown.SRV = []string{"_sip._tcp"}
	shown.Settings = &api.DomainSettings{FailoverThreshold: 1, LoadBalancingMethod: "weighted"}
	override := api.Override{Service: "app.example.com", Address: "192.0.2.11:443", Reason: "kernel update",
		Source: "gslbctl", CreatedAt: now, CreatedBy: "127.0.0.1", ExpiresAt: pointer(now.Add(30 * time.Minute))}
	const key, publicKey = 34505,
		"oJMRESz5E4gYzS/q6XDrvU1qMPYIjCWzJaOau8XNEZeqCYKD5ar0IRd8KqXXFJkqmVfRvMGPmM1x8fGAa2XhSA=="
	const digest = "B07EE2C9BEB4D06CB52B1F96B9B2A2C6C6EEF2B4EA5F6D1E1A5CBA2AC1F0B0A7"
	answers := fakeSettings(started)
	maps.Copy(answers, map[string]any{
		"GET /api/v1/audit-logs": fakeAudit(),
		"GET /api/v1/events":     fakeEvents(7, "b is unhealthy"),
		"GET /api/v1/notifications": api.NotificationList{Total: 2, Targets: []api.NotificationTarget{
			{Name: "chat", Type: "slack", Sent: 12, LastSent: pointer(now.Add(-time.Minute))},
			{Name: "on-call", Type: "pagerduty", Queued: 3, Failed: 7, Dropped: 2,
				LastError: pointer("it answers 401"), FailingSince: pointer(now.Add(-time.Hour))}}},
		"POST /api/v1/notifications/test": api.NotificationTestList{Total: 2, Tests: []api.NotificationTest{
			{Target: "chat", Sent: true, DurationMS: 42}, {Target: "on-call", Error: pointer("it answers 401")}}},
		"GET /api/v1/audit-logs?actions=refused&sort_order=asc": api.AuditList{Entries: []api.AuditEntry{},
			GeneratedAt: now},
		"GET /api/v1/audit-logs?actions=receive&sort_order=asc": api.AuditList{Entries: []api.AuditEntry{},
			GeneratedAt: now},
		"GET /api/v1/overwatch/conditions": fakeConditions(),
		"GET /api/v1/replication":          api.Replication{},
		"GET /api/v1/document":             wholeDocument(),
		"POST /api/v1/document/plan":       documentPlan(false), "POST /api/v1/document/apply": documentPlan(true),
		"POST /api/v1/config/plan":          documentPlan(false),
		"POST /api/v1/routing/consequences": api.ConsequenceList{Names: []api.Consequence{}, GeneratedAt: now},
		"POST /api/v1/routing/test":         api.RoutingTest{Result: fakeExplanation()},
		"GET /api/v1/routing/decisions/0-2": api.RoutingTest{Result: fakeExplanation()},
		"GET /api/v1/routing/decisions":     fakeDecisions(),
		"GET /api/v1/routing/flows":         fakeFlows(),
		"GET /api/v1/routing/answers": api.RoutingAnswerList{Domain: "app.example.com", QueryType: "A", Total: 2,
			Generation: 17, GeneratedAt: now, Answers: []api.RoutingAnswer{
				{Decision: api.RoutingSuccess, Algorithm: "geolocation", TTL: 30,
					Addresses: []api.RoutingShare{{Address: "192.0.2.10", Share: 1}}},
				{ClientRegion: "us", Decision: api.RoutingFailover, Algorithm: "geolocation", TTL: 30,
					Addresses: []api.RoutingShare{{Address: "192.0.2.10", Share: 0.8}, {Address: "192.0.2.11",
						Share: 0.2}}},
			}},
		"GET /api/v1/routing/algorithms": fakeAlgorithms(),
		"GET /api/v1/dnssec/status": api.DNSSECStatus{Enabled: true, Keys: []api.DNSSECKeyUse{
			{KeyTag: key, Zone: "example.com.", Flags: 257, Algorithm: 13, CreatedAt: started, AgeSeconds: 51 * 3600,
				Active: true, Stage: api.StageActive}},
			Sync: api.DNSSECSyncState{Enabled: true, LastSync: pointer(now.Add(-time.Hour)),
				LastSyncError: pointer("http://192.0.2.3:8080: it answers 403"), NextSync: pointer(now.Add(time.Minute)),
				PeerCount: 2, Peers: []api.DNSSECPeer{
					{Peer: "http://192.0.2.2:8080", NodeID: "ow-2", OK: true, LastAttempt: pointer(now.Add(-time.Minute)),
						LastSuccess: pointer(now.Add(-time.Minute)), Imported: 1},
					{Peer: "http://192.0.2.3:8080", LastAttempt: pointer(now.Add(-time.Minute)),
						LastSuccess: pointer(now.Add(-time.Hour)), Error: pointer("it answers 403")}}}},
		"POST /api/v1/dnssec/sync": api.DNSSECSync{Synced: true,
			Peers: []api.DNSSECPeerSync{{Peer: "http://192.0.2.2:8080", OK: true, Imported: 1}}},
		"GET /api/v1/dnssec/ds": api.DSRecords{Enabled: true, NoDS: []string{}, DSRecords: []api.DSRecord{
			{Zone: "example.com.", KeyTag: key, Algorithm: 13, DigestType: 2, Digest: digest,
				DSRecord: "example.com. IN DS 34505 13 2 " + digest}}},
		"GET /api/v1/dnssec/keys": api.DNSSECKeys{Enabled: true, Keys: []api.DNSSECKey{
			{Zone: "example.com.", KeyTag: key, Algorithm: 13, AlgorithmName: "ECDSAP256SHA256", Flags: 257,
				PublicKey: publicKey, CreatedAt: started, State: api.KeyActive, Stage: api.StageActive,
				OriginNode: "ow-1"}}},
		"GET /api/v1/dnssec/rollover":  api.Rolls{Enabled: true, Rolls: []api.Roll{fakeRoll()}},
		"POST /api/v1/dnssec/rollover": fakeRoll(), "POST /api/v1/dnssec/rollover?dry_run=true": fakeRoll(),
		"DELETE /api/v1/dnssec/rollover/example.com":                   fakeRoll(),
		"POST /api/v1/dnssec/rollover/example.com/confirm":             fakeRoll(),
		"POST /api/v1/dnssec/rollover/example.com/force":               fakeForce(),
		"POST /api/v1/dnssec/rollover/example.com/force?dry_run=true":  fakeForce(),
		"POST /api/v1/dnssec/rollover/example.com/unsign":              fakeWay(),
		"POST /api/v1/dnssec/rollover/example.com/unsign?dry_run=true": fakeWay(),
		"POST /api/v1/dnssec/rollover/example.com/sign":                fakeWay(),
		"POST /api/v1/dnssec/rollover/example.com/sign?dry_run=true":   fakeWay(),
		"GET /api/v1/tokens": api.TokenList{Total: 2, GeneratedAt: now, Tokens: []api.Token{fakeToken(),
			{Token: model.Token{Name: "old", Type: "bearer", Role: "read", ExpiresAt: now.Add(-time.Hour),
				Meta: model.Meta{CreatedAt: now.Add(-48 * time.Hour)}}, Status: api.TokenExpired}}},
		"GET /api/v1/whoami": api.Identity{Name: "external-dns", Source: api.IdentityAPI, Role: api.RoleAdmin,
			Scope: model.TokenScope{Actions: []string{"read", "define"}}},
		"POST /api/v1/tokens":                     api.TokenSecret{Token: fakeToken(), Secret: "gslb_secret"},
		"POST /api/v1/tokens/external-dns/rotate": api.TokenSecret{Token: fakeToken(), Secret: "gslb_secret"},
		"DELETE /api/v1/tokens/external-dns":      nil,
		"GET /api/v1/geo/mappings": api.GeoMappingList{Total: 1, GeneratedAt: now, Mappings: []api.GeoMapping{
			{Mapping: officeMapping("10.1.0.0/16", "eu-west"), Source: api.GeoFromConfig}}},
		"GET /api/v1/geo/test": api.GeoTest{IP: "203.0.113.7", Region: "eu-west", MatchType: "country",
			MatchedCIDR: "203.0.113.0/24", Country: "DE", Continent: "EU", ScopePrefix: 22},
		"GET /api/health": api.Health{Status: api.ServiceDegraded, Version: "1.2.3",
			UptimeSeconds: 51 * 3600, Timestamp: now},
		"GET /api/v1/ready": api.Readiness{Ready: true, DNSReady: true, HealthReady: true},
		"GET /api/v1/version": api.Version{Version: "1.2.3", GoVersion: "go1.26",
			GitCommit: "fedcba9876543210", BuildDate: "2026-01-01T00:00:00Z"},
		"POST /api/v1/domains":                                          shop,
		"GET /api/v1/domains/shop.example.com":                          shop,
		"PATCH /api/v1/domains/shop.example.com":                        shop,
		"DELETE /api/v1/domains/shop.example.com":                       nil,
		"PATCH /api/v1/domains/over.example.com":                        over,
		"DELETE /api/v1/domains/over.example.com/overlay":               nil,
		"DELETE /api/v1/regions/ap/overlay":                             nil,
		"DELETE /api/v1/servers/app.example.com:192.0.2.13:443/overlay": nil,
		"PATCH /api/v1/servers/app.example.com:192.0.2.13:443":          api.Named{Message: api.ServerOverlayChanged},
		"GET /api/v1/config/overlays": api.OverlayList{Total: 1, GeneratedAt: now, Overlays: []api.OverlaidObject{{
			Kind: "domain", ID: "over.example.com", Overlay: api.Overlay{By: "alice", UpdatedAt: now, InForce: true,
				Fields:     map[string]json.RawMessage{"ttl": []byte("5")},
				Configured: map[string]json.RawMessage{"ttl": []byte("30")}}}}},
		"POST /api/v1/config/reload": api.Reload{Reloaded: true, Changes: []string{"domains"},
			RestartRequired: []string{"api"}},
		"POST /api/v1/gossip/generate-key": api.GossipKey{Key: "a2V5", Algorithm: "AES-256-GCM", Bits: 256},
		"GET /api/v1/servers/app.example.com:192.0.2.12:443/health-check": api.ServerHealthCheck{
			ServerID: "app.example.com:192.0.2.12:443", HealthCheck: api.HealthCheck{
				HealthCheck: model.HealthCheck{Enabled: new(true), Type: "http", Path: "/up",
					Interval: settings.Duration(5 * time.Second), Timeout: settings.Duration(time.Second),
					SuccessThreshold: 1,
					FailureThreshold: 2, ExpectedStatus: "200"}}},
		"PATCH /api/v1/servers/app.example.com:192.0.2.12:443/health-check": api.ServerHealthCheck{},
		"GET /api/v1/gossip/config": api.GossipSettings{
			Config: api.GossipConfig{Enabled: true, BindAddress: "0.0.0.0", BindPort: 7946, EncryptionEnabled: true,
				GossipIntervalMS: 200, ProbeIntervalMS: 1000, ProbeTimeoutMS: 500}},
		"POST /api/v1/servers": api.Named{Message: "server created",
			ID: "app.example.com:192.0.2.12:443"},
		"PATCH /api/v1/servers/app.example.com:192.0.2.12:443": api.Named{Message: "server changed",
			ID: "app.example.com:192.0.2.12:443"},
		"PATCH /api/v1/servers/app.example.com:lb.example.net:443": api.Named{Message: "server changed",
			ID: "app.example.com:lb.example.net:443"},
		"DELETE /api/v1/servers/app.example.com:192.0.2.12:443": nil,
		"POST /api/v1/servers/app.example.com:192.0.2.12:443/drain": api.Drain{Draining: true,
			DrainEndsAt: pointer(now)},
		"DELETE /api/v1/servers/app.example.com:192.0.2.12:443/drain": api.Drain{},
		"GET /api/v1/servers": fakeServers(all, started),
		"GET /api/v1/health/servers": api.ServerHealthList{Total: 2, GeneratedAt: now, Servers: []api.ServerHealth{
			{ID: all[0].ID, Service: all[0].Service, Address: all[0].Address, Port: 443, Region: "eu", Healthy: true,
				Status: api.CheckHealthy, LastCheck: ago(4 * time.Second), LastHealthy: ago(4 * time.Second),
				ConsecutiveSuccesses: 812},
			{ID: unhealthy.ID, Service: unhealthy.Service, Address: unhealthy.Address, Port: 443, Region: "us",
				Status: api.CheckUnhealthy, LastCheck: ago(2 * time.Second), LastHealthy: ago(7 * time.Minute),
				ConsecutiveFailures: 84, LastError: pointer("connection refused")},
		}},
		"GET /api/v1/health/regions": api.RegionHealthList{Total: 2, GeneratedAt: now, Regions: []api.RegionHealth{
			{Name: "eu", TotalServers: 2, HealthyCount: 2, HealthPercent: 100},
			{Name: "us", TotalServers: 2, HealthyCount: 1, UnhealthyCount: 1, HealthPercent: 50},
		}},
		"GET /api/v1/domains":                 api.DomainList{Domains: domains, Total: 2, GeneratedAt: now},
		"GET /api/v1/domains/app.example.com": api.DomainDetail{Domain: shown},
		"GET /api/v1/domains/app.example.com/backends": api.DomainBackendList{Total: 2, GeneratedAt: now,
			Backends: []api.DomainBackend{
				{ID: all[0].ID, Address: all[0].Address, Port: 443, Weight: 100, Priority: 1, Region: "eu",
					Healthy: true,
					Enabled: true, LastCheck: ago(4 * time.Second)},
				{ID: unhealthy.ID, Address: unhealthy.Address, Port: 443, Weight: 100, Priority: 2, Region: "us",
					Enabled: true, LastCheck: ago(2 * time.Second), WeightOverride: &api.ActiveWeight{Weight: 5}},
			}},
		"GET /api/v1/overwatch/backends":                         one(all...),
		"GET /api/v1/overwatch/backends?status=unhealthy":        one(unhealthy),
		"GET /api/v1/overwatch/backends?status=stale":            one(stale),
		"GET /api/v1/overwatch/backends?service=www.example.com": one(stale),
		"GET /api/v1/overwatch/stats": api.Stats{
			ClusterName:   "emea",
			TotalBackends: 4, HealthyBackends: 2, ServingBackends: 2, UnhealthyBackends: 1, StaleBackends: 1,
			DrainingBackends:  1,
			ValidationEnabled: true, ValidatedBackends: 4, ActiveAgents: 2, UniqueServices: 2,
			BackendsByService: map[string]int{"app.example.com": 3, "www.example.com": 1},
			BackendsByRegion:  map[string]int{"eu": 2, "us": 2}, GeneratedAt: now,
		},
		"POST /api/v1/overwatch/validate": api.ValidationRun{Checked: 2, Results: []api.ValidationResult{
			{Service: "app.example.com", Address: "192.0.2.10", Port: 443, Healthy: true, LatencyMS: 2.125},
			{Service: "app.example.com", Address: "198.51.100.20", Port: 443, LatencyMS: 0.5,
				Error: pointer("connection refused")},
		}},
		"GET /api/v1/overwatch/agents": api.AgentList{Agents: agents, Total: 3, Revoked: 1, Expiring: 1,
			GeneratedAt: now},
		"GET /api/v1/overwatch/agents/eu-1":     agents[0],
		"GET /api/v1/overwatch/agents/lab-7":    agents[1],
		"GET /api/v1/overwatch/agents/expiring": api.ExpiringAgents{Expiring: agents[2:], Count: 1, ThresholdDays: 30},
		"DELETE /api/v1/overwatch/agents/eu-1": api.Outcome{Success: true,
			Message: "the pin of eu-1 is deleted: it must prove its service token again"},
		"POST /api/v1/overwatch/agents/eu-1/revoke": api.Revocation{Success: true,
			Message:  "eu-1 is revoked: its reports are ignored",
			Services: []string{"app.example.com"}, Next: []string{"make a new token", "give it to the other agents"}},
		"DELETE /api/v1/overwatch/agents": api.Unpinned{Unpinned: []string{"eu-7", "eu-8"}},
		"DELETE /api/v1/overwatch/locks/app.example.com": api.Outcome{Success: true,
			Message: "the token of app.example.com admits new agents again"},
		"GET /api/v1/overwatch/locks": api.TokenLockList{Total: 2, GeneratedAt: now, Locks: []api.TokenLock{
			{Service: "app.example.com", AgentID: "eu-9", Reason: "laptop lost", LockedAt: now.Add(-2 * time.Hour)},
			{Service: "www.example.com", AgentID: "eu-9", Reason: "laptop lost", LockedAt: now.Add(-2 * time.Hour),
				AdmitsNew: true},
		}},
		"GET /api/v1/overwatch/failbacks": api.FailbackList{Total: 2, GeneratedAt: now, Failbacks: []api.PendingFailback{
			{Domain: "app.example.com", Region: "eu", Failback: model.Failback{Manual: true}, Since: now.Add(-time.Hour),
				Serving: 2, Required: 1, CanServeSince: ago(10 * time.Minute)},
			{Domain: "www.example.com", Region: "us", Failback: model.Failback{After: settings.Duration(time.Hour)},
				Since: now.Add(-2 * time.Hour), Required: 2}}},
		"POST /api/v1/domains/app.example.com/failback": api.FailbackDone{Success: true,
			Message: "the clients of eu return in the answers for app.example.com", Returned: []string{"eu"},
			Pending: []api.PendingFailback{}},
		"GET /api/v1/overwatch/brakes": api.BrakeList{Total: 2, GeneratedAt: now, Brakes: []api.Brake{{
			Service: "app.example.com", Concern: api.BrakeUnhealthy, Since: now.Add(-2 * time.Minute),
			Until: now.Add(8 * time.Minute), Backends: []string{"app.example.com:192.0.2.10:443"}},
			{Region: "eu", Agent: "eu-1", Concern: api.BrakeUnhealthy, Since: now.Add(-time.Hour),
				Backends: []string{"www.example.com:192.0.2.10:443"}}}},
		"DELETE /api/v1/overwatch/brakes/eu?scope=region": api.Outcome{Success: true,
			Message: "the agents of region eu are no longer held"},
		"DELETE /api/v1/overwatch/brakes/app.example.com": api.Outcome{Success: true,
			Message: "the agents of app.example.com are no longer held"},
		"GET /api/v1/overrides": api.OverrideList{Overrides: []api.Override{override},
			Total: 1, GeneratedAt: now},
		"POST /api/v1/audit-logs/last/undo?dry_run=true": api.Undone{Success: true, Entry: 7, At: now, Action: "drain",
			Resource: "server", ResourceID: "y"},
		"POST /api/v1/audit-logs/7/undo": api.Undone{Success: true,
			Message: "the drain of server y is undone"},
		"GET /api/v1/overwatch/orders":                                            fakeOrders(),
		"PUT /api/v1/overwatch/backends/app.example.com/192.0.2.10/443/weight":    fakeOrders().Orders[1],
		"DELETE /api/v1/overwatch/backends/app.example.com/192.0.2.10/443/weight": struct{}{},
		"PUT /api/v1/overrides/app.example.com/192.0.2.11:443":                    override,
		"DELETE /api/v1/overrides/app.example.com/192.0.2.11:443":                 struct{}{},
	})
	return answers
}

func fakeBackends() (healthy []api.Backend, unhealthy api.Backend) {
	b := api.Backend{
		ID: "app.example.com:192.0.2.10:443", Service: "app.example.com", Address: "192.0.2.10", Port: 443,
		AgentID: "eu-1",
		Region:  "eu", Weight: 100, Share: 1,
		EffectiveStatus: api.EffectiveHealthy, MayServe: true,
		Reason:       "the agent reports healthy and own checks succeed",
		AgentHealthy: pointer(true), AgentLastSeen: ago(4 * time.Second), ValidationHealthy: pointer(true),
		ValidationLastCheck: ago(11 * time.Second), ValidationLatencyMS: pointer(2.125),
	}
	second, down := b, b
	second.ID, second.Address, second.Weight, second.Draining, second.Share = "app.example.com:192.0.2.11:443",
		"192.0.2.11", 50, true, 0.25
	down.ID, down.Address, down.AgentID, down.Region = "app.example.com:198.51.100.20:443", "198.51.100.20", "us-1",
		"us"
	down.EffectiveStatus, down.MayServe, down.Reason = api.EffectiveUnhealthy, false, "the agent reports unhealthy"
	down.AgentHealthy, down.AgentLastSeen = pointer(false), ago(2*time.Second)
	down.ValidationHealthy, down.ValidationError, down.ValidationLatencyMS = pointer(false),
		pointer("connection refused"),
		pointer(0.5)
	return []api.Backend{b, second}, down
}

func fakeServers(backends []api.Backend, started time.Time) api.ServerList {
	list := api.ServerList{Total: len(backends), GeneratedAt: now}
	for _, b := range backends {
		list.Servers = append(list.Servers, api.Server{
			ID: b.ID, Service: b.Service, Address: b.Address, Port: b.Port, Weight: b.Weight, Region: b.Region,
			Source:          api.SourceAgent,
			EffectiveStatus: b.EffectiveStatus, AgentHealthy: b.AgentHealthy, Draining: b.Draining, CreatedAt: started,
			UpdatedAt: started.Add(time.Hour),
		})
	}
	target := func(name string) model.Server {
		return model.Server{Service: "app.example.com", Target: name, Port: 443, Weight: 100, Region: "eu",
			Meta: model.Meta{CreatedAt: started, UpdatedAt: started.Add(time.Hour)}}
	}
	list.Targets = []api.ServerTarget{{ID: "app.example.com:lb.example.net:443", Server: target("lb.example.net"),
		Addresses: []string{"192.0.2.10", "192.0.2.11"}},
		{ID: "app.example.com:gone.example.net:443", Server: target("gone.example.net"), Addresses: []string{},
			Problem: "it is not resolved: no such name"}}
	return list
}

func fakeAgents() []api.Agent {
	const fingerprint = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	return []api.Agent{
		{AgentID: "eu-1", Fingerprint: fingerprint, Region: "eu", Services: []string{"app.example.com"},
			Version:   "1.2.3",
			FirstSeen: now.Add(-40 * 24 * time.Hour), LastSeen: ago(4 * time.Second),
			NotAfter: now.Add(325 * 24 * time.Hour), ExpiresInHours: 7800, Backends: 2},
		{AgentID: "lab-7", Fingerprint: fingerprint, Region: "eu", Services: []string{}, Version: "1.2.2",
			FirstSeen: now.Add(-100 * 24 * time.Hour), LastSeen: ago(27 * time.Hour), LeftAt: ago(27 * time.Hour),
			NotAfter: now.Add(265 * 24 * time.Hour), ExpiresInHours: 6360, Revoked: true,
			RevokedAt:     ago(26 * time.Hour),
			RevokedReason: "laptop lost"},
		{AgentID: "us-1", Fingerprint: fingerprint, Region: "us", Services: []string{"app.example.com",
			"www.example.com"},
			Version: "1.2.3", FirstSeen: now.Add(-353 * 24 * time.Hour), LastSeen: ago(2 * time.Second),
			NotAfter: now.Add(12 * 24 * time.Hour), ExpiresInHours: 288, Backends: 2,
			Problems: []string{"backend www.example.com:127.0.0.2:80 of agent us-1 is refused: loopback"}},
	}
}

// fakeOrders returns one admin state of each kind; the drain is planned.
func fakeOrders() api.OrderList {
	in := func(d time.Duration) *time.Time { return pointer(now.Add(d)) }
	return api.OrderList{Total: 3, GeneratedAt: now, Orders: []api.Order{
		{Kind: api.OrderOverride, Service: "app.example.com", Address: "192.0.2.11", Healthy: pointer(false),
			Reason: "kernel update", Source: "gslbctl", CreatedAt: now, CreatedBy: "127.0.0.1", InForce: true},
		{Kind: api.OrderWeight, Service: "app.example.com", Address: "192.0.2.10:443", Weight: pointer(7),
			Reason: "warming up", Source: "gslbctl", CreatedAt: now, CreatedBy: "ops", ExpiresAt: in(time.Hour),
			InForce: true},
		{Kind: api.OrderDrain, Service: "app.example.com", Address: "192.0.2.10:443", Share: pointer(0.25),
			Duration: "30s",
			Source:   "api", CreatedAt: now, CreatedBy: "ops", StartsAt: in(time.Hour), ExpiresAt: in(2 * time.Hour)},
	}}
}

// fakeConditions returns one condition of each severity except the worst.
func fakeConditions() (list api.ConditionList) {
	list.Status, list.GeneratedAt = api.ServiceDegraded, now
	list.Conditions = []api.Condition{
		{Kind: api.BackendUnwell, Severity: api.SeverityDegraded,
			Sentence: "app.example.com:198.51.100.20:443 in us is unhealthy: the agent reports unhealthy: connection refused",
			Command:  "gslbctl backends list --service app.example.com"},
		{Kind: api.DrainInForce, Severity: api.SeverityAttention,
			Sentence: "app.example.com:192.0.2.10:443 is drained since 2026-01-02T02:00:00Z",
			Command:  "gslbctl undrain app.example.com:192.0.2.10:443"},
		{Kind: api.CertificateEnds, Severity: api.SeverityAttention,
			Sentence: "the certificate of us-1 ends 2026-01-14T03:04:05Z: renew and unpin it",
			Command:  "gslbctl agents expiring"},
	}
	list.Total = len(list.Conditions)
	return list
}

// fakeForce returns a rollover that continues without a node.
func fakeForce() api.RollForce {
	return api.RollForce{Zone: "example.com.", Way: api.RollToKey, Stage: api.RollOffered, Risk: "it breaks this",
		Without: []api.RollSilent{{Peer: "http://192.0.2.3:8080", Reason: "nothing listens there"}}}
}

// fakeWay returns a zone that goes unsigned.
func fakeWay() api.Roll {
	return api.Roll{Zone: "example.com.", Way: api.RollToUnsigned, Stage: api.RollOffered, Since: now.Add(-time.Minute),
		StartedAt: now.Add(-time.Minute), StartedBy: "ow-1", OldKeys: []int{},
		WaitsFor: pointer("the parent has the DS record of key 34505 still: take it out there"),
		Schedule: []api.RollStep{{Stage: api.RollUnsigned, NotBefore: now.Add(26 * time.Hour),
			WaitsFor: pointer("the parent to have no DS record")}, {Stage: api.RollDone,
			NotBefore: now.Add(28 * time.Hour)}},
		Advice: []api.RollAdvice{
			{Act: api.RollReplaceDS, Reason: pointer("the nodes are about to answer unsigned")},
			{Act: api.RollRemoveDS, Safe: true}, {Act: api.RollCancel, Safe: true}}}
}

func fakeRoll() api.Roll {
	return api.Roll{Zone: "example.com.", Way: api.RollToKey, Stage: api.RollPublished, Since: now.Add(-time.Minute),
		StartedAt: now.Add(-time.Minute), StartedBy: "ow-1", KeyTag: 23456, OldKeys: []int{34505},
		DSRecord:   "example.com. IN DS 23456 13 2 0F1E",
		WaitsFor:   pointer("DNSKEY records without the new key to leave caches"),
		WaitsUntil: pointer(now.Add(time.Hour)),
		Schedule: []api.RollStep{{Stage: api.RollOffered, NotBefore: now.Add(time.Hour)},
			{Stage: api.RollAlone, NotBefore: now.Add(26 * time.Hour),
				WaitsFor: pointer("the parent to have the new DS record and no other")},
			{Stage: api.RollDone, NotBefore: now.Add(28 * time.Hour)}},
		Advice: []api.RollAdvice{
			{Act: api.RollReplaceDS, Until: pointer(now.Add(time.Hour)),
				Reason: pointer("resolvers that hold DNSKEY records without the new key find none that the new DS record is of")},
			{Act: api.RollRemoveKey,
				Reason: pointer("resolvers that hold the DS record of an old key find no key that it is of")},
			{Act: api.RollCancel, Safe: true}}}
}

// fakeDomain returns a domain of the configuration with default values.
func fakeDomain(name, algorithm string, ttl, backends, healthy int) api.Domain {
	d := api.Domain{ID: name, Domain: *model.New[model.Domain](), RoutingPolicy: algorithm, Source: api.FromConfig,
		BackendCount: backends, HealthyBackends: healthy,
		ServingBackends: healthy, RequiredBackends: 1, AnswerStatus: api.AnswersNormal}
	d.Name, d.RoutingAlgorithm, d.TTL, d.Regions, d.Tags = name, algorithm, ttl, []string{}, []string{}
	d.CreatedAt = now.Add(-51 * time.Hour)
	d.UpdatedAt = d.CreatedAt
	return d
}

func fakeToken() api.Token {
	return api.Token{Token: model.Token{Name: "external-dns", Type: "bearer", Role: "admin", CreatedBy: "alice",
		Scope: model.TokenScope{Zones: []string{"apps.example.com"}, Owners: []string{"shop"}}}, Status: api.TokenValid}
}
