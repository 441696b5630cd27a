package objects

import (
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// NewAgent validates an announcement of an agent, except for its region, and returns the record to store.
func (e *Editor) NewAgent(req api.AgentRegistration) (*store.Node, error) {
	if err := CheckLabel(req.Name, wire.MaxID); err != nil {
		return nil, err
	}
	n := &store.Node{ID: req.Name, Port: req.Port, Region: req.Region, Version: req.Version,
		RegisteredAt: api.Stamp(e.Now())}
	if req.Address != "" {
		address, err := ParseAddress(req.Address)
		if err != nil {
			return nil, err
		}
		n.Address = address.String()
	}
	return n, fault.FromCheck(definitions.CheckNode(n))
}

// PinnedAgent returns the announcement of a pinned agent.
func PinnedAgent(r trust.Record) *store.Node {
	return &store.Node{ID: r.AgentID, Region: r.Region, Version: r.Version, RegisteredAt: api.Stamp(r.FirstSeen)}
}
