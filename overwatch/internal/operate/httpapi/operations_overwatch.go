package httpapi

import (
	"net/http"
	"time"

	"gslb.internal/shared/api"
)

func overwatchOperations() []Operation {
	one, agent := api.Backend{
		ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, AgentID: "eu-west-host-1",
		Region: "eu-west", Weight: 100, Share: 1,
		EffectiveStatus: api.EffectiveHealthy, MayServe: true, Reason: "the agent and this node's own checks say healthy",
		AgentHealthy:  new(true),
		AgentLastSeen: new(at()), ValidationHealthy: new(true), ValidationLastCheck: new(at()), ValidationLatencyMS: new(1.8),
	}, api.Agent{
		AgentID: "eu-west-host-1", Fingerprint: "sha256:0f1e2d3c", Region: "eu-west", Services: []string{"app.example.com"},
		Version:   "1.2.0",
		FirstSeen: at(), LastSeen: new(at()), NotAfter: at().AddDate(1, 0, 0), ExpiresInHours: 8760, Backends: 2,
		Problems: []string{},
	}
	backend, record := v1+"/overwatch/backends/{service}/{address}/{port}", v1+"/overrides/{service}/{address}"
	order := api.OverrideRequest{Healthy: new(false), Reason: "maintenance", ExpiresIn: "30m"}
	told := []string{"healthy", "reason"}
	override := api.Override{Service: "app.example.com", Address: "192.0.2.1:80", Reason: "maintenance", Source: "api",
		CreatedAt: at(), CreatedBy: "127.0.0.1", ExpiresAt: new(at().Add(30 * time.Minute)), InForce: true}
	weight := api.Order{Kind: api.OrderWeight, Service: "app.example.com", Address: "192.0.2.1:80", Weight: new(10),
		Reason: "new kernel", Source: "api", CreatedAt: at(), CreatedBy: "127.0.0.1", ExpiresAt: new(at().Add(time.Hour)),
		InForce: true}
	other := api.WeightRequest{Weight: new(10), Reason: "new kernel", ExpiresIn: "1h"}
	safe, unsafe := []Parameter{ifSafeParameter()}, []int{conflict, noStore}
	return []Operation{
		{Method: get, Path: v1 + "/overwatch/backends", handle: (*Server).listBackends,
			Summary: "Both verdicts on each backend, and the conclusion", Status: 200,
			Query: paged(text("service", "only of this service", nil), text("region", "only of this region", nil),
				word("status", "only of this effective status", api.EffectiveStatuses())),
			Answer: api.BackendList{Backends: []api.Backend{one}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: backend, handle: (*Server).getBackend, Summary: "One backend", Status: 200, Answer: one},
		{Method: post, Path: backend + "/override", Changes: KindOverride,
			handle: (*Server).postBackendOverride, Header: conditionsOf(true),
			Role:    api.RoleOperate,
			Summary: "Say by hand whether a backend works", Body: order, Required: told, Status: 200,
			Query:  orderParameters(),
			Answer: api.Outcome{Success: true, Message: "app.example.com/192.0.2.1:80 is unhealthy by override"},
			Errors: unsafe},
		{Method: del, Path: backend + "/override", Changes: KindOverride,
			handle: (*Server).deleteBackendOverride, Header: conditionsOf(false),
			Role:    api.RoleOperate,
			Summary: "Take an override away", Status: 200,
			Answer: api.Outcome{Success: true, Message: "the override of app.example.com/192.0.2.1:80 is gone"},
			Errors: []int{noStore}},
		{Method: put, Path: backend + "/weight", Changes: KindWeight,
			handle: decoded((*Server).putWeight), Header: conditionsOf(true),
			Role: api.RoleOperate, Summary: "Give a backend another weight",
			Description: "In the place of the declared one, whoever declares it. A backend of weight 0 serves only where no " +
				"other may. It is on disk when the call returns, and ends by itself where expires_in says so, " +
				"counted from starts_at or from now.",
			Body: other, Required: []string{"weight", "reason"}, Status: 200, Query: orderParameters(), Answer: weight,
			Errors: unsafeChangeErrors},
		{Method: patch, Path: backend + "/weight", Changes: KindWeight,
			handle: decoded((*Server).putWeight), Header: conditionsOf(false),
			Role: api.RoleOperate, Summary: "Change an operator's weight", Description: "What is left out stays.", Body: other,
			Status: 200, Query: safe, Answer: weight, Errors: unsafeChangeErrors},
		{Method: del, Path: backend + "/weight", Changes: KindWeight,
			handle: (*Server).deleteWeight, Header: conditionsOf(false),
			Role: api.RoleOperate, Summary: "Give a backend its declared weight back", Status: 204,
			Errors: changeErrors},
		{Method: get, Path: v1 + "/overwatch/orders", handle: (*Server).listAdminStates,
			Summary:     "What operators have ordered",
			Description: "Overrides, weights and drains, in force and planned.", Status: 200,
			Query:  paged(word("kind", "only of this kind", api.OrderKinds())),
			Answer: api.OrderList{Orders: []api.Order{weight}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/overwatch/conditions", handle: (*Server).listConditions, Query: paged(),
			Summary: "What holds and may need somebody, the worst first", Status: 200,
			Answer: api.ConditionList{Status: api.ServiceHealthy, Conditions: []api.Condition{{Kind: api.DrainInForce,
				Severity: api.SeverityAttention, Sentence: exampleServer + " is drained since 2026-03-01T12:00:00Z",
				Command: "gslbctl undrain " + exampleServer}}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/overwatch/stats", handle: (*Server).getStats, Query: none, Summary: "Counts", Status: 200,
			Answer: api.Stats{ClusterName: "emea", TotalBackends: 4, HealthyBackends: 3, UnhealthyBackends: 1,
				ValidationEnabled: true,
				ValidatedBackends: 4, ActiveAgents: 2, UniqueServices: 1,
				BackendsByService: map[string]int{"app.example.com": 4}, BackendsByRegion: map[string]int{"eu-west": 4},
				GeneratedAt: at()}},
		{Method: post, Path: v1 + "/overwatch/validate", handle: (*Server).postValidate, Role: api.RoleOperate,
			Summary: "Check backends now and wait for the results", Status: 200,
			Query: []Parameter{text("service", "only of this service", nil), text("address", "only at this address", nil),
				number("port", "only on this port", 1, 65535, 0)},
			Answer: api.ValidationRun{Results: []api.ValidationResult{
				{Service: "app.example.com", Address: "192.0.2.1", Port: 80, LatencyMS: 2000, Error: new("connection refused")},
			}, Checked: 1}, Errors: []int{nothing, http.StatusNotFound}},
		{Method: get, Path: v1 + "/overwatch/agents", handle: (*Server).listAgents, Summary: "Pinned agents", Query: paged(),
			Status: 200,
			Answer: api.AgentList{Agents: []api.Agent{agent}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/overwatch/agents/expiring", handle: (*Server).listExpiringAgents,
			Summary: "Agents whose certificate ends soon", Status: 200,
			Query:  []Parameter{number("threshold_days", "how soon", 0, api.MaxExpiringDays, api.DefaultExpiringDays)},
			Answer: api.ExpiringAgents{Expiring: []api.Agent{agent}, Count: 1, ThresholdDays: api.DefaultExpiringDays}},
		{Method: get, Path: v1 + "/overwatch/agents/{agent_id}", handle: (*Server).getAgent, Summary: "One pinned agent",
			Status: 200, Answer: agent},
		{Method: del, Path: v1 + "/overwatch/agents/{agent_id}", Changes: KindRevocation, handle: (*Server).deleteAgent,
			Summary:     "Delete the pin of an agent",
			Description: "It must prove its service token again. What it reported is forgotten.", Status: 200,
			Answer: api.Outcome{Success: true,
				Message: "the pin of eu-west-host-1 is deleted: it must prove its service token again"},
			Query: safe, Errors: unsafe},
		{Method: post, Path: v1 + "/overwatch/agents/{agent_id}/revoke", Changes: KindRevocation,
			handle: decoded((*Server).postRevokeAgent),
			Role:   api.RoleOperate, Summary: "Refuse an agent from now on",
			Body:        api.RevokeRequest{Reason: "its key was stolen"},
			Required:    []string{"reason"},
			Description: "With lock_service the tokens of its services admit no new agents until they are changed.",
			Status:      200, Answer: api.Revocation{Success: true,
				Message:  "eu-west-host-1 is revoked: nothing that it says counts any more",
				Services: []string{"app.example.com"}, Locked: []string{"app.example.com"}, Next: []string{"make a new token"}},
			Query: safe, Errors: unsafe},
		{Method: get, Path: v1 + "/overrides", handle: (*Server).listOverrides,
			Summary: "Overrides in force and planned", Query: paged(), Status: 200,
			Answer: api.OverrideList{Overrides: []api.Override{override}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: record, handle: (*Server).getOverride, Summary: "One override", Status: 200, Answer: override},
		{Method: put, Path: record, Changes: KindOverride,
			handle: (*Server).putOverride, Role: api.RoleOperate, Header: conditionsOf(true),
			Summary: "Say by hand whether a backend works", Body: order, Required: told, Status: 200, Answer: override,
			Query: orderParameters(), Errors: unsafeChangeErrors},
		{Method: patch, Path: record, Changes: KindOverride,
			handle: (*Server).putOverride, Role: api.RoleOperate, Summary: "Change an override",
			Description: "What is left out stays.", Header: conditionsOf(false), Body: order, Status: 200,
			Query: safe, Answer: override, Errors: unsafeChangeErrors},
		{Method: del, Path: record, Changes: KindOverride,
			handle: (*Server).deleteOverride, Role: api.RoleOperate, Header: conditionsOf(false),
			Summary: "Take an override away", Status: 204, Errors: changeErrors},
	}
}
