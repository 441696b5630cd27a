package apidoc

const introduction = `Every answer is JSON and carries X-Request-Id. An error is {"error": "<sentence>"}: ` +
	"the sentence names the field, the value and the remedy.\n\n" +
	"Access is decided by api.allowed_networks and, where api.tokens is set, by a bearer token; x-role says which role " +
	"an operation needs. A change is on disk and in DNS answers when the call returns.\n\n" +
	"Unknown fields and unknown query parameters are errors. Lists take limit and offset and keep a stable order. " +
	"Times are RFC 3339 in UTC."

// pathParameter describes a parameter of a path, with an example.
func pathParameter(path, name string) (description, example string) {
	switch name {
	case "name":
		return "the name of a domain", "app.example.com"
	case "service":
		return "the name of the service", "app.example.com"
	case "address":
		if path == "/api/v1/overrides/{service}/{address}" {
			return "the address of a backend, for all of its ports, or address:port", "192.0.2.1:80"
		}
		return "the address of a backend", "192.0.2.1"
	case "port":
		return "the port of a backend", "80"
	case "agent_id":
		return "the id of an agent", "eu-west-host-1"
	case "cidr":
		return "a network; its slash may be written plain or as %2F", "198.51.100.0/24"
	}
	return ids[path].what, ids[path].example
}

// ids describes the parameter {id} of each path.
var ids = map[string]struct{ what, example string }{
	"/api/v1/servers/{id}":                 {serverID, exampleServer},
	"/api/v1/servers/{id}/health-check":    {serverID, exampleServer},
	"/api/v1/servers/{id}/drain":           {serverID, exampleServer},
	"/api/v1/servers/{id}/overlay":         {serverID, exampleServer},
	"/api/v1/regions/{id}/overlay":         {"the name of a region", "eu-west"},
	"/api/v1/domains/{name}/backends/{id}": {serverID, exampleServer},
	"/api/v1/regions/{id}":                 {"the name of a region", "eu-west"},
	"/api/v1/nodes/overwatch/{id}":         {"the id of an overwatch node", "overwatch-1"},
	"/api/v1/nodes/agent/{id}":             {"the id of an agent", "eu-west-host-1"},
	"/api/v1/nodes/agent/{id}/certificate": {"the id of an agent", "eu-west-host-1"},
	"/api/v1/gossip/nodes/{id}":            {"the id of a node", "overwatch-1"},
	"/api/v1/audit-logs/{id}":              {"the number of an entry", "1"},
	"/api/v1/metrics/nodes/{id}":           {"the id of this node or of an agent", "overwatch-1"},
	"/api/v1/metrics/regions/{id}":         {"the name of a region", "eu-west"},
	"/api/v1/routing/algorithms/{id}":      {"the id of an algorithm", "weighted"},
	"/api/v1/routing/decisions/{id}":       {"the id of a sampled decision", "0-1"},
}

const (
	serverID      = "<service>:<address>:<port>"
	exampleServer = "app.example.com:192.0.2.1:80"
)
