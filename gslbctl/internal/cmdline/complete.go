package cmdline

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
)

// completionTimeout is the maximum time of a request for completion, because the user waits for the result.
const completionTimeout = time.Second

// Names requests the possible values of an argument from a node.
type Names = fleet.Request[[]string]

// Complete completes an argument with names from a node. Without an answer it returns no names.
func (a *App) Complete(of Names) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		list, err := fleet.First(ctx, a.Fleet, of)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteArguments completes the first arguments. of has an entry for each argument.
func (a *App) CompleteArguments(of ...Names) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(of) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.Complete(of[len(args)])(cmd, args, typed)
	}
}

// CompleteList completes the last name of a comma-separated list.
func (a *App) CompleteList(of Names) cobra.CompletionFunc {
	offer := a.Complete(of)
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		list, directive := offer(cmd, args, "")
		before := strings.LastIndex(typed, ",") + 1
		given := strings.Split(typed[:before], ",")
		var found []string
		for _, name := range list {
			if !slices.Contains(given, name) {
				found = append(found, typed[:before]+name)
			}
		}
		return found, directive | cobra.ShellCompDirectiveNoSpace
	}
}
