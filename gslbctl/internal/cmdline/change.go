package cmdline

import (
	"context"

	"gslb.internal/gslbctl/internal/fleet"
)

// Change makes a change that nodes replicate, as fleet.Change does, and prints the result of each node.
func (a *App) Change(ctx context.Context, apply fleet.Change) error {
	return a.PrintReport(a.Fleet.Change(ctx, apply))
}

// ChangeEach makes a change on every node, as fleet.ChangeEach does, and prints the result of each node.
func (a *App) ChangeEach(ctx context.Context, apply fleet.Change) error {
	return a.PrintReport(a.Fleet.ChangeEach(ctx, apply))
}

// PrintReport prints the results of a change and returns err. Without a report it prints nothing.
func (a *App) PrintReport(report fleet.Report, err error) error {
	if len(report) == 0 {
		return err
	}
	if failed := a.Print(report, report.Text); failed != nil {
		return failed
	}
	return err
}
