package cli

import (
	"bufio"
	"context"
	"fmt"
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
	typed := make(chan string, 1)
	go func() { // ends with the process: a read of a terminal cannot be stopped
		line, _ := bufio.NewReader(a.In).ReadString('\n')
		typed <- line
	}()
	select {
	case line := <-typed:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
	}
	return &outcome{exitDegraded, "nothing was changed"}
}
