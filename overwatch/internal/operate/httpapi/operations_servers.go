package httpapi

import (
	"time"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

func serverOperations() []Operation {
	server := v1 + "/servers/{id}"
	one := api.Server{
		ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, Weight: 100, Region: "eu-west",
		Source:          api.SourceAPI,
		EffectiveStatus: api.EffectiveHealthy, CreatedAt: exampleTime(), UpdatedAt: exampleTime(),
	}
	named := api.ServerTarget{ID: "app.example.com:lb.example.net:443", Addresses: []string{"192.0.2.1"},
		Server: model.Server{Service: "app.example.com", Target: "lb.example.net", Port: 443, Weight: 100,
			Region: "eu-west",
			Meta:   model.Meta{CreatedAt: exampleTime(), UpdatedAt: exampleTime()}}}
	checked := api.ServerHealthCheck{ServerID: exampleServer,
		HealthCheck: api.HealthCheck{HealthCheck: model.HealthCheck{
			Enabled: new(true), Type: "http", Path: "/healthz", Interval: settings.Duration(5 * time.Second),
			Timeout: settings.Duration(2 * time.Second), SuccessThreshold: 2, FailureThreshold: 3, ExpectedStatus: "200",
		}}}
	change := api.HealthCheckChange{"type": "http", "path": "/healthz", "interval": "5s", "timeout": "2s"}
	safe := []Parameter{ifSafeParameter()}
	return []Operation{
		{Method: get, Path: v1 + "/servers", handle: (*Server).listServers, Summary: "List servers of all sources",
			Query:  paged(),
			Status: 200,
			Answer: api.ServerList{Servers: []api.Server{one}, Total: 1, GeneratedAt: exampleTime(),
				Targets: []api.ServerTarget{named}}},
		{Method: post, Path: v1 + "/servers", Changes: KindServer,
			handle: decoded((*Server).postServer), Summary: "Create a server",
			Description: "The service must be a configured domain. The status is 400 if the server exists. agent is the only " +
				"agent that can make the server unhealthy while own checks succeed. With a host name as target instead of " +
				"an address, each address of the host name is a backend, if it is in allowed_cidrs. The id of such a " +
				"server is <service>:<host name>:<port>.",
			Body: api.ServerChange{"service": "app.example.com", "address": "192.0.2.1", "port": 80, "weight": 100,
				"region": "eu-west", "health_check": map[string]any{"type": "http", "path": "/healthz"}},
			Required: []string{"service", "port", "region"}, Status: 201,
			Answer: api.Named{Message: "server created", ID: exampleServer}, Errors: []int{noStore}},
		{Method: get, Path: server, handle: (*Server).getServer, Summary: "Get a server", Status: 200, Answer: one,
			Or: named},
		{Method: patch, Path: server, Changes: KindServer, handle: decoded((*Server).patchServer),
			Header:  conditionsOf(false),
			Summary: "Change a server",
			Description: "service, address, target and port cannot change. The values of a server of the configuration become " +
				"an overlay, see DELETE of its overlay. A server that only an agent declares cannot be changed. null " +
				"resets a field to its default. In the health_check of a server with a target, null resets a field to the " +
				"value of the region.",
			Body: api.ServerChange{"weight": 50}, Status: 200,
			Answer: api.Named{Message: "server changed", ID: exampleServer},
			Errors: changeErrors},
		overlayOperation(server, definitions.OverServer, "id"),
		{Method: del, Path: server, Changes: KindServer,
			handle: (*Server).deleteServer, Header: conditionsOf(false), Summary: "Delete a server",
			Query:       safe,
			Description: "Requires a server that the API has created.", Status: 204, Errors: unsafeChangeErrors},
		{Method: get, Path: server + "/health-check", handle: (*Server).getHealthCheck,
			Summary: "Get the health check of a server", Status: 200, Answer: checked},
		{Method: put, Path: server + "/health-check", Changes: KindServer,
			handle: decoded((*Server).putHealthCheck), Header: conditionsOf(false),
			Summary: "Set the health check of a server",
			Description: "An omitted field gets its default. The change takes effect with the next check. Without " +
				"interval and timeout, the values of /config/health-check apply.",
			Body: change, Status: 200, Answer: checked, Errors: changeErrors},
		{Method: patch, Path: server + "/health-check", Changes: KindServer,
			handle: decoded((*Server).putHealthCheck), Header: conditionsOf(false),
			Summary:     "Change the health check of a server",
			Description: "An omitted field does not change, and null resets a field to its default.",
			Body:        change, Status: 200, Answer: checked, Errors: changeErrors},
		{Method: post, Path: server + "/drain", Changes: KindDrain, handle: (*Server).postDrain, Role: api.RoleOperate,
			Summary: "Drain a server",
			Description: "The share of the server falls linearly to share, by default 0, within duration from starts_at or " +
				"now. " +
				"The drain ends with DELETE, or expires_in after its start.",
			Body: api.DrainRequest{Duration: "2m"}, Optional: true,
			Query: orderParameters(), Errors: []int{conflict},
			Status: 202, Answer: api.Drain{Draining: true, DrainEndsAt: new(exampleTime()), Stage: api.DrainDraining,
				SafeAt: new(exampleTime().Add(time.Minute))}},
		{Method: del, Path: server + "/drain", Changes: KindDrain, handle: (*Server).deleteDrain, Role: api.RoleOperate,
			Summary:     "End the drain of a server",
			Description: "The status is 404 without an active or planned drain. A drain that the agent requests continues.",
			Status:      200, Answer: api.Drain{}},
	}
}
