package httpapi

import (
	"net"
	"strconv"

	"gslb.internal/shared/api"
)

// The default ports of the metrics of nodes and agents.
const (
	nodeMetricsPort  = 9090
	agentMetricsPort = 9100
)

func discoveryOperations() []Operation {
	port := number("port", "of the metrics of nodes or agents", 1, 65535, 0)
	port.otherwise = "" // depends on the role
	delete(port.Schema, "default")
	return []Operation{
		{Method: get, Path: v1 + "/prometheus/targets", handle: (*Server).listDiscoveryTargets,
			Summary: "List targets for the HTTP service discovery of Prometheus",
			Description: "The nodes and agents whose address this node knows, or the backends. Labels have the prefix " +
				"`__meta_gslb_`. The node does not know the metrics ports of other nodes and of agents: `port` replaces the " +
				"defaults 9090 and 9100.", Status: 200,
			Query: []Parameter{
				word("role", "default: nodes", []string{api.DiscoverNodes, api.DiscoverAgents, api.DiscoverBackends}),
				port,
			},
			Answer: []api.DiscoveryTarget{{Targets: []string{"192.0.2.53:9090"}, Labels: map[string]string{
				"__meta_gslb_role": "node", "__meta_gslb_id": "overwatch-1", "__meta_gslb_region": "eu",
				"__meta_gslb_status": "online"}}}},
	}
}

// listDiscoveryTargets answers GET /prometheus/targets.
func (s *Server) listDiscoveryTargets(c *call) (answer, error) {
	list := []api.DiscoveryTarget{}
	add := func(host string, port int, labels ...string) {
		if host == "" || port == 0 {
			return
		}
		target := api.DiscoveryTarget{Targets: []string{net.JoinHostPort(host, strconv.Itoa(port))},
			Labels: map[string]string{}}
		for i := 0; i < len(labels); i += 2 {
			target.Labels["__meta_gslb_"+labels[i]] = labels[i+1]
		}
		list = append(list, target)
	}
	port := func(otherwise int) int {
		if given := c.query.number("port"); given > 0 {
			return given
		}
		return otherwise
	}
	switch c.query["role"] {
	case api.DiscoverAgents:
		for _, a := range s.nodes.Agents() {
			add(a.Address, port(agentMetricsPort), "role", "agent", "id", a.ID, "region", a.Region,
				"status", string(a.Status))
		}
	case api.DiscoverBackends:
		for b := range ordered(s.o.View) {
			add(b.Address.String(), int(b.Port), "role", "backend", "service", b.Service, "region", b.Region,
				"status", string(b.Status))
		}
	default:
		for _, n := range s.nodes.Overwatch() {
			add(n.Address, port(nodeMetricsPort), "role", "node", "id", n.ID, "region", n.Region,
				"status", string(n.Status))
		}
	}
	return ok(list), nil
}
