package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) domainsCommand() *cobra.Command {
	return cmdline.Group("domains", "Manage domains", a.domainsListCommand(), a.domainsShowCommand(),
		cmdline.Changing(a.domainsAddCommand()),
		cmdline.Changing(a.domainsSetCommand()), cmdline.Destroying(a.domainsRemoveCommand()),
		a.resetCommand("domain", "reset <name>", domainNames, (*api.Client).ResetDomain))
}

func (a *app) domainsListCommand() *cobra.Command {
	var tag string
	ask := func(c *api.Client, ctx context.Context) (api.DomainList, error) {
		if tag == "" {
			return c.Domains(ctx)
		}
		return c.TaggedDomains(ctx, tag)
	}
	cmd := cmdline.ListCommand(a.App, "list", "List all domains",
		ask, func(list api.DomainList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "NAME"}, {Name: "POLICY", Spare: 1}, {Name: "TTL", Right: true,
					Spare: 2},
					{Name: "HEALTHY", Right: true}, {Name: "SIGNED", Spare: 3},
					{Name: "ENABLED", Wide: true}, {Name: "CHANGED", Wide: true}, {Name: "TAGS", Wide: true},
					{Name: "DESCRIPTION", Wide: true}, {Name: "SOURCE", Wide: true}},
				Empty: "No domains are configured.",
			}
			if tag != "" {
				t.Empty = "No domain has the tag " + tag + "."
			}
			for _, d := range list.Domains {
				t.AddNamed(d.Name, render.C(d.Name), render.C(d.RoutingPolicy), render.C(strconv.Itoa(d.TTL)+"s"),
					healthyOf(d.HealthyBackends, d.BackendCount),
					render.C(render.YesNo(d.DNSSECEnabled)), render.C(render.YesNo(d.Enabled)), a.Ago(&d.UpdatedAt),
					orNone(strings.Join(d.Tags, ",")), orNone(d.Description),
					sourceCell(d.Source, d.Overlay))
			}
			return t
		})
	cmd.Flags().StringVar(&tag, "tag", "", "only domains that have this `tag`")
	_ = cmd.RegisterFlagCompletionFunc("tag", a.Complete(tagNames))
	return cmd
}

// domainReport is a domain with its backends.
type domainReport struct {
	Domain   api.Domain          `json:"domain"`
	Backends []api.DomainBackend `json:"backends"`
}

func (a *app) domainsShowCommand() *cobra.Command {
	return a.Watchable(&cobra.Command{
		Use:               "show <name>",
		Short:             "Show a domain with its backends",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := fleet.First(cmd.Context(), a.Fleet, func(ctx context.Context, c *api.Client) (domainReport,
				error) {
				return readDomain(ctx, c, args[0])
			})
			if err != nil {
				return err
			}
			return a.Print(report, func() string { return a.domainText(report) })
		},
	})
}

func readDomain(ctx context.Context, c *api.Client, name string) (domainReport, error) {
	detail, err := c.Domain(ctx, name)
	if err != nil {
		return domainReport{}, err
	}
	backends, err := c.DomainBackends(ctx, name)
	return domainReport{detail.Domain, backends.Backends}, err
}

func (a *app) domainText(r domainReport) string {
	d := r.Domain
	lines := []string{fmt.Sprintf("%s  routing algorithm %s, TTL %ds, %d of %s healthy, signed: %s", d.Name,
		d.RoutingPolicy, d.TTL, d.HealthyBackends, render.Count(d.BackendCount, "backend", "backends"),
		render.YesNo(d.DNSSECEnabled)), ""}
	if d.Overlay != nil {
		lines = append(lines, fmt.Sprintf("%s overlaid by %s: gslbctl domains reset %s restores the configuration",
			render.Count(len(d.Overlay.Fields), "value", "values"), d.Overlay.By, d.Name), "")
	}
	if d.MinHealthy != "" {
		lines = append(lines, "with fewer than "+d.MinHealthy+" able to serve, the fallback answer is used", "")
	}
	if waits := a.failbackLines(d); len(waits) > 0 {
		lines = append(append(lines, waits...), "")
	}
	if records := recordLines(d); len(records) > 0 {
		lines = append(append(lines, records...), "")
	}
	t := &render.Table{
		Columns: []render.Column{{Name: "ADDRESS"}, {Name: "REGION"}, {Name: "PRIORITY", Right: true},
			{Name: "WEIGHT", Right: true},
			{Name: "HEALTHY"}, {Name: "ENABLED"}, {Name: "CHECKED"}},
		Empty: "No backend is registered for it.",
	}
	for _, b := range r.Backends {
		t.Add(render.C(endpoint(b.Address, b.Port)), orNone(b.Region), number(b.Priority),
			declaredWeightCell(b.Weight, b.WeightOverride), goodCell(b.Healthy),
			render.C(render.YesNo(b.Enabled)), a.Ago(b.LastCheck))
	}
	return render.Lines(lines) + a.Text(t)
}

// recordLines lists the records of a domain other than addresses.
func recordLines(d api.Domain) (lines []string) {
	if d.AnswersNames() {
		lines = append(lines, "Answers: "+d.Answer+", the host names of its servers")
	}
	if h := d.HTTPS; !h.IsZero() {
		line := fmt.Sprintf("HTTPS records: %s at port %d", strings.Join(h.ALPN, ", "), cmp.Or(h.Port, 443))
		if h.ECH != "" {
			line += ", with ECH"
		}
		lines = append(lines, line)
	}
	if len(d.SRV) > 0 {
		lines = append(lines, "SRV records: "+strings.Join(d.SRV, ", "))
	}
	return lines
}

func goodCell(good bool) render.Cell {
	tone := render.Bad
	if good {
		tone = render.Good
	}
	return render.Cell{Text: render.YesNo(good), Tone: tone}
}
