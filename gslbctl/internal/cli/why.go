package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// whyCommand returns the command routing why, which is also the command why.
func (a *app) whyCommand() *cobra.Command {
	var f clientFlags
	cmd := a.NodeFlag(&cobra.Command{
		Use:        "why {<name> --client <address> | <decision>}",
		SuggestFor: []string{"explain"},
		Short:      "Explain the answer for a client, or a sampled decision",
		Long: "why explains the answer of a name that a client receives now, as gslbctl routing test does. With the\n" +
			"id of a decision, as gslbctl routing decisions lists them, it explains this past answer. gslbctl why\n" +
			"and gslbctl routing why are the same command.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.Contains(args[0], ".") || f.given() {
				return a.explainName(cmd, &f, args[0])
			}
			g, err := fleet.GatherKnown(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).ExplainDecision, args[0]))
			if err != nil {
				return err
			}
			if len(g.Answers) > 1 { // each node has its own numbering
				return fmt.Errorf("%d nodes have a decision %s: name the one of routing decisions with --node, such "+
					"as --node %s", len(g.Answers), args[0], g.Answers[0].Node)
			}
			return a.printExplanation(g.Answers[0].Value)
		},
	})
	f.add(cmd)
	return cmd
}
