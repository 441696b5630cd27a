package status // inside: it reads the rows of the table

import (
	"iter"
	"os"
	"strings"
	"testing"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// everyInput yields all Inputs.
func everyInput() iter.Seq[Inputs] {
	states := []check.State{check.StateUnknown, check.StateHealthy, check.StateUnhealthy}
	return func(yield func(Inputs) bool) {
		for flags := range 1 << 7 {
			has := func(bit int) bool { return flags>>bit&1 != 0 }
			for at := range 3 * 3 * 3 * 3 {
				in := Inputs{
					Override: states[at%3], Report: states[at/3%3], Check: states[at/9%3], LastKnown: states[at/27],
					Stale: has(0), Held: has(1), Unauthorized: has(2),
					Isolated: has(3), CheckOff: has(4), Unmonitored: has(5),
					Disputed: has(6),
				}
				if in.Disputed && in.Check != check.StateUnknown {
					continue // the registry passes a disputed check as StateUnknown
				}
				if !yield(in) {
					return
				}
			}
		}
	}
}

// manual is the table of overwatch/README.md. A row that does not mention an input holds for every value of the input.
var manual = []struct {
	override, report, check string
	status                  api.EffectiveStatus
	serve                   bool
}{
	{"healthy", "any", "any", "healthy", true},
	{"unhealthy", "any", "any", "unhealthy", false},
	{"none", "unhealthy unauthorized", "healthy", "healthy", true},
	{"none", "unhealthy held", "any", "healthy", true},
	{"none", "unhealthy", "any", "unhealthy", false},
	{"none", "healthy", "unhealthy", "unhealthy", false},
	{"none", "healthy", "disputed", "healthy", true},
	{"none", "healthy", "healthy", "healthy", true},
	{"none", "healthy", "none", "healthy", true},
	{"none", "stale", "healthy", "stale", true},
	{"none", "stale", "disputed", "stale", true},
	{"none", "stale", "unhealthy", "stale", false},
	{"none", "stale", "none", "stale", false},
	{"none", "none", "healthy", "healthy", true},
	{"none", "none", "unhealthy", "unhealthy", false},
	{"none", "none", "disputed", "healthy", true},
	{"none", "none", "switched off", "healthy", true},
	{"none", "none", "none, last known healthy", "healthy", true},
	{"none", "none", "none", "unhealthy", false},
}

func TestEffective_IsTheTableOfTheManualForEveryInput(t *testing.T) {
	for in := range everyInput() {
		matched := false
		for _, row := range manual {
			if !matchesManual(row.override, row.report, row.check, in) {
				continue
			}
			matched = true
			if got := Conclude(in); got.Status != row.status || got.MayServe != row.serve {
				t.Errorf("%+v is %s, %v; the table says %s, %v", in, got.Status, got.MayServe, row.status, row.serve)
			}
			break
		}
		if !matched {
			t.Errorf("%+v is in no row", in)
		}
	}
}

func matchesManual(override, report, own string, in Inputs) bool {
	state := map[check.State]string{check.StateUnknown: "none", check.StateHealthy: "healthy",
		check.StateUnhealthy: "unhealthy"}
	if override != state[in.Override] {
		return false
	}
	reported := state[in.Report]
	if in.Stale {
		reported = "stale"
	}
	if report != "any" && report != reported && !(in.Unauthorized && report == reported+" unauthorized") &&
		!(in.Held && report == reported+" held") {
		return false
	}
	switch own {
	case "any":
		return true
	case "disputed":
		return in.Disputed
	case "switched off":
		return in.Check == check.StateUnknown && in.Unmonitored
	case "none, last known healthy":
		return in.Check == check.StateUnknown && in.LastKnown == check.StateHealthy
	}
	return own == state[in.Check]
}

// Every input matches a row, and every row is the first that matches some input: no row is dead.
func TestEffective_EveryRowDecides(t *testing.T) {
	decides := map[int]bool{}
	for in := range everyInput() {
		decides[matchedRow(&in)] = true
		last := table[len(table)-1]
		if c := Conclude(in); c == last.Conclusion && (in.Override != check.StateUnknown || in.Stale ||
			in.Report != check.StateUnknown || in.Check != check.StateUnknown || in.LastKnown != check.StateUnknown) {
			t.Errorf("%+v matches no row but the last", in)
		}
	}
	reasons := map[string]bool{}
	for at, row := range table {
		if !decides[at] {
			t.Errorf("row %d never decides: %+v", at, row)
		}
		if row.Reason == "" || reasons[row.Reason] {
			t.Errorf("row %d: the reason %q is empty or of another row", at, row.Reason)
		}
		reasons[row.Reason] = true
	}
}

// The manual and this test have the same rows.
func TestEffective_TheManualHasARowForEachCase(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## When a backend may answer")
	section, _, _ = strings.Cut(section, "\n##")
	rows := 0
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") {
			rows++
		}
	}
	// The manual combines the rows "healthy, or none", "unhealthy, or none" and "none yet", and has a heading.
	if want := len(manual) - 3 + 1; rows != want {
		t.Errorf("the table of the manual has %d lines, want %d", rows, want)
	}
}

func TestEffective_TheReasonNamesTheEvidence(t *testing.T) {
	const yes, no, nothing = check.StateHealthy, check.StateUnhealthy, check.StateUnknown
	for _, tc := range []struct {
		in   Inputs
		want string
	}{
		{Inputs{Override: yes, Report: no, Check: no}, ReasonOverrideHealthy},
		{Inputs{Override: no, Report: yes, Check: yes}, ReasonOverrideUnhealthy},
		{Inputs{Report: no, Check: yes, Unauthorized: true}, ReasonUnauthorizedUnhealthy},
		{Inputs{Report: no, Check: no, Unauthorized: true}, ReasonAgentUnhealthy},
		{Inputs{Report: no, Check: yes, Held: true}, ReasonHeld},
		{Inputs{Report: no, Check: yes}, ReasonAgentUnhealthy},
		{Inputs{Report: yes, Check: no}, ReasonValidationUnhealthy},
		{Inputs{Report: yes, Check: yes}, ReasonAgreed},
		{Inputs{Report: yes}, ReasonAgentHealthy},
		{Inputs{Report: yes, Isolated: true}, ReasonAgentHealthyIsolated},
		{Inputs{Report: yes, CheckOff: true}, ReasonAgentUnchecked},
		{Inputs{Report: yes, CheckOff: true, Isolated: true}, ReasonAgentUnchecked},
		{Inputs{Report: yes, Stale: true, Check: yes}, ReasonStaleValidated},
		{Inputs{Stale: true, Check: no}, ReasonStaleFailing},
		{Inputs{Stale: true}, ReasonStale},
		{Inputs{Stale: true, Isolated: true}, ReasonStaleIsolated},
		{Inputs{Stale: true, CheckOff: true}, ReasonStaleUnchecked},
		{Inputs{Check: yes}, ReasonValidated},
		{Inputs{Check: no, LastKnown: yes}, ReasonFailing},
		{Inputs{Disputed: true, LastKnown: yes}, ReasonDisputed},
		{Inputs{Disputed: true, Report: yes}, ReasonAgentDisputed},
		{Inputs{Disputed: true, Report: no}, ReasonAgentUnhealthy},
		{Inputs{Disputed: true, Report: no, Unauthorized: true}, ReasonAgentUnhealthy},
		{Inputs{Disputed: true, Stale: true}, ReasonStaleDisputed},
		{Inputs{Unmonitored: true, LastKnown: no}, ReasonUnwatched},
		{Inputs{Unmonitored: true, CheckOff: true}, ReasonUnchecked},
		{Inputs{LastKnown: yes}, ReasonRemembered},
		{Inputs{LastKnown: no}, ReasonRememberedUnhealthy},
		{Inputs{LastKnown: nothing}, ReasonUnknown},
	} {
		if got := Conclude(tc.in).Reason; got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.in, got, tc.want)
		}
	}
}
