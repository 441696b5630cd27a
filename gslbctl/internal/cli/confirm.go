package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// yesFlag adds --yes to a command that asks before it acts.
func yesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask before acting")
}

// confirm asks before something that cannot be taken back. Where nobody can
// answer, only --yes lets it happen.
func (a *app) confirm(ctx context.Context, yes bool, consequence string) error {
	if yes {
		return nil
	}
	if !a.Asks {
		return fmt.Errorf("%s: add --yes to confirm, since there is no terminal to ask on", consequence)
	}
	fmt.Fprintf(a.Err, "%s. Continue? [y/N] ", consequence)
	switch line, err := a.typed(ctx); {
	case err != nil:
		fmt.Fprintln(a.Err)
	case slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))):
		return nil
	}
	return &outcome{exitDegraded, "nothing was changed"}
}
