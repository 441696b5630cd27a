package httpapi

import (
	"context"
	"errors"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// undoServer deletes a server that was created, creates one again that was deleted, or restores the settings of one.
func (s *Server) undoServer(c *call, e *api.AuditEntry, ch *change) error {
	if id, err := definitions.ParseTargetID(e.ResourceID); err == nil {
		return s.undoTarget(c, e, ch, id)
	}
	before, after, err := changes.States[store.Server](e)
	if err != nil {
		return err
	}
	id, err := registry.ParseID(e.ResourceID)
	if err != nil {
		return changes.CannotUndo(e, "it names no server")
	}
	switch {
	case before == nil:
		return s.undoMadeServer(c, e, ch, id)
	case after == nil:
		return s.undoRemovedServer(c, e, ch, *before)
	}
	return s.commit(c, ch, func(ctx context.Context, note store.Entry) error {
		return s.inRegionIfAny(before.Region, func() error {
			_, err := s.o.Inventory.Change(ctx, id, note, func(server *store.Server) error {
				if err := serverUnchangedSince(e, *server); err != nil {
					return err
				}
				back, err := s.completed(e, *before, server.Check)
				if err != nil {
					return err
				}
				ch.before, ch.after = *server, back
				*server = back
				return nil
			})
			if errors.Is(err, inventory.ErrUnknown) {
				return changes.ErrChangedSince
			}
			return err
		})
	})
}

func (s *Server) undoMadeServer(c *call, e *api.AuditEntry, ch *change, id registry.ID) error {
	defer s.o.Changes.Exclusive()()
	if err := s.checkSafe(c, impact.OfServer(id)); err != nil {
		return err
	}
	return s.commit(c, ch, func(ctx context.Context, note store.Entry) error {
		err := s.o.Inventory.Remove(ctx, id, note, func(now store.Server) error {
			ch.before = now
			return serverUnchangedSince(e, now)
		})
		switch {
		case errors.Is(err, inventory.ErrUnknown):
			return changes.ErrChangedSince
		case err != nil:
			return err
		}
		return s.endAdminStatesOf(ctx, id)
	})
}

func (s *Server) undoRemovedServer(c *call, e *api.AuditEntry, ch *change, before store.Server) error {
	cfg, _ := s.o.Config()
	if _, found := s.edit.FindDomain(cfg, before.Service); !found {
		return changes.CannotUndo(e, "there is no domain "+before.Service+" any more: undo its removal first")
	}
	before, err := s.completed(e, before, check.Spec{})
	if err != nil {
		return err
	}
	ch.after = before
	return s.commit(c, ch, func(ctx context.Context, note store.Entry) error {
		return s.inRegionIfAny(before.Region, func() error {
			err := s.o.Inventory.Create(ctx, before, note)
			if errors.Is(err, inventory.ErrExists) {
				return changes.ErrChangedSince
			}
			return err
		})
	})
}

// serverUnchangedSince is unchangedSince for a server, without its secrets, which no audit entry has.
func serverUnchangedSince(e *api.AuditEntry, now store.Server) error {
	return changes.UnchangedSince(e, now.Shown())
}

// completed returns a server of an audit entry with the secrets that the entry leaves out (store.Server.Shown). They
// are taken from now, the server's present check, or from that of its region.
func (s *Server) completed(e *api.AuditEntry, server store.Server, now check.Spec) (store.Server, error) {
	detail := server.Check.Detail.Detail()
	if detail.Headers+detail.Send == "" {
		return server, nil // it has no secrets
	}
	cfg, _ := s.o.Config()
	for _, whole := range []check.Details{now.Detail, cfg.CheckIn(server.Region).Detail} {
		if shown := whole.Shown().Detail(); shown.Headers == detail.Headers && shown.Send == detail.Send {
			detail.Headers, detail.Send = whole.Detail().Headers, whole.Detail().Send
			server.Check.Detail = detail.Details()
			return server, nil
		}
	}
	return server, changes.CannotUndo(e, "the audit log leaves out the values of headers and send of its health check, "+
		"and its region has others by now")
}

// inRegionIfAny is inRegion for a server that may have no region.
func (s *Server) inRegionIfAny(region string, apply func() error) error {
	if region == "" {
		return apply()
	}
	return s.inRegion(region, apply)
}

// undoDomain deletes a domain that was created, or restores one.
func (s *Server) undoDomain(c *call, e *api.AuditEntry, ch *change) error {
	before, after, err := statesOf[model.Domain](e)
	if err != nil {
		return err
	}
	name := e.ResourceID
	return s.define(c, ch, func(d *definitions.Draft) error {
		now := d.Now().Domains[name]
		if err := sameObject(now, after); err != nil || d.InFile(name) {
			return changes.ErrChangedSince
		}
		var named []string
		if now != nil {
			ch.before, named = now, now.Regions
		}
		if before == nil {
			d.DeleteDomain(name)
			return nil
		}
		if err := objects.CheckRegions(d, before.Regions, named); err != nil {
			return err
		}
		ch.after = before
		d.PutDomain(before)
		return nil
	})
}

// undoRegion deletes a region that was created and is not in use, or restores one.
func (s *Server) undoRegion(c *call, e *api.AuditEntry, ch *change) error {
	before, after, err := changes.States[store.Region](e)
	if err != nil {
		return err
	}
	name := e.ResourceID
	defer s.o.Changes.Exclusive()() // no server comes into it meanwhile
	if before != nil && !before.Enabled && after != nil && after.Enabled {
		if err := s.checkSafe(c, impact.OfRegion(name)); err != nil {
			return err
		}
	}
	return s.define(c, ch, func(d *definitions.Draft) error {
		now := d.Now().Regions[name]
		if err := changes.UnchangedSince(e, now); err != nil || objects.RegionAt(d.File(), name) >= 0 {
			return changes.ErrChangedSince
		}
		if now != nil {
			ch.before = now
		}
		if before == nil {
			if err := s.edit.CheckUnusedRegion(d, name); err != nil {
				return err
			}
			d.DeleteRegion(name)
			return nil
		}
		ch.after = before
		d.PutRegion(before)
		return nil
	})
}

// undoMapping deletes a mapping that was created, or restores the one that the network had.
func (s *Server) undoMapping(c *call, e *api.AuditEntry, ch *change) error {
	before, _, err := changes.States[objects.MappingRecord](e)
	if err != nil {
		return err
	}
	network, err := objects.ParseNetwork(e.ResourceID)
	if err != nil {
		return changes.CannotUndo(e, "it names no network")
	}
	return s.define(c, ch, func(d *definitions.Draft) error {
		var view any
		var named []string
		now, err := objects.OwnMapping(d, network, "changed", nil)
		if err != nil {
			return err
		}
		if now != nil {
			view, named = objects.MappingRecordOf(now), []string{now.Region}
		}
		if err := changes.UnchangedSince(e, view); err != nil {
			return err
		}
		ch.before = view
		if before == nil {
			d.DeleteMapping(network)
			return nil
		}
		if err := objects.CheckRegions(d, []string{before.Region}, named); err != nil {
			return err
		}
		ch.after = *before
		d.PutMapping(network, &store.Mapping{CIDR: before.CIDR, Region: before.Region, Comment: before.Comment,
			Owner: before.Owner})
		return nil
	})
}
