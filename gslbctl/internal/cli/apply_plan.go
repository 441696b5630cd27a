package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// exitChanges is the exit code of plan if the document contains changes.
const exitChanges = 3

func (a *app) planCommand() *cobra.Command {
	var f applyFlags
	var config string
	cmd := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Preview the changes that a document or configuration file would make",
		Long: "plan compares a document with the objects of the API. It lists the changed objects, then the changed\n" +
			"answers, weighted with the answers of the last hour. The node computes the answers with its own\n" +
			"routing code and assumes that new servers are healthy.\n\n" +
			"With --config, plan compares a configuration file with the current configuration of a node: the keys\n" +
			"and the answers.\n\n" +
			"The exit code is 0 if nothing would change, 3 if there are changes.",
		Example: "  gslbctl plan -f shop.yaml --owner shop --prune",
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := a.planOf(cmd.Context(), &f, config)
			if err != nil {
				return err
			}
			if err := a.Print(plan, func() string { return a.planText(plan) }); err != nil {
				return err
			}
			if len(plan.Changes) > 0 {
				return &fleet.Error{Code: exitChanges}
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&config, "config", "", "preview this configuration `file` instead of a document")
	cmd.MarkFlagsMutuallyExclusive("file", "config")
	return cmd
}

// planOf requests the plan of a document or of a configuration file.
func (a *app) planOf(ctx context.Context, f *applyFlags, config string) (api.Plan, error) {
	if config != "" {
		text, err := a.configText(config, "--config")
		if err != nil {
			return api.Plan{}, err
		}
		return fleet.First(ctx, a.Fleet, fleet.CallWith((*api.Client).PlanConfig, text))
	}
	m, req, err := f.request(a)
	if err != nil {
		return api.Plan{}, err
	}
	plan, err := fleet.First(ctx, a.Fleet, fleet.CallWith((*api.Client).Plan, req))
	return plan, placed(m, err)
}

// plansText returns the text of each distinct plan once. Before each plan except the first, a line names the first node
// with this plan.
func (a *app) plansText(replies []fleet.Answer[api.Plan]) (text string) {
	var shown []string
	for _, r := range replies {
		changes := fmt.Sprint(r.Value.Changes)
		if r.Err != nil || slices.Contains(shown, changes) {
			continue
		}
		shown = append(shown, changes)
		if len(shown) > 1 {
			text += fmt.Sprintf("\nOn %s:\n", r.Node)
		}
		text += a.planText(r.Value)
	}
	return text
}
