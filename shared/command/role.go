package command

import (
	"context"
	"io"
)

// Exit codes of the programs.
const (
	// ExitOK: asked to stop, or asked for something that was done.
	ExitOK = 0
	// ExitFailure: something went wrong while running.
	ExitFailure = 1
	// ExitUsage: wrong arguments or a wrong configuration; starting again without a change is of no use.
	ExitUsage = 2
)

// Role is what a program does with the configuration file that --config names.
type Role struct {
	// Summary is one sentence for --help: what the program does.
	Summary string
	// Run works until ctx ends, which is how it is asked to stop, and then returns nil.
	Run func(ctx context.Context, configPath string) error
	// Validate returns everything that is wrong with the configuration, nil if nothing is. It changes nothing.
	Validate func(configPath string) error
	// Cautions returns what works but deserves a word, one sentence each, of a configuration that Validate has found nothing wrong with;
	// nil for a role that has none.
	Cautions func(configPath string) []string
	// Actions are what else the program can do.
	Actions []Action
}

// Action is something that a program does once, in place of running.
type Action struct {
	// Flag asks for it, without the hyphens; Summary says in a few words what it does.
	Flag, Summary string
	// Do does it and tells on out what was done.
	Do func(configPath string, out io.Writer) error
}
