package cli

import (
	"context"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/chain"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// maxCheckedNames bounds the queried domains of a zone.
const maxCheckedNames = 5

// checkOptions are the flags of dnssec check.
type checkOptions struct {
	ds       []string
	servers  []string
	resolver string
}

func (a *app) dnssecCheckCommand() *cobra.Command {
	var o checkOptions
	cmd := a.Watchable(&cobra.Command{
		Use:   "check [zone]",
		Short: "Validate the DNSSEC chain of trust of each node",
		Long: "check validates the chain of trust: the DS records of the parent zone, and the keys and answers of\n" +
			"each node. It checks the zones and domains of the node, or one zone. With a zone and --server it\n" +
			"needs no API. If a node's API answers, check also reports which changes of keys and DS records are\n" +
			"safe now, and the time when the other changes become safe.\n\n" +
			"Exit codes: 0 all answers are secure; 1 some answers are bogus, insecure or missing; 2 the check\n" +
			"could not be made.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.dnssecCheck(cmd.Context(), o, args) },
	})
	cmd.Flags().StringArrayVar(&o.ds, "ds", nil,
		"DS `record` to check, such as \"34505 13 2 <digest>\", instead of the DS records of the parent")
	cmd.Flags().StringArrayVar(&o.servers, "server", nil,
		"`address` of a DNS server to check instead of the nodes (default port 53); repeat the flag for more servers")
	cmd.Flags().StringVar(&o.resolver, "resolver", "",
		"`address` of the resolver for DS records; by default a node queries rollover.parent_servers, or else "+
			"the resolver of the machine")
	return cmd
}

func (a *app) dnssecCheck(ctx context.Context, o checkOptions, args []string) error {
	servers, err := a.checkedServers(o.servers)
	if err != nil {
		return err
	}
	questions, err := a.checkedZones(ctx, o, args)
	if err != nil {
		return err
	}
	var advice map[string][]zoneAdvice
	var keys api.DNSSECKeys
	var different []string
	if len(args) == 0 || len(o.servers) == 0 {
		if g, err := fleet.Gather(ctx, a.Fleet, fleet.Call((*api.Client).DNSSECKeys)); err == nil {
			keys, different = joinKeys(g.Answers)
		}
		advice = a.advice(ctx, each(questions, func(q chain.Question) string { return q.Zone }), keys.Keys)
	}
	list := []checkedZone{}
	for _, q := range questions {
		q.Servers, q.Now = servers, a.Now()
		findings, err := a.walk(ctx, o, q)
		if err != nil {
			return err
		}
		for _, f := range findings {
			list = append(list, checkedZone{f, advice[f.Zone]})
		}
	}
	return a.sayFindings(list, different)
}

// walk validates the chain of trust of a zone.
func (a *app) walk(ctx context.Context, o checkOptions, q chain.Question) (findings []chain.Finding, err error) {
	defer a.Progress("walking the chain of trust")()
	if q.DS, err = a.parentDS(ctx, o, q.Zone); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	return chain.Check(ctx, q), nil
}

// sayFindings prints findings. different has the differences between the keys of the nodes.
func (a *app) sayFindings(list []checkedZone, different []string) error {
	t := &render.Table{Columns: []render.Column{{Name: "ZONE"}, {Name: "SERVER"}, {Name: "VERDICT"}, {Name: "REASON"}}}
	wrong := 0
	silent := true
	for _, f := range list {
		tone := render.Good
		if f.Verdict != chain.Secure && !f.asTold() {
			wrong++
			tone = render.Bad
		}
		silent = silent && f.Verdict == chain.Unanswered
		t.Add(render.C(f.Zone), render.C(f.Server), render.Cell{Text: string(f.Verdict), Tone: tone},
			render.C(f.Reason))
	}
	if err := a.Print(list, func() string { return a.Text(t) + render.Lines(a.adviceLines(list)) }); err != nil {
		return err
	}
	switch {
	case silent:
		return &fleet.Error{Code: fleet.NotAsked,
			Message: "no server answers for the zone: name them with --server, or where nodes answer DNS with --dns"}
	case wrong > 0 && len(different) == 0:
		return &fleet.Error{Code: fleet.Degraded, Message: ""}
	}
	return differentKeys(different)
}
