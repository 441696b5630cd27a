package changes

import (
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// buildWindow sets the beginning and the end of an admin state.
func (s *SetAdminState) buildWindow(now time.Time, o *registry.AdminState) error {
	begins := now
	if s.StartsAt != nil {
		begins = *s.StartsAt
		if !begins.After(now) || begins.Sub(now) > api.MaxExpiresIn {
			return fault.Invalidf("starts_at is %s: it must be after now, %s, and at most %s away", stamp(begins).Format(
				time.RFC3339), now.UTC().Format(time.RFC3339), api.MaxExpiresIn)
		}
		o.StartsAt, o.IsActive = stamp(begins), false
	}
	if s.ExpiresIn == "" {
		return nil
	}
	life, err := time.ParseDuration(s.ExpiresIn)
	if err != nil || life <= 0 || life > api.MaxExpiresIn {
		return fault.Invalidf("expires_in is %.64q: it must be a duration above zero and at most %s, such as 30m",
			s.ExpiresIn, api.MaxExpiresIn)
	}
	o.ExpiresAt = stamp(begins.Add(life))
	return nil
}

// keepWindow copies the start and the end of the current admin state to o, except for values that the PATCH sets. A new
// end is relative to the current start, or to now if the start has passed.
func keepWindow(o *registry.AdminState, before registry.AdminState, keepStart bool, expiresIn string, now time.Time) {
	if expiresIn == "" {
		o.ExpiresAt = before.ExpiresAt
	}
	if !keepStart {
		return
	}
	o.StartsAt, o.IsActive = before.StartsAt, before.IsActive
	if life, err := time.ParseDuration(expiresIn); err == nil && !o.IsActive {
		o.ExpiresAt = stamp(o.StartsAt.Add(life))
	}
}

// mayReplace rejects a planned admin state that would replace an active admin state, because the replacement would end
// the active admin state immediately. Without force, it also rejects the replacement of a planned admin state.
func mayReplace(before, o registry.AdminState, force bool) error {
	switch {
	case before.IsActive && !o.IsActive:
		return fault.Conflictf("%s of %s is in force: a planned one would end it now; clear it, or let it expire, first",
			withArticle(o.Kind), TargetOf(o))
	case !before.IsActive && !force && !sameAdminState(before, o):
		return plannedProblem(before)
	}
	return nil
}

// sameAdminState reports whether two admin states have equal windows and values, as after a repeated request.
func sameAdminState(a, b registry.AdminState) bool {
	return a.StartsAt.Equal(b.StartsAt) && a.ExpiresAt.Equal(b.ExpiresAt) && a.Share == b.Share &&
		a.Duration == b.Duration &&
		a.Weight == b.Weight && a.Healthy == b.Healthy
}

// plannedProblem returns the conflict error of an admin state that would replace a planned admin state. The error
// includes both remedies.
func plannedProblem(o registry.AdminState) error {
	window := "from " + o.StartsAt.UTC().Format(time.RFC3339)
	if !o.ExpiresAt.IsZero() {
		window += " until " + o.ExpiresAt.UTC().Format(time.RFC3339)
	}
	by := ""
	if o.CreatedBy != "" {
		by = " by " + o.CreatedBy
	}
	return fault.Conflictf("%s of %s is planned%s %s, and a backend has one of a kind: take the planned "+
		"one back first, or replace it (replace_planned=true, gslbctl --replace-planned)", withArticle(o.Kind),
		TargetOf(o), by, window)
}

func withArticle(kind api.OrderKind) string {
	if kind == api.OrderOverride {
		return "an override"
	}
	return "a " + string(kind)
}
