package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// versionReport holds the builds of gslbctl and of each node.
type versionReport struct {
	Client api.Version   `json:"client"`
	Nodes  []nodeVersion `json:"nodes,omitempty"`
}

type nodeVersion struct {
	Node    string       `json:"node"`
	Version *api.Version `json:"version"` // null: no answer
	Error   string       `json:"error,omitempty"`
}

func (a *app) versionCommand() *cobra.Command {
	var nodes bool
	cmd := a.Watchable(&cobra.Command{
		Use:   "version",
		Short: "Show the version of gslbctl and the nodes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := a.Build
			report := versionReport{Client: api.Version{Version: b.Version, GoVersion: b.GoVersion,
				GitCommit: b.GitCommit,
				BuildDate: b.BuildDate}}
			if !nodes {
				return a.Print(report, a.Table(versionTable(report)))
			}
			replies, err := fleet.AskAll(cmd.Context(), a.Fleet, fleet.Asking, fleet.Call((*api.Client).Version))
			if err != nil {
				return err
			}
			for _, r := range replies {
				node := nodeVersion{Node: r.Node, Version: &r.Value}
				if r.Err != nil {
					_, node.Error = fleet.Explain(r.Err)
					node.Version = nil
				}
				report.Nodes = append(report.Nodes, node)
			}
			return a.Print(report, a.Table(versionTable(report)))
		},
	})
	cmd.Flags().BoolVar(&nodes, "nodes", false, "also show the version of each node")
	return cmd
}

func versionTable(report versionReport) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "WHAT"}, {Name: "VERSION"}, {Name: "COMMIT"}, {Name: "BUILT"},
		{Name: "GO"}}}
	t.Add(versionRow("gslbctl", report.Client)...)
	for _, n := range report.Nodes {
		if n.Version == nil {
			t.Add(render.C(n.Node), render.Cell{Text: "no answer", Tone: render.Bad}, render.C(render.None),
				render.C(render.None), render.C(n.Error))
			continue
		}
		t.Add(versionRow(n.Node, *n.Version)...)
	}
	return t
}

func versionRow(what string, v api.Version) []render.Cell {
	return []render.Cell{render.C(what), render.C(v.Version), render.C(fmt.Sprintf("%.12s", v.GitCommit)),
		render.C(v.BuildDate), render.C(v.GoVersion)}
}
