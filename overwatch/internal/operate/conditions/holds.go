package conditions

import (
	"fmt"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// reportHolds reports the domains, agents and regions with holds. A domain with holds of both kinds has one condition.
func (j *Judge) reportHolds(to report) {
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
	what := "agents report most backends of " + state.Subject() + " unhealthy within a short time"
	command = "gslbctl brakes release " + state.Service
	switch {
	case state.Region != "" && state.Agent != "":
		what = fmt.Sprintf("agent %s reports all serving backends of region %s unhealthy", state.Agent, state.Region)
		command = "gslbctl brakes release --region " + state.Region
	case state.Region != "":
		command = "gslbctl brakes release --region " + state.Region
	case state.Agent != "":
		what = fmt.Sprintf("agent %s reports most of its backends unhealthy within a short time", state.Agent)
		command = "gslbctl brakes release --agent " + state.Agent
	case state.Kind == status.ReportWarning:
		what = "agents send early warnings about most backends of " + state.Service
	}
	until := "until the agent report or the own checks change"
	if !state.Until.IsZero() {
		until = "until " + moment(state.Until) + ", then the agent reports are accepted"
	}
	return fmt.Sprintf("%s, but own checks succeed: %s of %s serve in full %s", what,
		counted(backends, "backend"), counted(names, "domain"), until), command
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
