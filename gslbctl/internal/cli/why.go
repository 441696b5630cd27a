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
		Use:   "why <name>|<decision>",
		Short: "Explain why a name answers what it answers, or a sampled decision",
		Long: "why explains the current answers of a name on all nodes: the routing policy and the regions, each\n" +
			"backend with the reason why it may serve or not, and the addresses that the clients of each region\n" +
			"receive. With --client, it explains the answer for one client: the address of its resolver, or of the\n" +
			"client itself (as gslbctl routing test does).\n\n" +
			"With the id of a decision, as gslbctl routing decisions lists them, it explains this past answer.\n" +
			"gslbctl why and gslbctl routing why are the same command.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.given() || strings.Contains(args[0], ".") && cmd.Flags().Changed("type"):
				return a.explainName(cmd, &f, args[0])
			case strings.Contains(args[0], "."):
				return a.explainAnswers(cmd, args[0])
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
