package cmdline

import (
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
)

// NodeFlag adds the flag that selects a node to a command for all nodes.
func (a *App) NodeFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&a.Only, "node", "", "query only the node with this `address`")
	_ = cmd.RegisterFlagCompletionFunc("node", a.completeNodes)
	return cmd
}

// completeNodes completes the addresses of the nodes.
func (a *App) completeNodes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	a.Only = ""
	clients, err := a.Clients()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var addresses []string
	for _, c := range clients {
		addresses = append(addresses, strings.TrimPrefix(c.Node(), "http://"))
	}
	return addresses, cobra.ShellCompDirectiveNoFileComp
}

// NodeColumn inserts the column NODE at the front of a table for several nodes.
func NodeColumn(several bool, t *render.Table) {
	if several {
		t.Columns = append([]render.Column{{Name: "NODE"}}, t.Columns...)
	}
}

// NodeCells returns the cells of a row, with the node at the front in a table for several nodes.
func NodeCells(several bool, node string, cells ...render.Cell) []render.Cell {
	if several {
		return append([]render.Cell{render.C(node)}, cells...)
	}
	return cells
}
