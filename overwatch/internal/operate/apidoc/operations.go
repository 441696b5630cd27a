package apidoc

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/api"
)

// Short names for the tables.
const (
	get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete

	v1 = "/api/v1"

	conflict = http.StatusConflict
	noStore  = http.StatusInsufficientStorage
	nothing  = http.StatusNotImplemented
	busy     = http.StatusServiceUnavailable
)

// operations is the table of all operations.
func operations() []operation {
	return slices.Concat(serviceOperations(), serverOperations(), domainOperations(), overwatchOperations(), nodeOperations(),
		geoOperations(), regionOperations(), sectionOperations(), dnssecOperations(), auditOperations(), metricsOperations(), configOperations(), routingOperations())
}

// at is the moment of the examples.
func at() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }

// of points to a value.
func of[T any](v T) *T { return &v }

func serviceOperations() []operation {
	down := "no cycle of health checks has completed yet"
	return []operation{
		{method: get, path: "/api/health", summary: "How the service does", status: 200,
			answer: api.Health{Status: api.ServiceHealthy, Version: "1.2.0", UptimeSeconds: 86400, Timestamp: at()}},
		{method: get, path: v1 + "/ready", summary: "Whether the node may get queries", status: 200,
			answer: api.Readiness{Ready: true, DNSReady: true, HealthReady: true},
			also:   map[int]any{busy: api.Readiness{DNSReady: true, Message: down}}},
		{method: get, path: v1 + "/live", summary: "Whether the process runs", status: 200, answer: api.Liveness{Alive: true}},
		{method: get, path: v1 + "/version", summary: "What runs", status: 200,
			answer: api.Version{Version: "1.2.0", GoVersion: "go1.26.0", GitCommit: "0123456", BuildDate: "2026-01-01T00:00:00Z"}},
		{method: get, path: v1 + "/health/servers", summary: "Health of each server", query: paged(), status: 200,
			answer: api.ServerHealthList{Servers: []api.ServerHealth{{
				ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, Region: "eu-west", Healthy: true,
				Status: api.CheckHealthy, LastCheck: of(at()), LastHealthy: of(at()), ConsecutiveSuccesses: 12,
			}}, Total: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/health/regions", summary: "Health of each region", status: 200,
			answer: api.RegionHealthList{Regions: []api.RegionHealth{{Name: "eu-west", TotalServers: 4, HealthyCount: 3, UnhealthyCount: 1, HealthPercent: 75}}, Total: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/openapi.json", summary: "This document", status: 200, answer: map[string]any{}},
		{method: get, path: "/api/docs", summary: "This document as a page", status: 200, files: []string{"text/html"}},
		{method: get, path: "/api/docs/docs.js", summary: "The program of the page", status: 200, files: []string{"text/javascript"}},
		{method: get, path: "/api/docs/docs.css", summary: "The style of the page", status: 200, files: []string{"text/css"}},
	}
}

func serverOperations() []operation {
	server := v1 + "/servers/{id}"
	one := api.Server{
		ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, Weight: 100, Region: "eu-west", Source: api.SourceAPI,
		EffectiveStatus: api.EffectiveHealthy, CreatedAt: at(), UpdatedAt: at(),
	}
	checked := api.ServerHealthCheck{ServerID: exampleServer, HealthCheck: api.HealthCheck{
		Enabled: true, Type: "http", Path: "/healthz", Interval: "5s", Timeout: "2s", HealthyThreshold: 2, UnhealthyThreshold: 3, ExpectedStatus: "200",
	}}
	change := api.HealthCheckChange{Type: of("http"), Path: of("/healthz"), Interval: of("5s"), Timeout: of("2s")}
	return []operation{
		{method: get, path: v1 + "/servers", summary: "Servers of all sources", query: paged(), status: 200,
			answer: api.ServerList{Servers: []api.Server{one}, Total: 1, GeneratedAt: at()}},
		{method: post, path: v1 + "/servers", summary: "Register a server", description: "Its service must be a configured domain. 400 if it exists already.",
			body:     api.ServerCreate{Service: "app.example.com", Address: "192.0.2.1", Port: 80, Weight: of(100), Region: "eu-west"},
			required: []string{"service", "address", "port", "region"}, status: 201, answer: api.Named{Message: "server created", ID: exampleServer}, errors: []int{noStore}},
		{method: get, path: server, summary: "One server", status: 200, answer: one},
		{method: patch, path: server, header: conditionsOf(false), summary: "Change weight or region", description: "Only of a server that the API has created.",
			body: api.ServerPatch{Weight: of(50)}, status: 200, answer: api.Named{Message: "server changed", ID: exampleServer}, errors: changes},
		{method: del, path: server, header: conditionsOf(false), summary: "Delete a server", description: "Only one that the API has created.", status: 204, errors: changes},
		{method: get, path: server + "/health-check", summary: "How the node checks a server", status: 200, answer: checked},
		{method: put, path: server + "/health-check", header: conditionsOf(false), summary: "Set how the node checks a server", description: "What is left out takes its default. It counts from the next check on. A server that was never given interval or timeout has those of /config/health-check.",
			body: change, status: 200, answer: checked, errors: changes},
		{method: patch, path: server + "/health-check", header: conditionsOf(false), summary: "Change how the node checks a server", description: "What is left out stays.",
			body: change, status: 200, answer: checked, errors: changes},
		{method: post, path: server + "/drain", summary: "Lower the traffic of a server to nothing", body: api.DrainRequest{Duration: "2m"}, optional: true,
			status: 202, answer: api.Drain{Draining: true, DrainEndsAt: of(at())}},
		{method: del, path: server + "/drain", summary: "Give a server its traffic back", status: 200, answer: api.Drain{}},
	}
}

func domainOperations() []operation {
	domain := v1 + "/domains/{name}"
	one := api.Domain{
		ID: "app.example.com", Name: "app.example.com", TTL: 30, RoutingPolicy: "weighted", DNSSECEnabled: true, Enabled: true,
		Description: "the shop", Tags: []string{}, BackendCount: 4, HealthyBackends: 3, CreatedAt: at(), UpdatedAt: at(),
	}
	full := one
	full.Settings = &api.DomainSettings{FailoverThreshold: 1, LoadBalancingMethod: "weighted"}
	change := api.DomainChange{TTL: of(60), Enabled: of(true)}
	return []operation{
		{method: get, path: v1 + "/domains", summary: "The names that are steered", query: paged(), status: 200,
			answer: api.DomainList{Domains: []api.Domain{one}, Total: 1, GeneratedAt: at()}},
		{method: post, path: v1 + "/domains", summary: "Have a name answered",
			body:   api.DomainChange{Name: "app.example.com", TTL: of(30), RoutingPolicy: of("weighted"), Regions: &[]string{"eu-west"}},
			status: 201, answer: api.DomainDetail{Domain: full}, errors: []int{conflict, noStore}},
		{method: get, path: domain, summary: "One domain", status: 200, answer: api.DomainDetail{Domain: full}},
		{method: put, path: domain, header: conditionsOf(false), summary: "Change a domain", description: "Only one that the API has created; what is left out stays.",
			body: change, status: 200, answer: api.DomainDetail{Domain: full}, errors: changes},
		{method: patch, path: domain, header: conditionsOf(false), summary: "Change a domain", description: "The same as PUT.",
			body: change, status: 200, answer: api.DomainDetail{Domain: full}, errors: changes},
		{method: del, path: domain, header: conditionsOf(false), summary: "Answer a name no more", description: "Only one that the API has created. Its backends stay known.", status: 204, errors: changes},
		{method: get, path: domain + "/backends", summary: "The backends of a domain", query: paged(), status: 200,
			answer: api.DomainBackendList{Backends: []api.DomainBackend{{
				ID: exampleServer, Address: "192.0.2.1", Port: 80, Weight: 100, Priority: 1, Region: "eu-west", Healthy: true, Enabled: true, LastCheck: of(at()),
			}}, Total: 1, GeneratedAt: at()}},
		{method: post, path: domain + "/backends", summary: "Add a backend to a domain", description: "400 if the domain is unknown or the backend exists.",
			body:     api.DomainBackendCreate{Address: "192.0.2.1", Port: 80, Weight: of(1)},
			required: []string{"address", "port"}, status: 201, answer: api.Named{Message: "server created", ID: exampleServer}, errors: []int{noStore}},
		{method: del, path: domain + "/backends/{id}", summary: "Take a backend out of a domain", description: "Only one that the API has created.", status: 204, errors: []int{noStore}},
	}
}

func overwatchOperations() []operation {
	one, agent := api.Backend{
		ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, AgentID: "eu-west-host-1", Region: "eu-west", Weight: 100, Share: 1,
		EffectiveStatus: api.EffectiveHealthy, MayServe: true, Reason: "the agent and this node's own checks say healthy", AgentHealthy: of(true),
		AgentLastSeen: of(at()), ValidationHealthy: of(true), ValidationLastCheck: of(at()), ValidationLatencyMS: of(1.8),
	}, api.Agent{
		AgentID: "eu-west-host-1", Fingerprint: "sha256:0f1e2d3c", Region: "eu-west", Services: []string{"app.example.com"}, Version: "1.2.0",
		FirstSeen: at(), LastSeen: of(at()), NotAfter: at().AddDate(1, 0, 0), ExpiresInHours: 8760, Backends: 2,
	}
	backend, record := v1+"/overwatch/backends/{service}/{address}/{port}", v1+"/overrides/{service}/{address}"
	order := api.OverrideRequest{Healthy: of(false), Reason: "maintenance", ExpiresIn: "30m"}
	told := []string{"healthy", "reason"}
	override := api.Override{Service: "app.example.com", Address: "192.0.2.1:80", Reason: "maintenance", Source: "api", CreatedAt: at(), CreatedBy: "127.0.0.1", ExpiresAt: of(at().Add(30 * time.Minute))}
	return []operation{
		{method: get, path: v1 + "/overwatch/backends", summary: "Both verdicts on each backend, and the conclusion", status: 200,
			query: paged(text("service", "only of this service", nil), text("region", "only of this region", nil),
				word("status", "only of this effective status", api.EffectiveStatuses())),
			answer: api.BackendList{Backends: []api.Backend{one}, Total: 1, GeneratedAt: at()}},
		{method: get, path: backend, summary: "One backend", status: 200, answer: one},
		{method: post, path: backend + "/override", summary: "Say by hand whether a backend works", body: order, required: told, status: 200,
			answer: api.Outcome{Success: true, Message: "app.example.com/192.0.2.1:80 is unhealthy by override"}, errors: []int{noStore}},
		{method: del, path: backend + "/override", summary: "Take an override away", status: 200,
			answer: api.Outcome{Success: true, Message: "the override of app.example.com/192.0.2.1:80 is gone"}, errors: []int{noStore}},
		{method: get, path: v1 + "/overwatch/stats", summary: "Counts", status: 200,
			answer: api.Stats{TotalBackends: 4, HealthyBackends: 3, UnhealthyBackends: 1, ValidationEnabled: true, ValidatedBackends: 4, ActiveAgents: 2, UniqueServices: 1,
				BackendsByService: map[string]int{"app.example.com": 4}, BackendsByRegion: map[string]int{"eu-west": 4}, GeneratedAt: at()}},
		{method: post, path: v1 + "/overwatch/validate", summary: "Check backends now and wait for the results", status: 200,
			query: []parameter{text("service", "only of this service", nil), text("address", "only at this address", nil), number("port", "only on this port", 1, 65535, 0)},
			answer: api.ValidationRun{Results: []api.ValidationResult{
				{Service: "app.example.com", Address: "192.0.2.1", Port: 80, LatencyMS: 2000, Error: of("connection refused")},
			}, Checked: 1}, errors: []int{nothing, http.StatusNotFound}},
		{method: get, path: v1 + "/overwatch/agents", summary: "Pinned agents", query: paged(), status: 200,
			answer: api.AgentList{Agents: []api.Agent{agent}, Total: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/overwatch/agents/expiring", summary: "Agents whose certificate ends soon", status: 200,
			query:  []parameter{number("threshold_days", "how soon", 0, api.MaxExpiringDays, api.DefaultExpiringDays)},
			answer: api.ExpiringAgents{Expiring: []api.Agent{agent}, Count: 1, ThresholdDays: api.DefaultExpiringDays}},
		{method: get, path: v1 + "/overwatch/agents/{agent_id}", summary: "One pinned agent", status: 200, answer: agent},
		{method: del, path: v1 + "/overwatch/agents/{agent_id}", summary: "Delete the pin of an agent", description: "It must prove its service token again. What it reported is forgotten.", status: 200,
			answer: api.Outcome{Success: true, Message: "the pin of eu-west-host-1 is deleted: it must prove its service token again"}, errors: []int{noStore}},
		{method: post, path: v1 + "/overwatch/agents/{agent_id}/revoke", summary: "Refuse an agent from now on", body: api.RevokeRequest{Reason: "its key was stolen"}, required: []string{"reason"},
			status: 200, answer: api.Outcome{Success: true, Message: "eu-west-host-1 is revoked: nothing that it says counts any more"}, errors: []int{noStore}},
		{method: get, path: v1 + "/overrides", summary: "Overrides in force", query: paged(), status: 200,
			answer: api.OverrideList{Overrides: []api.Override{override}, Total: 1, GeneratedAt: at()}},
		{method: get, path: record, summary: "One override", status: 200, answer: override},
		{method: put, path: record, header: conditionsOf(true), summary: "Say by hand whether a backend works", body: order, required: told, status: 200, answer: override, errors: changes},
		{method: patch, path: record, summary: "Change an override", description: "What is left out stays.", header: conditionsOf(false), body: order, required: told, status: 200, answer: override, errors: changes},
		{method: del, path: record, header: conditionsOf(false), summary: "Take an override away", status: 204, errors: changes},
	}
}

func nodeOperations() []operation {
	announced := api.AgentNode{ID: "eu-west-host-2", Name: "eu-west-host-2", Region: "eu-west", Status: api.AgentPending, RegisteredAt: of(at())}
	own := api.OverwatchNode{ID: "overwatch-1", Name: "overwatch-1", Address: "192.0.2.53", Port: 53, APIPort: 8080, Region: "eu-west", Status: api.OverwatchOnline, Version: "1.2.0",
		UptimeSeconds: 3600, LastSeen: of(at()), QueriesTotal: 360_000, QueriesPerSec: 100, DNSSECEnabled: of(true), Self: true}
	certificate := v1 + "/nodes/agent/{id}/certificate"
	agent := api.AgentNode{
		ID: "eu-west-host-1", Name: "eu-west-host-1", Region: "eu-west", Status: api.AgentOnline, Version: "1.2.0", UptimeSeconds: 3600, LastSeen: of(at()),
		ChecksTotal: 720, ChecksPerSec: 0.2, ActiveChecks: 1, TargetCount: 1, CertificateExpiry: of(at().AddDate(1, 0, 0)), RegisteredAt: of(at()),
	}
	member := api.GossipNode{
		ID: "overwatch-1", Name: "overwatch-1", Address: "192.0.2.53", Port: 7946, Status: api.GossipAlive, State: api.GossipSelf, Version: "1.2.0", LastSeen: of(at()), JoinedAt: of(at()),
	}
	return []operation{
		{method: get, path: v1 + "/nodes/agent", summary: "Agents as nodes", status: 200,
			query:  paged(word("status", "only of this status", api.AgentStatuses()), text("region", "only of this region", nil)),
			answer: api.AgentNodeList{Nodes: []api.AgentNode{agent}, Total: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/nodes/agent/{id}", summary: "One agent as a node", status: 200, answer: agent},
		{method: post, path: v1 + "/nodes/agent", summary: "Announce an agent", description: "It is pending until it proves its token; announcing gives it no right.",
			body: api.AgentRegistration{Name: "eu-west-host-2", Region: "eu-west"}, required: []string{"name"}, status: 201, answer: announced, errors: []int{conflict, noStore}},
		{method: del, path: v1 + "/nodes/agent/{id}", summary: "Delete the pin and the announcement of an agent", status: 204, errors: []int{noStore}},
		{method: get, path: certificate, summary: "The certificate that is pinned for an agent", status: 200, answer: api.AgentCertificateAnswer{Certificate: api.AgentCertificate{
			AgentID: "eu-west-host-1", Serial: "4f3c", NotBefore: at(), NotAfter: at().AddDate(1, 0, 0), Fingerprint: "sha256:0f1e2d3c", Status: api.CertificateValid, IssuedAt: at(),
		}}},
		{method: post, path: certificate, summary: "Have the agent's next certificate pinned", status: 201,
			answer: api.CertificateReissue{Message: "the pin of eu-west-host-1 is deleted: give it a new certificate", Status: api.AgentPending}, errors: []int{noStore}},
		{method: del, path: certificate, summary: "Revoke the certificate of an agent", status: 204, errors: []int{noStore}},
		{method: get, path: v1 + "/nodes/overwatch", summary: "This node and its peers", status: 200,
			query:  paged(word("status", "only of this status", api.OverwatchStatuses()), text("region", "only of this region", nil)),
			answer: api.OverwatchNodeList{Nodes: []api.OverwatchNode{own}, Total: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/nodes/overwatch/{id}", summary: "This node or one of its peers", status: 200, answer: own},
		{method: get, path: v1 + "/gossip/nodes", summary: "Who takes part in gossip", status: 200,
			query:  paged(word("status", "only of this status", api.GossipStatuses()), text("region", "only of this region", nil)),
			answer: api.GossipNodeList{Nodes: []api.GossipNode{member}, Total: 1, Healthy: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/gossip/nodes/{id}", summary: "One participant", status: 200, answer: member},
		{method: post, path: v1 + "/gossip/generate-key", summary: "A new random gossip key", description: "It is in the answer and nowhere else; nothing changes.", status: 200,
			answer: api.GossipKey{Key: "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=", Algorithm: "AES-256-GCM", Bits: 256}},
	}
}

func geoOperations() []operation {
	placed := api.GeoMapping{CIDR: "198.51.100.0/24", Region: "eu-west", Comment: "the office", Source: api.GeoFromAPI}
	mapping := api.GeoMappingChange{CIDR: "198.51.100.0/24", Region: of("eu-west"), Comment: of("the office")}
	return []operation{
		{method: get, path: v1 + "/geo/mappings", summary: "Networks that are placed by hand", query: paged(), status: 200,
			answer: api.GeoMappingList{Mappings: []api.GeoMapping{{CIDR: "198.51.100.0/24", Region: "eu-west", Comment: "the office", Source: api.GeoFromConfig}}, Total: 1, GeneratedAt: at()}},
		{method: put, path: v1 + "/geo/mappings", summary: "Place a network by hand", description: "201 when it is new. Only a mapping that the API has created can be changed; the network is brought into its one form.",
			header: conditionsOf(true), body: mapping, required: []string{"cidr"}, status: 200, answer: placed, also: map[int]any{201: placed}, errors: changes},
		{method: patch, path: v1 + "/geo/mappings", summary: "Change how a network is placed", description: "What is left out stays.",
			header: conditionsOf(false), body: mapping, required: []string{"cidr"}, status: 200, answer: placed, errors: append([]int{http.StatusNotFound}, changes...)},
		{method: del, path: v1 + "/geo/mappings/{cidr}", summary: "Delete a mapping", description: "Only one that the API has created. The slash may be escaped or not.",
			header: conditionsOf(false), status: 204, errors: changes},
		{method: get, path: v1 + "/geo/test", summary: "In which region a client is, and why", query: []parameter{needed(text("ip", "the address of the client", "198.51.100.7"))}, status: 200,
			answer: api.GeoTest{IP: "198.51.100.7", Region: "eu-west", MatchType: "custom_mapping", MatchedCIDR: "198.51.100.0/24", Comment: "the office", ScopePrefix: 24}},
	}
}

func dnssecOperations() []operation {
	return []operation{
		{method: get, path: v1 + "/dnssec/status", summary: "Whether answers are signed, and with which keys", status: 200,
			answer: api.DNSSECStatus{Enabled: true, Keys: []api.DNSSECKeyUse{{KeyTag: 12345, Zone: "example.com.", Flags: 257, Algorithm: 13, CreatedAt: at(), AgeSeconds: 86400, Active: true}},
				Sync: api.DNSSECSyncState{Enabled: true, LastSync: of(at()), NextSync: of(at().Add(time.Hour)), PeerCount: 1, Peers: []api.DNSSECPeer{{
					Peer: "http://overwatch-2.example.com:8080", NodeID: "overwatch-2", OK: true, LastAttempt: of(at()), LastSuccess: of(at())}}}}},
		{method: get, path: v1 + "/dnssec/ds", summary: "Delegation signer records for the parents", status: 200,
			answer: api.DSRecords{Enabled: true, DSRecords: []api.DSRecord{{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: "0F1E2D3C", DSRecord: "example.com. IN DS 12345 13 2 0F1E2D3C"}}}},
		{method: post, path: v1 + "/dnssec/sync", summary: "Ask the other nodes for their keys now", status: 200, errors: []int{busy},
			answer: api.DNSSECSync{Synced: true, Peers: []api.DNSSECPeerSync{{Peer: "http://overwatch-2.example.com:8080", OK: true, Imported: 1}}}},
		{method: get, path: v1 + "/dnssec/keys", summary: "Public halves of the signing keys; to a node that proves itself, all of them sealed", status: 200,
			answer: api.DNSSECKeys{Enabled: true, Keys: []api.DNSSECKey{{Zone: "example.com.", KeyTag: 12345, Algorithm: 13, AlgorithmName: "ECDSAP256SHA256", Flags: 257,
				PublicKey: "mdsswUyr3DPW132mOi8V9xESWE8jTo0d", CreatedAt: at(), State: api.KeyActive, OriginNode: "overwatch-1"}}}},
	}
}

func auditOperations() []operation {
	filters := []parameter{
		moment("start_time", "not before"), moment("end_time", "not after"), text("actions", "these, with commas, of "+strings.Join(api.AuditActions(), ", "), "create,delete"),
		text("resources", "these, with commas, of "+strings.Join(api.AuditResources(), ", "), "domain"), text("actors", "these, with commas", nil),
		word("status", "only of this outcome", []string{api.AuditSuccess, api.AuditFailure}), text("search", "a text in the entry, in any case", nil),
		word("sort_order", "desc: the newest first", []string{"asc", "desc"}),
	}
	entry := api.AuditEntry{
		ID: 1, Timestamp: at(), Action: "create", Resource: "domain", ResourceID: "app.example.com", Actor: "127.0.0.1", ActorType: api.ActorUser, ActorIP: "127.0.0.1",
		Status: api.AuditSuccess, Details: map[string]string{}, DurationMs: 12.5, RequestID: "0123456789abcdef", Hash: "9f86d081",
	}
	return []operation{
		{method: get, path: v1 + "/audit-logs", summary: "Who changed what", query: paged(filters...), status: 200,
			answer: api.AuditList{Entries: []api.AuditEntry{entry}, Total: 1, Limit: 100, GeneratedAt: at()}},
		{method: get, path: v1 + "/audit-logs/{id}", summary: "One entry", status: 200, answer: api.AuditOne{Entry: entry}},
		{method: get, path: v1 + "/audit-logs/stats", summary: "Counts of the entries that are kept", status: 200,
			answer: api.AuditStatsAnswer{Stats: api.AuditStats{TotalEntries: 1, EntriesLast24h: 1, EntriesLast7d: 1, ByAction: map[string]int{"create": 1}, ByResource: map[string]int{"domain": 1},
				ByStatus: map[string]int{"success": 1}, ByActorType: map[string]int{"user": 1}, TopActors: []api.ActorCount{{Actor: "127.0.0.1", Count: 1}}, RetentionDays: 90,
				OldestEntry: of(at()), NewestEntry: of(at())}, GeneratedAt: at()}},
		{method: get, path: v1 + "/audit-logs/export", summary: "The entries as a file", status: 200, files: []string{"text/csv", "application/x-ndjson"},
			answer: api.AuditExport{Entries: []api.AuditEntry{entry}},
			query:  append(filters, word("format", "default: json", []string{"json", "csv", "ndjson"}))},
	}
}

func metricsOperations() []operation {
	times := api.ResponseTimes{AvgMS: 0.021, P50MS: 0.018, P95MS: 0.044, P99MS: 0.072, MaxMS: 0.576}
	memory, cpu := api.MemoryUse{UsedBytes: of(uint64(62_914_560)), AvailableBytes: of(uint64(6_442_450_944)), TotalBytes: of(uint64(8_589_934_592)), Percent: 0.732422}, api.CPUUse{UsedPercent: 3.5, Cores: 2}
	return []operation{
		{method: get, path: v1 + "/metrics/overview", summary: "What the node does now", description: "Rates, shares and response times are of the last minute.", status: 200,
			answer: api.OverviewAnswer{Overview: api.Overview{
				Timestamp: at(), UptimeSeconds: 86400, QueriesTotal: 8_640_000, QueriesPerSec: 100, HealthChecksTotal: 11520, HealthChecksPerSec: 0.133333,
				ActiveDomains: 1, ActiveServers: 3, HealthyServers: 3, UnhealthyServers: 1, ActiveRegions: 2, OverwatchNodes: 1, AgentNodes: 2, DNSSECEnabled: true, GossipEnabled: true,
				ResponseTimes: times, Memory: memory, CPU: cpu,
			}}},
		{method: get, path: v1 + "/metrics/history", summary: "What the node did", description: "Minutes of the last day and hours of the last thirty days, also from before a restart. " +
			"Of five minutes the percentiles are the highest of their minutes, the rest is their mean. Without duration and start_time, the last hour.", status: 200,
			query: []parameter{text("duration", "up to now, such as 1h; at most 720h", "1h"), moment("start_time", "not with duration"), moment("end_time", "default: now"),
				text("metrics", "these, with commas; default: all", "queries_per_sec,response_p99_ms"),
				word("resolution", "default: 1m up to six hours, 5m up to a day, else 1h", []string{"1m", "5m", "1h"})},
			answer: api.History{DataPoints: []api.HistoryPoint{{Timestamp: at(), Values: map[string]float64{"queries_per_sec": 100, "response_p99_ms": 0.072}}}, Total: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/metrics/nodes/{id}", summary: "What this node or an agent does", status: 200, answer: api.NodeMetricsAnswer{Metrics: api.NodeMetrics{
			NodeID: "overwatch-1", NodeType: api.NodeOverwatch, Timestamp: at(), Status: "online", UptimeSeconds: 86400, QueriesTotal: 8_640_000, QueriesPerSec: 100,
			ChecksTotal: 11520, ChecksPerSec: 0.133333, ResponseTimes: times, Memory: memory, CPU: cpu,
		}}},
		{method: get, path: v1 + "/metrics/regions/{id}", summary: "What a region does", status: 200, answer: api.RegionMetricsAnswer{Metrics: api.RegionMetrics{
			RegionID: "eu-west", Timestamp: at(), TotalServers: 4, HealthyServers: 3, QueriesTotal: of(uint64(4_320_000)), QueriesPerSec: of(50.0),
			ResponseTimes: api.ResponseTimes{AvgMS: 1.8, P50MS: 1.75, P95MS: 2.25, P99MS: 2.25, MaxMS: 2.25}, ErrorRate: 0.25, TrafficPercent: of(50.0),
		}}},
		{method: get, path: v1 + "/metrics/routing", summary: "Counts of the steered answers since the start", status: 200, answer: api.RoutingStatsAnswer{Stats: api.RoutingStats{
			Timestamp: at(), TotalDecisions: 8_640_000, ByAlgorithm: map[string]uint64{"geolocation": 8_640_000}, ByRegion: map[string]uint64{"eu-west": 8_640_000},
			ByOutcome: map[api.RoutingDecisionKind]uint64{api.RoutingSuccess: 8_600_000, api.RoutingFailover: 40_000}, GeoRoutingHits: 8_600_000, FailoverEvents: 40_000, AvgDecisionTimeUS: 0.4,
		}}},
	}
}

func configOperations() []operation {
	return []operation{
		{method: post, path: v1 + "/config/reload", summary: "Read the configuration again", description: "On any error the one before stays in force.", status: 200,
			answer: api.Reload{Reloaded: true, Changes: []string{"domains"}, RestartRequired: []string{}}},
	}
}
