package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) backendsCommand() *cobra.Command {
	return cmdline.Group("backends", "List backends and run health checks",
		a.backendsListCommand(), cmdline.Changing(a.backendsValidateCommand()),
		cmdline.Menu("override", "Set and clear overrides", "", cmdline.Changing(a.overrideSetCommand()),
			cmdline.Changing(a.overrideClearCommand())))
}

// backendFlags are the filters of backends list.
type backendFlags struct {
	filter      api.BackendFilter
	status, tag string
	down        bool
}

func (a *app) backendsListCommand() *cobra.Command {
	var f backendFlags
	ask := func(c *api.Client, ctx context.Context) (backendList, error) {
		f.filter.Status = api.EffectiveStatus(f.status)
		return a.listBackends(ctx, c, f)
	}
	cmd := cmdline.ListCommand(a.App, "list", "List backends with their health and its reason", ask,
		func(list backendList) *render.Table { return a.backendTable(list.Backends, list.shares) })
	var statuses []string
	for _, s := range api.EffectiveStatuses() {
		statuses = append(statuses, string(s))
	}
	cmd.Flags().StringVar(&f.filter.Service, "service", "", "only backends of this `service`")
	cmd.Flags().StringVar(&f.filter.Region, "region", "", "only backends in this `region`")
	cmd.Flags().StringVar(&f.status, "status", "", "only backends of this `status`: "+strings.Join(statuses, ", "))
	cmd.Flags().BoolVar(&f.down, "down", false, "only backends that do not serve, with any status")
	a.tagFlag(cmd, &f.tag)
	_ = cmd.RegisterFlagCompletionFunc("service", a.Complete(serviceNames))
	_ = cmd.RegisterFlagCompletionFunc("region", a.Complete(allRegionNames))
	cmdline.Offer(cmd, "status", statuses)
	return cmd
}

// backendList is a list of backends, with the shares of all backends of their names.
type backendList struct {
	api.BackendList
	shares map[string]float64 // by id; only for tables
}

// listBackends requests backends and, for a table with a filter, also the other backends of their names.
func (a *app) listBackends(ctx context.Context, c *api.Client, f backendFlags) (backendList, error) {
	list, err := c.Backends(ctx, f.filter)
	if err != nil {
		return backendList{}, err
	}
	all := slices.Clone(list.Backends)
	if a.ForPeople() && (f.filter.Region != "" || f.filter.Status != "") {
		whole, err := c.Backends(ctx, api.BackendFilter{Service: f.filter.Service})
		if err != nil {
			return backendList{}, err
		}
		all = whole.Backends
	}
	without, err := untagged(ctx, c, f.tag)
	if f.down || f.tag != "" {
		list.Backends = slices.DeleteFunc(list.Backends, func(b api.Backend) bool {
			return f.down && b.MayServe || without(b.Service)
		})
		list.Total = len(list.Backends)
	}
	return backendList{list, nameShares(all)}, err
}

// backendTable has a row for each backend. shares has the shares of the backends in their names, by id.
func (a *app) backendTable(backends []api.Backend, shares map[string]float64) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "REGION", Spare: 4}, {Name: "STATUS"},
			{Name: "SERVES", Spare: 1}, {Name: "WEIGHT", Right: true, Spare: 2}, {Name: "SHARE", Right: true, Spare: 2},
			{Name: "AGENT", Spare: 5}, {Name: "SEEN", Spare: 6}, {Name: "OWN CHECK", Spare: 7},
			{Name: "LATENCY", Right: true, Spare: 8},
			{Name: "AGENT ID", Wide: true}, {Name: "CHECKED", Wide: true},
			{Name: "REASON", Spare: 3}},
		Empty: "No backend matches.",
	}
	for _, b := range backends {
		t.AddNamed(b.ID, render.C(b.Service), render.C(endpoint(b.Address, b.Port)), orNone(b.Region),
			statusCell(b.EffectiveStatus), goodCell(b.MayServe), weightCell(b), wholePercent(shares[b.ID]),
			verdictCell(b.AgentHealthy), a.Ago(b.AgentLastSeen),
			verdictCell(b.ValidationHealthy), latencyCell(b.ValidationLatencyMS), orNone(b.AgentID),
			a.Ago(b.ValidationLastCheck), render.C(reason(b)))
	}
	return t
}

// reason returns the reason of a backend's status: weight and drain of an operator, and a difference between the node's
// own check and the agent report.
func reason(b api.Backend) string {
	text := status(b)
	if w := b.WeightOverride; w != nil {
		text += fmt.Sprintf("; weight %d instead of %d: %s (by %s)", w.Weight, b.Weight, w.Reason, w.By)
	}
	if d := b.Drain; d != nil {
		text += fmt.Sprintf("; drained to %.0f%%", 100*d.Share)
		if d.Reason != "" {
			text += ": " + d.Reason
		}
		if d.By != "" {
			text += " (by " + d.By + ")"
		}
	}
	if b.ValidationNote != nil {
		text += "; " + *b.ValidationNote
	}
	return text
}

func status(b api.Backend) string {
	switch {
	case b.Override != nil:
		return fmt.Sprintf("%s: %s (by %s)", b.Reason, b.Override.Reason, b.Override.By)
	case !b.MayServe && b.ValidationError != nil && b.ValidationHealthy == nil:
		return b.Reason + "; last own check: " + *b.ValidationError
	case !b.MayServe && b.ValidationError != nil:
		return b.Reason + ": " + *b.ValidationError
	}
	return b.Reason
}

func (a *app) backendsValidateCommand() *cobra.Command {
	var target api.ValidateTarget
	cmd := &cobra.Command{
		Use:   "validate [" + backendForms + "]",
		Short: "Run the health checks of backends now",
		Long: "validate runs the health checks of all backends, of a backend, or of the backends that match the " +
			"flags.\n" +
			"It takes up to " + api.ValidateTimeout.String() + ". With several nodes, the first node that answers " +
			"runs the checks.",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(backendIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if target != (api.ValidateTarget{}) {
					return errors.New("--service, --address and --port select backends: give them or a backend, not " +
						"both")
				}
				name, err := a.backendArgument(cmd.Context(), args, allBackends)
				if err != nil {
					return err
				}
				target = api.ValidateTarget{Service: name.service, Address: name.address.String(), Port: name.port}
			}
			run, err := fleet.First(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).Validate, target))
			if err != nil {
				return err
			}
			return a.Print(run, a.Table(validationTable(run)))
		},
	}
	cmd.Flags().StringVar(&target.Service, "service", "", "only backends of this `service`")
	cmd.Flags().StringVar(&target.Address, "address", "", "only backends at this `ip`")
	cmd.Flags().IntVar(&target.Port, "port", 0, "only backends on this `port`")
	_ = cmd.RegisterFlagCompletionFunc("service", a.Complete(serviceNames))
	return cmd
}

func validationTable(run api.ValidationRun) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "RESULT"},
			{Name: "LATENCY", Right: true, Spare: 8}, {Name: "ERROR"}},
		Empty: "No backend was checked.",
	}
	for _, r := range run.Results {
		t.Add(render.C(r.Service), render.C(endpoint(r.Address, r.Port)), verdictCell(&r.Healthy),
			latencyCell(&r.LatencyMS),
			orNone(cmdline.ValueOf(r.Error)))
	}
	return t
}
