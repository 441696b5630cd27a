package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) failbackCommand() *cobra.Command {
	var regions []string
	cmd := &cobra.Command{
		Use:   "failback [<name>...]",
		Short: "Return clients to regions that were down",
		Long: "failback returns the clients of domains to regions that were down and can serve again. It is for\n" +
			"domains with failback: manual, and for domains with a time that has not passed. DNS has changed when\n" +
			"the command returns; gslbctl undo restores the standby.\n\n" +
			"With --region and without a name, failback returns the clients of all domains that wait for the\n" +
			"region. Without both, it lists the pending failbacks.",
		Example: "  gslbctl failback\n  gslbctl failback app.example.com\n  gslbctl failback --region main",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: a.CompleteArguments(failbackNames),
		RunE: func(cmd *cobra.Command, names []string) error {
			ctx := cmd.Context()
			if len(names) > 0 {
				requests := make([]failbackRequest, len(names))
				for i, name := range names {
					requests[i] = failbackRequest{name, regions}
				}
				return a.failBack(ctx, requests)
			}
			list, err := fleet.First(ctx, a.Fleet, fleet.Call((*api.Client).Failbacks))
			if err != nil {
				return err
			}
			if len(regions) == 0 {
				return a.Print(list, a.Table(a.failbackTable(list.Failbacks)))
			}
			requests := requestsFor(list.Failbacks, regions)
			if len(requests) == 0 {
				return fmt.Errorf("no domain waits for a region of %s that can serve: gslbctl failback lists pending failbacks",
					strings.Join(regions, ", "))
			}
			return a.failBack(ctx, requests)
		},
	}
	cmd.Flags().StringSliceVar(&regions, "region", nil, "only these `regions`, separated by commas")
	_ = cmd.RegisterFlagCompletionFunc("region", a.CompleteList(allRegionNames))
	return cmd
}

// failbackRequest is a failback of a domain. Without regions, it is for all regions that can serve.
type failbackRequest struct {
	name    string
	regions []string
}

// requestsFor returns a request for each domain with the regions that await failback and can serve.
func requestsFor(pending []api.PendingFailback, regions []string) (requests []failbackRequest) {
	for _, p := range pending {
		if !slices.Contains(regions, p.Region) || p.CanServeSince == nil {
			continue
		}
		at := slices.IndexFunc(requests, func(r failbackRequest) bool { return r.name == p.Domain })
		if at < 0 {
			at, requests = len(requests), append(requests, failbackRequest{name: p.Domain})
		}
		requests[at].regions = append(requests[at].regions, p.Region)
	}
	return requests
}

// failBack returns the clients of domains, as one change.
func (a *app) failBack(ctx context.Context, requests []failbackRequest) error {
	return a.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
		for i, r := range requests {
			done, err := c.FailBack(ctx, r.name, api.FailbackRequest{Regions: r.regions})
			if err != nil {
				return "", fleet.After(i, fmt.Sprintf("the clients of %d of %d domains return", i, len(requests)), err)
			}
			if len(requests) == 1 {
				return done.Message, nil
			}
		}
		return fmt.Sprintf("the clients of %d domains return", len(requests)), nil
	})
}

func (a *app) failbackTable(list []api.PendingFailback) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "NAME"}, {Name: "REGION"}, {Name: "FAILBACK"}, {Name: "DOWN SINCE"},
			{Name: "SERVING", Right: true}, {Name: "REQUIRED", Right: true}, {Name: "CAN SERVE"}, {Name: "RETURNS"}},
		Empty: "No region awaits failback.",
	}
	for _, p := range list {
		returns := render.C(render.None)
		if p.ReturnsAt != nil {
			returns = render.C(render.Until(*p.ReturnsAt, a.Now()))
		}
		can := render.Cell{Text: "no", Tone: render.Bad}
		if p.CanServeSince != nil {
			can = a.Ago(p.CanServeSince)
		}
		t.AddNamed(p.Domain, render.C(p.Domain), render.C(p.Region), render.C(p.Failback.String()), a.Ago(&p.Since),
			number(p.Serving), number(p.Required), can, returns)
	}
	return t
}

// failbackLines describes the pending failbacks of a domain.
func (a *app) failbackLines(d api.Domain) (lines []string) {
	if d.Failback.Waits() {
		lines = append(lines, "Failback: "+d.Failback.String())
	}
	for _, p := range d.PendingFailbacks {
		line := fmt.Sprintf("Region %s awaits failback since %s", p.Region, cmdline.Zoned(p.Since, a.Now()))
		switch {
		case p.CanServeSince == nil:
			line += fmt.Sprintf(": it cannot serve, %d of %d required backends", p.Serving, p.Required)
		case p.ReturnsAt != nil:
			line += ": its clients return " + cmdline.Zoned(*p.ReturnsAt, a.Now())
		default:
			line += ": gslbctl failback " + d.Name + " returns its clients"
		}
		lines = append(lines, line)
	}
	return lines
}

// failbackNames returns the domains with pending failbacks, for completion.
func failbackNames(ctx context.Context, c *api.Client) (names []string, err error) {
	list, err := c.Failbacks(ctx)
	for _, p := range list.Failbacks {
		names = append(names, p.Domain)
	}
	return slices.Compact(names), err
}
