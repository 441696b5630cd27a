package cli

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) routingFlowsCommand() *cobra.Command {
	var source, destination, domain string
	var p cmdline.Period
	cmd := a.Listing(&cobra.Command{
		Use:   "flows",
		Short: "Count answers by client region and server region",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := cmdline.Query(a.Now(), &p, "start_time", "end_time", map[string]string{"source_region": source,
				"dest_region": destination, "domain": domain, "limit": strconv.Itoa(api.MaxPageLimit)})
			if err != nil {
				return err
			}
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).RoutingFlows, q))
			if err != nil {
				return err
			}
			list := sumFlows(g)
			t := &render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: "FROM"}, {Name: "TO"},
				{Name: "ANSWERS", Right: true}, {Name: "SHARE", Right: true}, {Name: "LATEST"}},
				Empty: "Nothing was answered."}
			for _, f := range list.Flows {
				name := f.Domain
				if name == "" {
					name = "(others)"
				}
				t.AddNamed(name, render.C(name), orNone(f.SourceRegion), orNone(f.DestinationRegion),
					render.C(strconv.FormatUint(f.RequestCount, 10)), percentCell(f.Share), a.Ago(&f.Timestamp))
			}
			return g.Done(a.List(list, t))
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&source, "source", "", "only answers to clients in this `region`")
	flags.StringVar(&destination, "destination", "", "only answers with backends in this `region`")
	flags.StringVar(&domain, "domain", "", "only answers for this `name`")
	p.Flags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("source", a.Complete(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("destination", a.Complete(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("domain", a.Complete(domainNames))
	return a.NodeFlag(cmd)
}

// flowList is the output of routing flows: the sums of all nodes.
type flowList struct {
	api.RoutingFlowList
	Nodes []fleet.Asked `json:"nodes"`
}

// sumFlows adds the counts of all nodes, sorts the flows by count, and computes the shares.
func sumFlows(g fleet.Gathered[api.RoutingFlowList]) flowList {
	list := flowList{RoutingFlowList: g.Answers[0].Value, Nodes: g.Nodes}
	if len(g.Answers) == 1 {
		return list
	}
	list.Uncounted = 0
	type way struct{ source, destination, domain string }
	sums, all := map[way]*api.RoutingFlow{}, uint64(0)
	for _, r := range g.Answers {
		list.Uncounted += r.Value.Uncounted
		for _, f := range r.Value.Flows {
			key := way{f.SourceRegion, f.DestinationRegion, f.Domain}
			all += f.RequestCount
			if sum := sums[key]; sum == nil {
				sums[key] = &f
				continue
			} else if f.Timestamp.After(sum.Timestamp) {
				sum.Timestamp = f.Timestamp
			}
			sums[key].RequestCount += f.RequestCount
		}
	}
	list.Flows = []api.RoutingFlow{}
	for _, f := range sums {
		if all > 0 {
			f.Share = float64(f.RequestCount) / float64(all)
		}
		list.Flows = append(list.Flows, *f)
	}
	slices.SortFunc(list.Flows, func(x, y api.RoutingFlow) int {
		return cmp.Or(cmp.Compare(y.RequestCount, x.RequestCount), cmp.Compare(x.Domain, y.Domain),
			cmp.Compare(x.SourceRegion, y.SourceRegion), cmp.Compare(x.DestinationRegion, y.DestinationRegion))
	})
	list.Total = len(list.Flows)
	return list
}
