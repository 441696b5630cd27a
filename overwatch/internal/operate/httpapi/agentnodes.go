package httpapi

import (
	"context"
	"errors"
	"net/http"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// postAgentNode answers POST /nodes/agent: it announces an agent, which is pending until it proves its token. An
// announcement gives no rights.
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
		d.PutNode(made)
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
	done, err := s.op.Safely(c.request(), impact.OfAgents(id))
	defer done()
	if err != nil {
		return answer{}, err
	}
	ch := &operations.Change{Action: "delete", Resource: "agent", ID: id}
	if pinned {
		ch.Before = s.nodes.Agent(r, announced)
	} else {
		ch.Before = nodes.Pending(announced)
	}
	return noContent(), s.op.Commit(c.request(), ch, func(ctx context.Context, note store.Entry) error {
		if pinned {
			if err := s.unpin(ctx, id, note); err != nil {
				return err
			}
			note = nil
			// of what a reissue left
		} else if err := s.o.Pins.Unpin(ctx, id); err != nil && !errors.Is(err, trust.ErrNotPinned) {
			return err
		}
		return s.o.Definitions.Define(note, func(d *definitions.Draft) error {
			if d.Now().Nodes[id] != nil {
				d.DeleteNode(id)
			}
			return nil
		})
	})
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

// postCertificate answers POST /nodes/agent/{id}/certificate: it deletes the pin and has the agent's next certificate
// pinned, which must be another one. The agent stays announced meanwhile.
func (s *Server) postCertificate(c *call) (answer, error) {
	id := c.Param("id")
	r, found := s.o.Pins.Get(id)
	if !found {
		return answer{}, unknownAgent(id)
	}
	node := &store.Node{ID: id, Region: r.Region, Version: r.Version, RegisteredAt: stamp(r.FirstSeen)}
	_, err := s.changeAgent(c, &operations.Change{Action: "update", Resource: "agent", ID: id, After: "reissue"},
		func(ctx context.Context, note store.Entry) error {
			err := s.o.Definitions.Define(nil, func(d *definitions.Draft) error {
				if d.Now().Nodes[id] == nil {
					d.PutNode(node)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if err := s.o.Pins.Reissue(ctx, id, note); err != nil {
				return err
			}
			return s.o.Registry.DropAgent(ctx, id)
		}, "")
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
	_, err := s.changeAgent(c, &operations.Change{Action: "revoke", Resource: "agent", ID: id,
		After: api.RevokeRequest{Reason: reason}}, func(ctx context.Context, note store.Entry) error {
		return s.revoke(ctx, id, func() error { return s.o.Pins.Revoke(ctx, id, reason, note) })
	}, "")
	return noContent(), err
}
