package status

import (
	"time"

	"gslb.internal/shared/api"
)

// Protection has the settings of mass-failure protection: overwatch.brake of the configuration. The zero value is off.
type Protection struct {
	Enabled bool
	// Percent is a percentage of the serving backends of a service, an agent or a region. A hold begins if unconfirmed
	// reports within Window would stop more backends.
	Percent int
	// KeepRegion holds the reports of an agent that would stop all serving backends of a region. This hold has no time
	// limit.
	KeepRegion bool
	Window     time.Duration
	// HoldTime is the duration of a hold. After it, the node accepts the reports.
	HoldTime time.Duration
}

const (
	// minProtected is the minimum number of serving backends that a hold protects. Half of two backends would be a single
	// failure.
	minProtected = 3
	// minKept is the minimum number of backends of a region that Protection.KeepRegion protects.
	minKept = 2
)

// IsExceeded reports whether the share of stopped backends exceeds the limit. stopped is the number of backends that
// reports stop within the window. others is the number of the other serving backends.
func (p Protection) IsExceeded(stopped, others int) bool {
	all := stopped + others
	return p.Enabled && all >= minProtected && stopped*100 > p.Percent*all
}

// EmptiesRegion reports whether the reports of an agent stop all serving backends of a region.
func EmptiesRegion(stopped, others int) bool { return stopped >= minKept && others == 0 }

// ReportKind is a kind of unconfirmed report. Each kind has separate holds.
type ReportKind int

// The kinds of unconfirmed reports.
const (
	// ReportUnhealthy stops a backend.
	ReportUnhealthy ReportKind = iota
	// ReportWarning is an early warning that lowers the share of a backend.
	ReportWarning
	ReportKinds
)

// Concern returns k as the API writes it.
func (k ReportKind) Concern() api.BrakeConcern {
	if k == ReportUnhealthy {
		return api.BrakeUnhealthy
	}
	return api.BrakeWarning
}

// UnconfirmedReport is an agent's report of unhealthy, or an early warning, that no own check confirms. The zero value
// means that there is no report.
type UnconfirmedReport struct {
	Since time.Time
	// Accepted is true if no hold with a time limit covers the report: the backend did not serve when the report arrived,
	// the report was older than the window when a hold began, or a hold has ended.
	Accepted bool
	// Final is true if no hold covers the report: the backend did not serve when the report arrived, or an operator
	// released the hold.
	Final bool
}

// Hold is the mass-failure hold of a service, an agent or a region. While it is active, it also covers new reports
// about further backends, so that a mistake that spreads slowly does not stop one backend after another. The zero value
// is inactive.
//
//	inactive  begins if reports stop more than Percent of the serving backends within Window, or if KeepsRegion is set
//	active    ends after HoldTime unless KeepsRegion is set, if an operator releases it, and after Window without a
//	          held report
type Hold struct {
	// Since is the time at which the hold began.
	Since time.Time
	// KeepsRegion is true if the reports of an agent would stop all serving backends of the region.
	KeepsRegion bool
	emptySince  time.Time // zero while the hold has reports
}

// The reasons for the end of a hold. An operator's release has the reason "".
const (
	HoldExpired  = "the hold time is over, the node accepts the reports"
	HoldEmpty    = "no report was held for a whole window"
	HoldDisabled = "mass-failure protection is disabled in the configuration (overwatch.brake)"
)

// IsActive reports whether the hold has begun and not ended.
func (h *Hold) IsActive() bool { return !h.Since.IsZero() }

// Until returns the end of the hold, the zero time for a hold without a time limit.
func (h *Hold) Until(p Protection) time.Time {
	if h.KeepsRegion {
		return time.Time{}
	}
	return h.Since.Add(p.HoldTime)
}

// Begin activates the hold. The start of a hold from before a restart is in the past.
func (h *Hold) Begin(since time.Time) { h.Since, h.emptySince = since, time.Time{} }

// CanBeginWith reports whether r can contribute to the start of the hold. r may be nil.
func (h *Hold) CanBeginWith(r *UnconfirmedReport, p Protection, now time.Time) bool {
	if r == nil || r.Final {
		return false
	}
	return h.KeepsRegion || !r.Accepted && !r.IsOld(p, now)
}

// IsOld reports whether the report is older than the window.
func (r *UnconfirmedReport) IsOld(p Protection, now time.Time) bool {
	return now.Sub(r.Since) >= p.Window
}

// MustBegin reports whether an inactive hold begins.
func (h *Hold) MustBegin(p Protection, stopped, others int) bool {
	return p.Enabled && (h.KeepsRegion || p.IsExceeded(stopped, others))
}

// Covers reports whether the hold is active and holds r.
func (h *Hold) Covers(r *UnconfirmedReport) bool {
	return h.IsActive() && !r.Final && (!r.Accepted || h.KeepsRegion)
}

// Update returns the reason if an active hold ends at now. Otherwise it returns the time of the next call, or the zero
// time if only a change of the reports ends the hold. held is the number of held reports.
func (h *Hold) Update(p Protection, held int, now time.Time) (endReason string, next time.Time) {
	end := h.Since.Add(p.HoldTime)
	switch isExpired := !now.Before(end); {
	case !p.Enabled:
		return HoldDisabled, time.Time{}
	case isExpired && !h.KeepsRegion:
		return HoldExpired, time.Time{}
	case held > 0:
		h.emptySince = time.Time{}
		if isExpired {
			return "", time.Time{}
		}
		return "", end
	}
	if h.emptySince.IsZero() {
		h.emptySince = now
	}
	if next = h.emptySince.Add(p.Window); now.Before(next) {
		return "", next
	}
	return HoldEmpty, time.Time{}
}

// End deactivates the hold.
func (h *Hold) End() { *h = Hold{} }
