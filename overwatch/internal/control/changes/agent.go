package changes

import (
	"context"
	"errors"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// Agents stores the pinned agents and the locked tokens; trust.Trust implements it. After an error, the state is
// unchanged, except after an error of a revocation.
type Agents interface {
	Unpin(ctx context.Context, agentID string, with ...store.Entry) error
	// Reissue deletes a pin and rejects its certificate permanently.
	Reissue(ctx context.Context, agentID string, with ...store.Entry) error
	// Revoke takes effect in memory even if it returns store.ErrNotDurable.
	Revoke(ctx context.Context, agentID, reason string, with ...store.Entry) error
	// RevokeAndLock is Revoke, and also locks the tokens of the agent's services. It returns these services.
	RevokeAndLock(ctx context.Context, agentID, reason string, with ...store.Entry) (locked []string, err error)
	Unlock(ctx context.Context, service string, with ...store.Entry) error
	// UnpinSelected deletes the pins of the agents in ids that s selects, and returns these agents.
	UnpinSelected(ctx context.Context, s trust.Selection, ids []string, with ...store.Entry) ([]string, error)
}

// Definitions holds the objects of the API, except servers that have an address.
type Definitions interface {
	Define(note store.Entry, edit func(*definitions.Draft) error) error
}

// agentEntry describes the change of an agent for the audit log.
func agentEntry(action, id string, before, after any) Entry {
	return Entry{Action: action, Resource: "agent", ID: id, Before: before, After: after}
}

// RevokeAgent is the Object that revokes the certificate of an agent. The agent's reports are dropped.
type RevokeAgent struct {
	ID, Reason  string
	LockService bool // also lock the tokens of the agent's services
	// Before and After describe the agent and the request in the audit log.
	Before, After any

	// Locked lists the services with tokens that the change has locked.
	Locked []string
}

// Plan implements Object.
func (r *RevokeAgent) Plan(_ context.Context, t *Transaction) error {
	t.Entry = agentEntry(api.AuditRevoke, r.ID, r.Before, r.After)
	t.Removes(impact.OfAgents(r.ID))
	t.write = func(ctx context.Context, note store.Entry) (err error) {
		if r.LockService {
			r.Locked, err = t.c.o.Agents.RevokeAndLock(ctx, r.ID, r.Reason, note)
		} else {
			err = t.c.o.Agents.Revoke(ctx, r.ID, r.Reason, note)
		}
		switch {
		case errors.Is(err, trust.ErrNotPinned):
			return err
		case errors.Is(err, store.ErrNotDurable):
			err = fault.Fullf("the agent is refused from now on, but only until this node restarts: it could not be " +
				"stored, the disk is full or failing")
		}
		return errors.Join(err, t.c.o.Registry.RemoveAgent(ctx, r.ID))
	}
	return nil
}

// UnpinAgent is the Object that deletes the pin of an agent, its announcement if Announced is true, or both. The
// agent's reports are dropped.
type UnpinAgent struct {
	ID     string
	Before any // the agent in the audit log
	// Pinned and Announced report whether the agent has a pin and an announcement.
	Pinned, Announced bool
}

// Plan implements Object.
func (u UnpinAgent) Plan(_ context.Context, t *Transaction) error {
	t.Entry = agentEntry(api.AuditDelete, u.ID, u.Before, nil)
	t.Removes(impact.OfAgents(u.ID))
	t.write = func(ctx context.Context, note store.Entry) error {
		if u.Pinned {
			if err := t.c.o.Agents.Unpin(ctx, u.ID, note); err != nil {
				return err
			}
			t.stored = true
			if err := t.c.o.Registry.RemoveAgent(ctx, u.ID); err != nil {
				return err
			}
			note = nil
		} else if err := t.c.o.Agents.Unpin(ctx, u.ID); err != nil && !errors.Is(err, trust.ErrNotPinned) {
			return err // a reissue may have stored the rejected certificate
		}
		if !u.Announced {
			return nil
		}
		return t.c.o.Definitions.Define(note, func(d *definitions.Draft) error {
			if d.Now().Nodes[u.ID] != nil {
				d.Delete(store.KindAgent, u.ID)
			}
			return nil
		})
	}
	return nil
}

// ReissueAgent is the Object that deletes the pin of an agent and rejects its certificate, so that the node pins the
// agent's next certificate. Until then, the agent is announced.
type ReissueAgent struct {
	Node   *store.Node // the announcement
	Before any         // the agent in the audit log
}

// Plan implements Object.
func (r ReissueAgent) Plan(_ context.Context, t *Transaction) error {
	id := r.Node.ID
	t.Entry = agentEntry(api.AuditUpdate, id, r.Before, "reissue")
	t.Removes(impact.OfAgents(id))
	t.write = func(ctx context.Context, note store.Entry) error {
		err := t.c.o.Definitions.Define(nil, func(d *definitions.Draft) error {
			if d.Now().Nodes[id] == nil {
				d.Put(r.Node)
			}
			return nil
		})
		if err == nil {
			err = t.c.o.Agents.Reissue(ctx, id, note)
		}
		if err == nil {
			err = t.c.o.Registry.RemoveAgent(ctx, id)
		}
		return err
	}
	return nil
}

// UnpinAgents is the Object that deletes the pins of many agents.
type UnpinAgents struct {
	Selection trust.Selection
	IDs       []string
	Before    any // the selection in the audit log

	// Unpinned lists the agents with pins that the change has deleted.
	Unpinned []string
}

// Plan implements Object.
func (u *UnpinAgents) Plan(_ context.Context, t *Transaction) error {
	t.Entry = agentEntry(api.AuditDelete, u.Selection.Service, u.Before, nil)
	if !u.Selection.NeverReported { // agents without any report have no backends
		t.Removes(impact.OfAgents(u.IDs...))
	}
	t.write = func(ctx context.Context, note store.Entry) (err error) {
		u.Unpinned, err = t.c.o.Agents.UnpinSelected(ctx, u.Selection, u.IDs, note)
		for _, id := range u.Unpinned {
			err = errors.Join(err, t.c.o.Registry.RemoveAgent(ctx, id))
		}
		return err
	}
	return nil
}

// UnlockToken is the Object that unlocks the tokens of a service for new agents.
type UnlockToken struct{ Service string }

// Plan implements Object.
func (u UnlockToken) Plan(_ context.Context, t *Transaction) error {
	t.Entry = agentEntry(api.AuditDelete, u.Service, map[string]string{"locked": u.Service}, nil)
	t.write = func(ctx context.Context, note store.Entry) error { return t.c.o.Agents.Unlock(ctx, u.Service, note) }
	return nil
}
