package overwatch

import (
	"gslb.internal/overwatch/internal/operate/doctor"
	"gslb.internal/shared/command"
)

// Actions returns the actions of an overwatch node's program beside running and validating a node.
func Actions() []command.Action {
	return []command.Action{
		{Flag: "status", Summary: "tell how the process that runs is doing", Do: doctor.Status},
		{Flag: "doctor", Summary: "look at this machine, the delegation and the peers, and say what to do", Do: doctor.Run},
	}
}

// Validate returns the problems that would keep a node with this configuration file from starting, as
// settings.Problems; nil for none. It changes nothing, and may be called while a node runs with the same data
// directory.
func Validate(path string) error { return doctor.Validate(path) }

// Cautions returns the warnings of a configuration file, one sentence each: settings that work and are hardly meant. It
// is nil for a file that cannot be read.
func Cautions(path string) []string { return doctor.Cautions(path) }
