package overwatch

import (
	"gslb.internal/overwatch/internal/operate/doctor"
	"gslb.internal/shared/command"
)

// Actions returns the actions of the program in addition to running and validating a node.
func Actions() []command.Action {
	return []command.Action{
		{Flag: "status", Summary: "show the status of the running node", Do: doctor.Status},
		{Flag: "doctor", Summary: "check this machine, the delegation and the peers, and print the remedies", Do: doctor.Run},
	}
}

// Validate returns the problems that would prevent a node from starting with this configuration file, as
// settings.Problems; nil if there are no problems. It changes nothing, and may be called while a node runs with the
// same data directory.
func Validate(path string) error { return doctor.Validate(path) }

// Cautions returns the warnings of a configuration file, one sentence each: valid settings that are probably mistakes.
// It returns nil if the file is unreadable.
func Cautions(path string) []string { return doctor.Cautions(path) }
