package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) gossipNodesCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "nodes", "List the members of the gossip cluster that a node sees",
		(*api.Client).GossipNodes, func(list api.GossipNodeList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "NODE"}, {Name: "ADDRESS"}, {Name: "STATUS"}, {Name: "STATE", Spare: 3},
					{Name: "REGION", Spare: 2}, {Name: "VERSION", Spare: 4}, {Name: "ROUND TRIP", Right: true,
						Spare: 5},
					{Name: "SEEN", Spare: 1}, {Name: "JOINED", Wide: true}},
				Empty: "There are no gossip members.",
			}
			for _, n := range list.Nodes {
				at := render.None // an agent has no listening address
				if n.Address != "" {
					at = endpoint(n.Address, n.Port)
				}
				t.AddNamed(n.ID, render.C(n.ID), render.C(at), statusCell(n.Status), render.C(string(n.State)),
					orNone(n.Region),
					orNone(n.Version),
					render.C(strconv.Itoa(n.RTTMS)+" ms"), a.Ago(n.LastSeen), a.Ago(n.JoinedAt))
			}
			return t
		})
}
