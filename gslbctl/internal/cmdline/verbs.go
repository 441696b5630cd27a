package cmdline

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// verbs returns groups of verbs that operators use for one action. The documented commands use one verb of each group.
func verbs() [][]string {
	return [][]string{
		{"add", "create"},
		{"set", "update", "change", "modify", "edit"},
		{"remove", "delete", "rm", "del"},
		{"list", "ls"},
		{"show", "get", "describe"},
		{"clear", "unset"},
		{"why", "explain"},
	}
}

// AddVerbAliases adds the other verbs of the group as aliases to each command whose name is a verb. It adds no alias
// that is a name or alias of another command of the same parent.
func AddVerbAliases(parent *cobra.Command) {
	taken := map[string]bool{}
	for _, cmd := range parent.Commands() {
		taken[cmd.Name()] = true
		for _, alias := range cmd.Aliases {
			taken[alias] = true
		}
	}
	for _, cmd := range parent.Commands() {
		AddVerbAliases(cmd)
		for _, group := range verbs() {
			if cmd.Hidden || !slices.Contains(group, cmd.Name()) {
				continue
			}
			for _, verb := range group {
				if !taken[verb] {
					taken[verb] = true
					cmd.Aliases = append(cmd.Aliases, verb)
				}
			}
		}
	}
}

// isVerb reports whether a word is a verb of any group.
func isVerb(word string) bool {
	return slices.ContainsFunc(verbs(), func(group []string) bool { return slices.Contains(group, word) })
}

// unknownCommand returns the error of a request for the help of a command that does not exist, or nil. cmd is the
// command that cobra found, and args are the remaining arguments. A verb after a command without subcommands is a
// command that does not exist; other arguments are arguments of the command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		if cmd.Args == nil || cmd.Args(cmd, args) == nil {
			return nil
		}
		return &UsageError{cmd.CommandPath(), wrongArguments(cmd, args)}
	case isVerb(args[0]):
		return &UsageError{cmd.CommandPath(), fmt.Sprintf("%s has no subcommand %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

// RejectUnknownHelp makes --help and the command help return an error for a command that does not exist, instead of the
// help of its parent. The returned function returns this error after the execution of root.
func RejectUnknownHelp(root *cobra.Command) func() error {
	var rejected error
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if rejected = unknownCommand(cmd, cmd.Flags().Args()); rejected == nil {
			show(cmd, args)
		}
	})
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		cmd.Run = nil
		cmd.RunE = func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err == nil {
				err = unknownCommand(found, rest)
			}
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		}
		Reading(cmd)
	}
	return func() error { return rejected }
}
