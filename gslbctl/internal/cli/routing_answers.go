package cli

import (
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

func (a *app) routingAnswersCommand() *cobra.Command {
	var kind string
	cmd := a.Listing(&cobra.Command{
		Use:   "answers <name>",
		Short: "List the answers of a domain by client region",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := fleet.First(cmd.Context(), a.Fleet, func(ctx context.Context,
				c *api.Client) (api.RoutingAnswerList, error) {
				return c.RoutingAnswers(ctx, args[0], kind)
			})
			if err != nil {
				return err
			}
			t := &render.Table{Columns: []render.Column{{Name: "CLIENTS IN"}, {Name: "DECISION"}, {Name: "ALGORITHM"},
				{Name: "TTL", Right: true}, {Name: "ANSWERS"}}}
			for _, answer := range list.Answers {
				who := clientsOf(answer)
				t.AddNamed(who, render.C(who), decisionCell(answer.Decision), render.C(answer.Algorithm),
					render.C(strconv.Itoa(answer.TTL)+" s"), orNone(shares(answer.Addresses)))
			}
			return a.List(list, t)
		},
		ValidArgsFunction: a.CompleteArguments(domainNames),
	})
	cmd.Flags().StringVar(&kind, "type", "A", "A or AAAA")
	cmdline.Offer(cmd, "type", families)
	return cmd
}

// clientsOf returns a description of the clients of an answer.
func clientsOf(answer api.RoutingAnswer) string {
	switch {
	case answer.Everybody:
		return "all regions"
	case answer.ClientRegion == "":
		return "no region"
	}
	return answer.ClientRegion
}

func shares(list []api.RoutingShare) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, fmt.Sprintf("%s %.1f%%", s.Address, 100*s.Share))
	}
	return strings.Join(texts, ", ")
}
