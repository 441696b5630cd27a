package agent

import "gslb.internal/shared/command"

// Actions returns the commands of the agent's program in addition to running, such as --validate and --status.
func Actions() []command.Action {
	return []command.Action{
		{Flag: "status", Summary: "show the status of the running agent", Do: Status},
		notifyAction(),
		{Flag: "reset-identity", Summary: "delete certificate and key of an agent that does not run", Do: ResetIdentity},
	}
}
