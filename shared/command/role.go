package command

import (
	"context"
	"flag"
	"io"
)

// Exit codes of the programs.
const (
	// ExitOK is the exit code after a requested stop and after a successful action.
	ExitOK = 0
	// ExitFailure is the exit code after an error while running.
	ExitFailure = 1
	// ExitUsage is the exit code for invalid arguments or an invalid configuration. A restart requires a correction.
	ExitUsage = 2
)

// Role is the work of a program with the configuration file of --config.
type Role struct {
	// Summary describes the program in one sentence, for --help.
	Summary string
	// Run works until ctx ends, and then returns nil.
	Run func(ctx context.Context, configPath string) error
	// Validate returns every problem of the configuration, or nil. It changes nothing.
	Validate func(configPath string) error
	// Cautions returns the valid but risky settings of a configuration that Validate accepts, one sentence each. It may
	// be nil.
	Cautions func(configPath string) []string
	// Actions are the commands of the program, as alternatives to Run.
	Actions []Action
}

// Action is a command that a program executes once instead of running.
type Action struct {
	// Flag is the action's flag, without the hyphens. Summary describes the action in a few words.
	Flag, Summary string
	// Value is the placeholder of the flag's value in --help; "" for an action without a value.
	Value string
	// Flags registers Flag, if the action has a value, and further flags of the action. nil: Flag is a switch.
	Flags func(*flag.FlagSet)
	// Do executes the action and writes its result to out.
	Do func(configPath string, out io.Writer) error
}
