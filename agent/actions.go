package agent

import "gslb.internal/shared/command"

// Actions are what an agent's program does besides running.
func Actions() []command.Action {
	return []command.Action{
		{Flag: "status", Summary: "tell how the process that runs is doing", Do: Status},
		{Flag: "reset-identity", Summary: "delete certificate and key of an agent that does not run", Do: ResetIdentity},
	}
}
