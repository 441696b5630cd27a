package httpapi

import (
	"slices"

	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/shared/api"
)

func nodeOperations() []Operation {
	announced := api.AgentNode{ID: "eu-west-host-2", Name: "eu-west-host-2", Region: "eu-west",
		Status:       api.AgentPending,
		RegisteredAt: new(exampleTime())}
	own := api.OverwatchNode{ID: "overwatch-1", Name: "overwatch-1", Address: "192.0.2.53", Port: 53, APIPort: 8080,
		Region: "eu-west", Status: api.OverwatchOnline, Version: "1.2.0",
		UptimeSeconds: new(int64(3600)), LastSeen: new(exampleTime()), QueriesTotal: new(uint64(360_000)), QueriesPerSec: 100,
		DNSSECEnabled: true,
		Self:          true}
	certificate := v1 + "/nodes/agent/{id}/certificate"
	agent := api.AgentNode{
		ID: "eu-west-host-1", Name: "eu-west-host-1", Region: "eu-west", Status: api.AgentOnline, Version: "1.2.0",
		UptimeSeconds: 3600, LastSeen: new(exampleTime()),
		ChecksTotal: 720, ChecksPerSec: 0.2, ActiveChecks: 1, TargetCount: 1, CertificateExpiry: new(exampleTime().AddDate(1,
			0,
			0)),
		RegisteredAt: new(exampleTime()),
	}
	member := api.GossipNode{
		ID: "overwatch-1", Name: "overwatch-1", Address: "192.0.2.53", Port: 7946, Status: api.GossipAlive,
		State: api.GossipSelf, Version: "1.2.0", LastSeen: new(exampleTime()), JoinedAt: new(exampleTime()),
	}
	safe, unsafe := []Parameter{ifSafeParameter()}, []int{conflict, noStore}
	return []Operation{
		{Method: get, Path: v1 + "/nodes/agent", handle: (*Server).listAgentNodes,
			Summary: "List agents with their certificates",
			Status:  200,
			Query: paged(word("status", "list only entries with this status", api.AgentStatuses()),
				text("region", "list only entries in this region", nil)),
			Answer: api.AgentNodeList{Nodes: []api.AgentNode{agent}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/nodes/agent/{id}", handle: (*Server).getAgentNode,
			Summary: "Get an agent with its certificate",
			Status:  200, Answer: agent},
		{Method: post, Path: v1 + "/nodes/agent", Changes: KindAgent,
			handle: decoded((*Server).postAgentNode), Summary: "Announce an agent",
			Description: "The agent is pending until it proves its token. An announced agent has no rights.",
			Body:        api.AgentRegistration{Name: "eu-west-host-2", Region: "eu-west"}, Required: []string{"name"},
			Status: 201,
			Answer: announced, Errors: []int{conflict, noStore}},
		{Method: del, Path: v1 + "/nodes/agent/{id}", Changes: KindAgent, handle: (*Server).deleteAgentNode,
			Summary: "Delete the pin and the announcement of an agent", Query: safe, Status: 204, Errors: unsafe},
		{Method: get, Path: certificate, handle: (*Server).getCertificate,
			Summary: "Get the pinned certificate of an agent", Status: 200,
			Answer: api.AgentCertificateAnswer{Certificate: api.AgentCertificate{
				AgentID: "eu-west-host-1", Serial: "4f3c", NotBefore: exampleTime(), NotAfter: exampleTime().AddDate(1, 0, 0),
				Fingerprint: "sha256:0f1e2d3c", Status: api.CertificateValid, IssuedAt: exampleTime(),
			}}},
		{Method: post, Path: certificate, Changes: KindRevocation, handle: (*Server).postCertificate,
			Summary: "Pin the next certificate of an agent", Query: safe, Status: 201,
			Answer: api.CertificateReissue{Message: "the pin of eu-west-host-1 is deleted: give it a new certificate",
				Status: api.AgentPending}, Errors: unsafe},
		{Method: del, Path: certificate, Changes: KindRevocation,
			handle: (*Server).deleteCertificate, Summary: "Revoke the certificate of an agent",
			Query: safe, Status: 204, Errors: unsafe},
		{Method: get, Path: v1 + "/nodes/overwatch", handle: (*Server).listOverwatchNodes,
			Summary: "List this node and its peers",
			Status:  200,
			Query: paged(word("status", "list only entries with this status", api.OverwatchStatuses()),
				text("region", "list only entries in this region", nil)),
			Answer: api.OverwatchNodeList{Nodes: []api.OverwatchNode{own}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/nodes/overwatch/{id}", handle: (*Server).getOverwatchNode,
			Summary: "Get this node or one of its peers", Status: 200, Answer: own},
		{Method: get, Path: v1 + "/gossip/nodes", handle: (*Server).listGossipNodes,
			Summary: "List nodes and agents in gossip",
			Status:  200,
			Query: paged(word("status", "list only entries with this status", api.GossipStatuses()),
				text("region", "list only entries in this region", nil)),
			Answer: api.GossipNodeList{Nodes: []api.GossipNode{member}, Total: 1, Healthy: 1, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/gossip/nodes/{id}", handle: (*Server).getGossipNode,
			Summary: "Get a node or agent in gossip",
			Status:  200, Answer: member},
		{Method: post, Path: v1 + "/gossip/generate-key", handle: (*Server).postGossipKey,
			Summary:     "Create a random gossip key",
			Description: "The node returns the key and does not store it.", Status: 200,
			Answer: api.GossipKey{Key: "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=", Algorithm: "AES-256-GCM",
				Bits: 256}},
	}
}

// listAgentNodes answers GET /nodes/agent?status&region.
func (s *Server) listAgentNodes(c *call) (answer, error) {
	var nodes []api.AgentNode
	for _, n := range s.nodes.Agents() {
		if matches(c.query["status"], n.Status) && matchesRegion(c.query["region"], n.Region) {
			nodes = append(nodes, n)
		}
	}
	list := api.AgentNodeList{GeneratedAt: stamp(s.o.Now())}
	list.Nodes, list.Total = pageOf(slices.Values(nodes), c.page, func(n api.AgentNode) api.AgentNode { return n })
	return ok(list), nil
}

// getAgentNode answers GET /nodes/agent/{id}.
func (s *Server) getAgentNode(c *call) (answer, error) {
	id := c.Param("id")
	set, _ := s.o.Definitions.Defined()
	if r, found := s.o.Pins.Get(id); found {
		return ok(s.nodes.Agent(r, set.Nodes[id])), nil
	}
	if announced := set.Nodes[id]; announced != nil {
		return ok(nodes.Pending(announced)), nil
	}
	return answer{}, unknownNode(id)
}

func unknownNode(id string) error {
	return notFound("no agent %.260q is pinned or was announced", id)
}
