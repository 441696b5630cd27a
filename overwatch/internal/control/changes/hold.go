package changes

import (
	"context"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// ReleaseHold is the Object that releases a mass-failure hold of this node. Holds are not stored.
type ReleaseHold struct {
	Scope, Subject string                       // as returned by api.Brake.Scope
	ID             string                       // of the hold in the audit log
	Before         any                          // the hold in the audit log
	Takes          func(*registry.Backend) bool // reports whether a backend of the hold stops serving
}

// Plan implements Object.
func (h ReleaseHold) Plan(_ context.Context, t *Transaction) error {
	t.Entry = Entry{Action: api.AuditRelease, Resource: "brake", ID: h.ID, Before: h.Before}
	t.Removes(impact.Withdrawal{Alter: explain.MarkDrained, Takes: h.Takes})
	t.publish = append(t.publish, func(ctx context.Context) (err error) {
		switch h.Scope {
		case api.BrakeOfAgent:
			_, err = t.c.o.Registry.ReleaseAgentHold(ctx, h.Subject)
		case api.BrakeOfRegion:
			_, err = t.c.o.Registry.ReleaseRegionHold(ctx, h.Subject)
		default:
			_, err = t.c.o.Registry.ReleaseServiceHold(ctx, h.Subject)
		}
		return err
	})
	return nil
}
