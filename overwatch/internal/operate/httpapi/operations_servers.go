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
		EffectiveStatus: api.EffectiveHealthy, CreatedAt: at(), UpdatedAt: at(),
	}
	named := api.ServerTarget{ID: "app.example.com:lb.example.net:443", Addresses: []string{"192.0.2.1"},
		Server: model.Server{Service: "app.example.com", Target: "lb.example.net", Port: 443, Weight: 100,
			Region: "eu-west",
			Meta:   model.Meta{CreatedAt: at(), UpdatedAt: at()}}}
	checked := api.ServerHealthCheck{ServerID: exampleServer,
		HealthCheck: api.HealthCheck{HealthCheck: model.HealthCheck{
			Enabled: new(true), Type: "http", Path: "/healthz", Interval: settings.Duration(5 * time.Second),
			Timeout: settings.Duration(2 * time.Second), SuccessThreshold: 2, FailureThreshold: 3, ExpectedStatus: "200",
		}}}
	change := api.HealthCheckChange{"type": "http", "path": "/healthz", "interval": "5s", "timeout": "2s"}
	safe := []Parameter{ifSafeParameter()}
	return []Operation{
		{Method: get, Path: v1 + "/servers", handle: (*Server).listServers, Summary: "Servers of all sources",
			Query:  paged(),
			Status: 200,
			Answer: api.ServerList{Servers: []api.Server{one}, Total: 1, GeneratedAt: at(),
				Targets: []api.ServerTarget{named}}},
		{Method: post, Path: v1 + "/servers", Changes: KindServer,
			handle: decoded((*Server).postServer), Summary: "Register a server",
			Description: "Its service must be a configured domain. 400 if it exists already. agent names the agent whose own " +
				"server it is: " +
				"what another one says does not count against this node's own checks that succeed. With a host name as target in " +
				"place of the address, each address that it has is a backend of its own, and the id is " +
				"<service>:<host name>:<port>; they come once they are resolved, in the networks of allowed_cidrs alone.",
			Body: api.ServerChange{"service": "app.example.com", "address": "192.0.2.1", "port": 80, "weight": 100,
				"region": "eu-west", "health_check": map[string]any{"type": "http", "path": "/healthz"}},
			Required: []string{"service", "port", "region"}, Status: 201,
			Answer: api.Named{Message: "server created", ID: exampleServer}, Errors: []int{noStore}},
		{Method: get, Path: server, handle: (*Server).getServer, Summary: "One server", Status: 200, Answer: one},
		{Method: patch, Path: server, Changes: KindServer, handle: decoded((*Server).patchServer),
			Header:  conditionsOf(false),
			Summary: "Change a server",
			Description: "A server keeps service, address, target and port. The values of a server of the " +
				"configuration become an overlay, see DELETE of its overlay. A server that only an agent declares cannot " +
				"be changed. null resets a field to its default, in health_check to that of the region for a server with " +
				"a target.",
			Body: api.ServerChange{"weight": 50}, Status: 200,
			Answer: api.Named{Message: "server changed", ID: exampleServer},
			Errors: changeErrors},
		overlayOperation(server, definitions.OverServer, "id"),
		{Method: del, Path: server, Changes: KindServer,
			handle: (*Server).deleteServer, Header: conditionsOf(false), Summary: "Delete a server",
			Query:       safe,
			Description: "Only one that the API has created.", Status: 204, Errors: unsafeChangeErrors},
		{Method: get, Path: server + "/health-check", handle: (*Server).getHealthCheck,
			Summary: "How the node checks a server", Status: 200, Answer: checked},
		{Method: put, Path: server + "/health-check", Changes: KindServer,
			handle: decoded((*Server).putHealthCheck), Header: conditionsOf(false),
			Summary: "Set how the node checks a server",
			Description: "An omitted field gets its default. The change takes effect with the next check. A server " +
				"without interval and timeout has those of /config/health-check.",
			Body: change, Status: 200, Answer: checked, Errors: changeErrors},
		{Method: patch, Path: server + "/health-check", Changes: KindServer,
			handle: decoded((*Server).putHealthCheck), Header: conditionsOf(false),
			Summary:     "Change how the node checks a server",
			Description: "An omitted field keeps its value, and null resets a field to its default.",
			Body:        change, Status: 200, Answer: checked, Errors: changeErrors},
		{Method: post, Path: server + "/drain", Changes: KindDrain, handle: (*Server).postDrain, Role: api.RoleOperate,
			Summary: "Lower the traffic of a server to nothing, or to a share",
			Description: "It goes linearly from starts_at, or from now, over duration, and stays there until it is taken back " +
				"or expires_in has passed since its start.",
			Body: api.DrainRequest{Duration: "2m"}, Optional: true,
			Query: orderParameters(), Errors: []int{conflict},
			Status: 202, Answer: api.Drain{Draining: true, DrainEndsAt: new(at()), Stage: api.DrainDraining,
				SafeAt: new(at().Add(time.Minute))}},
		{Method: del, Path: server + "/drain", Changes: KindDrain, handle: (*Server).deleteDrain, Role: api.RoleOperate,
			Summary:     "Give a server its traffic back",
			Description: "404 where no drain of it is in force or planned. A drain that its agent asks for goes on.",
			Status:      200, Answer: api.Drain{}},
	}
}
