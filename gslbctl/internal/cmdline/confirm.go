package cmdline

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/fleet"
)

// Confirm asks the operator to confirm an irreversible change of the selected cluster. The question names the cluster.
// Without a terminal, only --yes confirms.
func (a *App) Confirm(ctx context.Context, yes bool, consequence string) error {
	if yes {
		return nil
	}
	return a.ConfirmLocal(ctx, false, a.ClusterName()+": "+consequence)
}

// ConfirmLocal is Confirm for a change of this machine.
func (a *App) ConfirmLocal(ctx context.Context, yes bool, consequence string) error {
	if yes {
		return nil
	}
	if !a.Asks {
		return fmt.Errorf("%s: add --yes to confirm, because there is no terminal for the question; "+
			""+fleet.NothingChanged,
			consequence)
	}
	fmt.Fprintf(a.Err, "%s. Continue? [y/N] ", consequence)
	switch line, err := a.ReadLine(ctx); {
	case err != nil:
		fmt.Fprintln(a.Err)
	case slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))):
		return nil
	}
	return &fleet.Error{Code: fleet.Degraded, Message: fleet.NothingChanged}
}

// ReadLine returns one line of standard input without the line end.
func (a *App) ReadLine(ctx context.Context) (string, error) {
	line := make(chan string, 1)
	go func() { // ends with the process, because a terminal read cannot be interrupted
		text, _ := bufio.NewReader(io.LimitReader(a.In, 1<<16)).ReadString('\n')
		line <- strings.TrimRight(text, "\r\n")
	}()
	select {
	case text := <-line:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
