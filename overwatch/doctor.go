package overwatch

import (
	"gslb.internal/overwatch/internal/operate/doctor"
	"gslb.internal/shared/command"
)

// Actions returns what an overwatch node's program does beside running and validating.
func Actions() []command.Action {
	return []command.Action{
		{Flag: "status", Summary: "tell how the process that runs is doing", Do: doctor.Status},
		{Flag: "doctor", Summary: "look at this machine, the delegation and the peers, and say what to do", Do: doctor.Run},
	}
}

// Validate returns everything that would keep a node with this configuration from starting, as settings.Problems; nil
// if nothing would. It changes nothing, and does not disturb a node that runs with the same data directory.
func Validate(path string) error { return doctor.Validate(path) }

// Cautions returns what works in a configuration but deserves a word, one sentence each. It is nil for a configuration
// that cannot be read.
func Cautions(path string) []string { return doctor.Cautions(path) }
