package conditions

import (
	"fmt"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// walkBrakes reports the names, agents and regions of which reports are held: agents alone would take too many of
// their backends. A name has one condition for both concerns.
func (j *Judge) walkBrakes(to report) {
	backends, names := map[string]int{}, map[string]map[string]bool{}
	var subjects []registry.HoldState
	for _, state := range j.o.View.Holds() {
		subject := state.Subject()
		for b := range state.HeldBackends(j.o.View) {
			if names[subject] == nil {
				names[subject] = map[string]bool{}
				subjects = append(subjects, state)
			}
			names[subject][b.Service] = true
			backends[subject]++
		}
	}
	for _, state := range subjects {
		to(api.AgentsHeld, state.Subject(), func() (string, string) {
			return describeHold(state, backends[state.Subject()], len(names[state.Subject()]))
		})
	}
}

// describeHold describes a hold, with its numbers of backends and of names.
func describeHold(state registry.HoldState, backends, names int) (sentence, command string) {
	what := "agents call most backends of " + state.Subject() + " unhealthy at once"
	command = "gslbctl brakes release " + state.Service
	switch {
	case state.Region != "" && state.Agent != "":
		what = fmt.Sprintf("agent %s alone calls all serving backends of region %s unhealthy", state.Agent, state.Region)
		command = "gslbctl brakes release --region " + state.Region
	case state.Region != "":
		command = "gslbctl brakes release --region " + state.Region
	case state.Agent != "":
		what = fmt.Sprintf("agent %s calls most of its backends unhealthy at once", state.Agent)
		command = "gslbctl brakes release --agent " + state.Agent
	case state.Kind == status.ReportWarning:
		what = "agents warn early of most backends of " + state.Service + " at once"
	}
	until := "until the agent or the checks change"
	if !state.Until.IsZero() {
		until = "until " + moment(state.Until) + ", then the agents are believed"
	}
	return fmt.Sprintf("%s, own checks succeed: %s of %s are served in full %s", what,
		counted(backends, "backend"), counted(names, "name"), until), command
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
