package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// decisionFlags select sampled routing decisions.
type decisionFlags struct {
	domain, algorithm, region, outcome string
	period                             cmdline.Period
	limit                              int
	follow                             bool
}

func (f *decisionFlags) query(now time.Time) (url.Values, error) {
	if f.limit < 1 || f.limit > api.MaxPageLimit {
		return nil, fmt.Errorf("--limit is %d: it must be from 1 to %d", f.limit, api.MaxPageLimit)
	}
	return cmdline.Query(now, &f.period, "start_time", "end_time", map[string]string{
		"domain": f.domain, "algorithm": f.algorithm, "region": f.region, "outcome": f.outcome,
		"limit": strconv.Itoa(f.limit),
	})
}

func (a *app) routingDecisionsCommand() *cobra.Command {
	var f decisionFlags
	cmd := a.Listing(&cobra.Command{
		Use:   "decisions",
		Short: "List sampled routing decisions, latest first",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.query(a.Now())
			if err != nil {
				return err
			}
			if f.follow {
				if f.period.HasEnd() {
					return errFollowBounded
				}
				return a.followDecisions(cmd.Context(), q, f.limit)
			}
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).RoutingDecisions, q))
			if err != nil {
				return err
			}
			list := mergeDecisions(g, f.limit)
			t := decisionTable()
			t.Empty = "No answer was sampled; routing.decision_sample sets the rate."
			cmdline.NodeColumn(g.Several(), t)
			for i := range list.Decisions {
				d := &list.Decisions[i]
				t.AddNamed(d.ID, cmdline.NodeCells(g.Several(), d.Node, a.decisionCells(&d.RoutingDecision)...)...)
			}
			return g.Done(a.List(list, cmdline.SuggestIfEmpty(cmd, t)))
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.domain, "domain", "", "only decisions for this `name`")
	flags.StringVar(&f.algorithm, "algorithm", "", "only decisions of this `algorithm`")
	flags.StringVar(&f.region, "region", "", "only decisions for a backend in this `region`")
	flags.StringVar(&f.outcome, "outcome", "", "only decisions with this `outcome`, such as failover")
	f.period.Flags(cmd)
	flags.IntVar(&f.limit, "limit", api.DefaultPageLimit, "maximum number of decisions")
	flags.BoolVar(&f.follow, "follow", false, "print new decisions, oldest first, until Ctrl-C")
	_ = cmd.RegisterFlagCompletionFunc("domain", a.Complete(domainNames))
	_ = cmd.RegisterFlagCompletionFunc("algorithm", a.Complete(policyNames))
	_ = cmd.RegisterFlagCompletionFunc("region", a.Complete(allRegionNames))
	cmdline.Offer(cmd, "outcome", outcomeNames())
	return a.NodeFlag(cmd)
}

func outcomeNames() []string {
	var names []string
	for _, kind := range api.RoutingDecisionKinds() {
		names = append(names, string(kind))
	}
	return names
}

// nodeDecision is a sampled routing decision with the name of its node.
type nodeDecision struct {
	api.RoutingDecision
	Node string `json:"node"`
}

// decisionList is the output of routing decisions: the latest decisions of all nodes.
type decisionList struct {
	Decisions []nodeDecision `json:"decisions"` // latest first
	Total     int            `json:"total"`     // of all nodes, matching the filter
	Nodes     []fleet.Asked  `json:"nodes"`
}

// mergeDecisions returns the latest decisions of all nodes, at most limit.
func mergeDecisions(g fleet.Gathered[api.RoutingDecisionList], limit int) decisionList {
	list := decisionList{Decisions: []nodeDecision{}, Nodes: g.Nodes}
	for _, r := range g.Answers {
		list.Total += r.Value.Total
		for _, d := range r.Value.Decisions {
			list.Decisions = append(list.Decisions, nodeDecision{d, r.Node})
		}
	}
	slices.SortStableFunc(list.Decisions, func(x, y nodeDecision) int { return y.Timestamp.Compare(x.Timestamp) })
	list.Decisions = list.Decisions[:min(len(list.Decisions), limit)]
	return list
}

func decisionTable() *render.Table {
	return &render.Table{Columns: []render.Column{{Name: "ID"}, {Name: "WHEN"}, {Name: "NAME"}, {Name: "TYPE"},
		{Name: "CLIENT"}, {Name: "IN"}, {Name: "ALGORITHM"},
		{Name: "SERVER"}, {Name: "REGION"}, {Name: "OUTCOME"}}}
}

func (a *app) decisionCells(d *api.RoutingDecision) []render.Cell {
	return []render.Cell{render.C(d.ID), a.Ago(&d.Timestamp), render.C(d.Domain), render.C(d.QueryType),
		render.C(d.ClientSubnet), orNone(d.ClientRegion),
		render.C(d.Algorithm), orNone(d.SelectedServer), orNone(d.SelectedRegion), decisionCell(d.Outcome)}
}

// followDecisions prints new decisions until ctx ends.
func (a *app) followDecisions(ctx context.Context, q url.Values, limit int) error {
	seen := map[string]bool{}
	return a.Follow(ctx, true, func() (missing, err error) {
		g, err := fleet.Gather(ctx, a.Fleet, fleet.CallWith((*api.Client).RoutingDecisions, q))
		if err != nil {
			return nil, err
		}
		now := map[string]bool{}
		for _, d := range slices.Backward(mergeDecisions(g, limit*len(g.Nodes)).Decisions) {
			key := d.Node + " " + d.ID
			now[key] = true
			if seen[key] {
				continue
			}
			if err := a.printDecision(&d, g.Several()); err != nil {
				return nil, err
			}
		}
		seen = now
		return g.Missing(), nil
	})
}

func (a *app) printDecision(d *nodeDecision, several bool) error {
	return a.Entry(d, d.ID, func() string {
		server, where := "nobody", ""
		if d.SelectedServer != "" {
			server = d.SelectedServer + inBrackets(d.SelectedRegion)
		}
		if several {
			where = "  " + d.Node
		}
		return fmt.Sprintf("%s%s  %s  %s %s  %s%s  %s  to %s  %s", d.Timestamp.Local().Format("15:04:05.000"), where,
			d.ID,
			d.Domain, d.QueryType, d.ClientSubnet, inBrackets(d.ClientRegion), d.Algorithm, server, d.Outcome)
	})
}
