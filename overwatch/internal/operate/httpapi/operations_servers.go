package httpapi

import (
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

func serverOperations() []Operation {
	server := v1 + "/servers/{id}"
	one := api.Server{
		ID: exampleServer, Service: "app.example.com", Address: "192.0.2.1", Port: 80, Weight: 100, Region: "eu-west",
		Source:          api.SourceAPI,
		EffectiveStatus: api.EffectiveHealthy, CreatedAt: at(), UpdatedAt: at(),
	}
	named := api.ServerTarget{
		ID: "app.example.com:lb.example.net:443", Service: "app.example.com", Target: "lb.example.net", Port: 443,
		Weight: 100, Region: "eu-west", Addresses: []string{"192.0.2.1"}, CreatedAt: at(), UpdatedAt: at(),
	}
	checked := api.ServerHealthCheck{ServerID: exampleServer, HealthCheck: api.HealthCheck{
		Enabled: true, Type: "http", Path: "/healthz", Interval: "5s", Timeout: "2s", HealthyThreshold: 2,
		UnhealthyThreshold: 3, ExpectedStatus: "200",
	}}
	change := api.HealthCheckChange{Type: new("http"), Path: new("/healthz"), Interval: new("5s"), Timeout: new("2s")}
	safe := []Parameter{ifSafeParameter()}
	return []Operation{
		{Method: get, Path: v1 + "/servers", handle: (*Server).listServers, Summary: "Servers of all sources", Query: paged(),
			Status: 200,
			Answer: api.ServerList{Servers: []api.Server{one}, Total: 1, GeneratedAt: at(), Targets: []api.ServerTarget{named}}},
		{Method: post, Path: v1 + "/servers", Changes: KindServer,
			handle: decoded((*Server).postServer), Summary: "Register a server",
			Description: "Its service must be a configured domain. 400 if it exists already. agent names the agent whose own " +
				"server it is: " +
				"what another one says does not count against this node's own checks that succeed. With a host name as target in " +
				"place of the address, each address that it has is a backend of its own, and the id is " +
				"<service>:<host name>:<port>; they come once they are resolved, in the networks of allowed_cidrs alone.",
			Body: api.ServerCreate{Service: "app.example.com", Address: "192.0.2.1", Port: 80, Weight: new(100),
				Region: "eu-west"},
			Required: []string{"service", "port", "region"}, Status: 201,
			Answer: api.Named{Message: "server created", ID: exampleServer}, Errors: []int{noStore}},
		{Method: get, Path: server, handle: (*Server).getServer, Summary: "One server", Status: 200, Answer: one},
		{Method: patch, Path: server, Changes: KindServer, handle: (*Server).patchServer, Header: conditionsOf(false),
			Summary: "Change weight, region or agent",
			Description: "And allowed_cidrs of one by host name. " +
				"Over a server of the configuration it is laid, see DELETE of its overlay; one that only an agent " +
				"declares stays as it says. An empty agent names none.",
			Body: api.ServerPatch{Weight: new(50)}, Status: 200,
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
			handle: (*Server).putHealthCheck, Header: conditionsOf(false),
			Summary: "Set how the node checks a server",
			Description: "What is left out takes its default. It counts from the next check on. A server that was never " +
				"given interval or timeout has those of /config/health-check.",
			Body: change, Status: 200, Answer: checked, Errors: changeErrors},
		{Method: patch, Path: server + "/health-check", Changes: KindServer,
			handle: (*Server).putHealthCheck, Header: conditionsOf(false),
			Summary: "Change how the node checks a server", Description: "What is left out stays.",
			Body: change, Status: 200, Answer: checked, Errors: changeErrors},
		{Method: post, Path: server + "/drain", Changes: KindDrain, handle: (*Server).postDrain, Role: api.RoleOperate,
			Summary: "Lower the traffic of a server to nothing, or to a share",
			Description: "It goes linearly from starts_at, or from now, over duration, and stays there until it is taken back " +
				"or expires_in has passed since its start.",
			Body: api.DrainRequest{Duration: "2m"}, Optional: true,
			Query: orderParameters(), Errors: []int{conflict},
			Status: 202, Answer: api.Drain{Draining: true, DrainEndsAt: new(at())}},
		{Method: del, Path: server + "/drain", Changes: KindDrain, handle: (*Server).deleteDrain, Role: api.RoleOperate,
			Summary:     "Give a server its traffic back",
			Description: "404 where no drain of it is in force or planned. A drain that its agent asks for goes on.",
			Status:      200, Answer: api.Drain{}},
	}
}
