package cmdline

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// AddCompletion adds the command that writes completion scripts. The command rejects unknown shells.
func AddCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			Reading(cmd)
			for _, shell := range cmd.Commands() {
				Reading(shell)
			}
			ExplainMisuse(cmd)
		}
	}
}

// Listing prepares a command that prints a list of named objects: it supports -o name and adds --watch.
func (a *App) Listing(cmd *cobra.Command) *cobra.Command {
	cmd = a.Watchable(cmd)
	cmd.Annotations[IsList] = IsList
	return cmd
}

// ListCommand returns a command that reads a list and shows it as a table.
func ListCommand[T any](a *App, use, short string, ask func(*api.Client, context.Context) (T, error),
	table func(T) *render.Table) *cobra.Command {
	return a.Listing(&cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := fleet.First(cmd.Context(), a.Fleet, fleet.Call(ask))
			if err != nil {
				return err
			}
			return a.List(list, SuggestIfEmpty(cmd, table(list)))
		},
	})
}

// ShowCommand returns a command that reads the object of its argument and shows it as a table. of completes the
// argument; it can be nil.
func ShowCommand[T any](a *App, use, short string, of Names, ask func(*api.Client, context.Context, string) (T, error),
	table func(T) *render.Table) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thing, err := fleet.First(cmd.Context(), a.Fleet, fleet.CallWith(ask, args[0]))
			if err != nil {
				return err
			}
			return a.Print(thing, a.Table(table(thing)))
		},
	}
	if of != nil {
		cmd.ValidArgsFunction = a.CompleteArguments(of)
	}
	return a.Watchable(cmd)
}

// Menu returns a command with subcommands. It has no action.
func Menu(use, short, long string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(children...)
	return Reading(cmd)
}

// Group returns a command with subcommands. Its action is the subcommand list.
func Group(use, short string, list *cobra.Command, others ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: list.RunE, Annotations: maps.Clone(list.Annotations)}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list)
	cmd.AddCommand(others...)
	return cmd
}
