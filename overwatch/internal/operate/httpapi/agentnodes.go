package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// postAgentNode answers POST /nodes/agent: it announces an agent, which is pending until it proves its token. An
// announced agent has no rights.
func (s *Server) postAgentNode(c *call, req api.AgentRegistration) (answer, error) {
	s.foldRegion(&req.Region)
	made, err := s.edit.NewAgent(req)
	if cfg, _ := s.o.Config(); err == nil && req.Region != "" {
		err = objects.CheckRegion(cfg, req.Region)
	}
	if err != nil {
		return answer{}, err
	}
	ch := &operations.Change{Action: "create", Resource: "agent", ID: made.ID, After: made}
	err = s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		_, pinned := s.o.Pins.Get(made.ID)
		switch {
		case pinned || d.Now().Nodes[made.ID] != nil:
			return fault.Conflictf("agent %s is known already", made.ID)
		case len(d.Now().Nodes) >= definitions.MaxNodes:
			return fault.Fullf("%d agents are announced, which is the most",
				definitions.MaxNodes)
		}
		d.Put(made)
		return nil
	})
	return answer{http.StatusCreated, nodes.Pending(made)}, err
}

// deleteAgentNode answers DELETE /nodes/agent/{id}: it deletes the pin and the announcement.
func (s *Server) deleteAgentNode(c *call) (answer, error) {
	id := c.Param("id")
	set, _ := s.o.Definitions.Defined()
	r, pinned := s.o.Pins.Get(id)
	announced := set.Nodes[id]
	if !pinned && announced == nil {
		return answer{}, unknownNode(id)
	}
	unpin := changes.UnpinAgent{ID: id, Pinned: pinned, Announced: announced != nil}
	if pinned {
		unpin.Before = s.nodes.Agent(r, announced)
	} else {
		unpin.Before = nodes.Pending(announced)
	}
	return noContent(), s.change(c, unpin)
}

// getCertificate answers GET /nodes/agent/{id}/certificate.
func (s *Server) getCertificate(c *call) (answer, error) {
	r, found := s.o.Pins.Get(c.Param("id"))
	if !found {
		return answer{}, unknownAgent(c.Param("id"))
	}
	view := api.AgentCertificate{
		AgentID: r.AgentID, Serial: r.Serial, NotBefore: stamp(r.NotBefore), NotAfter: stamp(r.NotAfter),
		Fingerprint: r.KeyID.Fingerprint(),
		Status:      api.CertificateStatus(r.Status), IssuedAt: stamp(r.IssuedAt),
	}
	return ok(api.AgentCertificateAnswer{Certificate: view}), nil
}

// postCertificate answers POST /nodes/agent/{id}/certificate: it deletes the pin and rejects the current certificate.
// The node pins the agent's next certificate. The agent stays announced until then.
func (s *Server) postCertificate(c *call) (answer, error) {
	id := c.Param("id")
	r, found := s.o.Pins.Get(id)
	if !found {
		return answer{}, unknownAgent(id)
	}
	err := s.change(c, changes.ReissueAgent{Node: objects.PinnedAgent(r), Before: s.nodes.Pinned(r, nil)})
	return answer{http.StatusCreated, api.CertificateReissue{
		Message: "the pin of " + id +
			" is deleted: give it a new certificate (delete agent.crt and agent.key and restart it), which is then " +
			"pinned",
		Status: api.AgentPending,
	}}, err
}

// deleteCertificate answers DELETE /nodes/agent/{id}/certificate: it revokes the agent.
func (s *Server) deleteCertificate(c *call) (answer, error) {
	id := c.Param("id")
	const reason = "its certificate was revoked through the API"
	before, found := s.o.Pins.Get(id)
	if !found {
		return answer{}, unknownAgent(id)
	}
	err := s.change(c, &changes.RevokeAgent{ID: id, Reason: reason, Before: s.nodes.Pinned(before, nil),
		After: api.RevokeRequest{Reason: reason}})
	return noContent(), err
}
