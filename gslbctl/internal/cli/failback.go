package cli

import (
	"context"
	"fmt"
	"net/http"
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
		Use:   "failback [<name>...|<region>...]",
		Short: "Return clients to regions that were down",
		Long: "While a region is down, its clients receive answers of another region. With failback: manual, or\n" +
			"failback: TIME, they stay there when the region can serve again: the region awaits failback. failback\n" +
			"returns the clients now: of one domain, or of all domains that wait for a region. Without arguments,\n" +
			"it lists the regions that await failback. A domain with a time returns its clients automatically once\n" +
			"the region could serve for this time.\n\n" +
			"DNS has changed when the command returns. gslbctl undo reverts a failback: the clients stay in the\n" +
			"other region. To end a drain of a region, run gslbctl undrain REGION.",
		Example: "  gslbctl failback\n  gslbctl failback app.example.com\n  gslbctl failback eu\n" +
			"  gslbctl failback app.example.com --region eu",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: a.CompleteArguments(failbackNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			names, areas, err := a.failbackArguments(ctx, args)
			if err != nil {
				return err
			}
			regions := append(areas, regions...)
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
				return a.noFailback(ctx, regions)
			}
			return a.failBack(ctx, requests)
		},
	}
	cmd.Flags().StringSliceVar(&regions, "region", nil, "only these `regions`, separated by commas")
	_ = cmd.RegisterFlagCompletionFunc("region", a.CompleteList(allRegionNames))
	return cmd
}

// failbackArguments divides the arguments of failback into domains and regions. An argument is a region if a region and
// no domain has this name.
func (a *app) failbackArguments(ctx context.Context, args []string) (names, regions []string, err error) {
	if len(args) == 0 {
		return nil, nil, nil
	}
	known, err := fleet.First(ctx, a.Fleet, allRegionNames)
	if err != nil {
		return nil, nil, err
	}
	domains, err := fleet.First(ctx, a.Fleet, domainNames)
	if err != nil {
		return nil, nil, err
	}
	for _, arg := range args {
		name := strings.TrimSuffix(arg, ".")
		isDomain := slices.ContainsFunc(domains, func(d string) bool { return sameName(name, d) })
		at := slices.IndexFunc(known, func(r string) bool { return strings.EqualFold(r, arg) })
		if at >= 0 && !isDomain {
			regions = append(regions, known[at])
		} else {
			names = append(names, arg)
		}
	}
	return names, regions, nil
}

// noFailback returns the error of a failback to regions that no domain waits for. It names the command for regions with
// drained backends.
func (a *app) noFailback(ctx context.Context, regions []string) error {
	sentence := fmt.Sprintf("no domain waits for a region of %s that can serve: gslbctl failback lists pending "+
		"failbacks; "+fleet.NothingChanged, strings.Join(regions, ", "))
	known, err := a.knownBackends(ctx, backendsAndDrains)
	if err == nil {
		for _, region := range regions {
			if slices.ContainsFunc(known, func(b api.Backend) bool { return b.Region == region && b.Draining }) {
				sentence += fmt.Sprintf("; backends in %s are drained: gslbctl undrain %s restores their traffic", region,
					region)
			}
		}
	}
	return fleet.NewError(fleet.Degraded, sentence, &api.Error{Status: http.StatusConflict})
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
