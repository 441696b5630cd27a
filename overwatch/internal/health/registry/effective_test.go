package registry // inside: it looks at claim

import (
	"testing"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// effectiveTable is the table of the manual (overwatch/README.md), line by line. The columns are regular: a row that
// does not mention an input holds for every value of it. The first row that fits counts.
var effectiveTable = []struct {
	override, claim, validation string
	status                      api.EffectiveStatus
	serve                       bool
}{
	{"healthy", "any", "any", "healthy", true},
	{"unhealthy", "any", "any", "unhealthy", false},
	{"none", "fresh unhealthy outsider", "healthy", "healthy", true},
	{"none", "fresh unhealthy", "any", "unhealthy", false},
	{"none", "fresh healthy", "unhealthy", "unhealthy", false},
	{"none", "fresh healthy", "healthy", "healthy", true},
	{"none", "fresh healthy", "none", "healthy", true},
	{"none", "old", "healthy", "stale", true},
	{"none", "old", "unhealthy", "stale", false},
	{"none", "old", "none", "stale", false},
	{"none", "none", "healthy", "healthy", true},
	{"none", "none", "unhealthy", "unhealthy", false},
	{"none", "none", "switched off", "healthy", true},
	{"none", "none", "none, stored healthy", "healthy", true},
	{"none", "none", "none", "unhealthy", false},
}

func TestEffective_IsTheTableForEveryCombination(t *testing.T) {
	states := []check.State{check.StateUnknown, check.StateHealthy, check.StateUnhealthy}
	for _, override := range states {
		for _, claim := range states {
			for _, stale := range []bool{false, true} {
				for _, validation := range states {
					for _, unwatched := range []bool{false, true} {
						for _, remembered := range states {
							for _, outsider := range []bool{false, true} {
								in := Inputs{
									Override: override, Claim: claim, Stale: stale, Outsider: outsider, Validation: validation,
									Unwatched: unwatched, Remembered: remembered,
								}
								checkAgainstTable(t, in)
								in.SetAside = validation == check.StateUnknown
								checkAgainstTable(t, in)
							}
						}
					}
				}
			}
		}
	}
}

func checkAgainstTable(t *testing.T, in Inputs) {
	t.Helper()
	for _, row := range effectiveTable {
		if !rowFits(row.override, row.claim, row.validation, in) {
			continue
		}
		got := Effective(in)
		if got.Status != row.status || got.MayServe != row.serve {
			t.Errorf("%+v is %s, %v; the table says %s, %v", in, got.Status, got.MayServe, row.status, row.serve)
		}
		if got.Reason == "" {
			t.Errorf("%+v has no reason", in)
		}
		return
	}
	t.Errorf("%+v is in no row", in)
}

func rowFits(override, claim, validation string, in Inputs) bool {
	state := map[check.State]string{check.StateUnknown: "none", check.StateHealthy: "healthy",
		check.StateUnhealthy: "unhealthy"}
	if override != state[in.Override] {
		return false
	}
	said := "none"
	switch {
	case in.Stale:
		said = "old"
	case in.Claim != check.StateUnknown:
		said = "fresh " + state[in.Claim]
	}
	if claim != "any" && claim != said && (!in.Outsider || claim != said+" outsider") {
		return false
	}
	switch validation {
	case "any":
		return true
	case "switched off":
		return in.Validation == check.StateUnknown && in.Unwatched
	case "none, stored healthy":
		return in.Validation == check.StateUnknown && in.Remembered == check.StateHealthy
	default:
		return validation == state[in.Validation]
	}
}
