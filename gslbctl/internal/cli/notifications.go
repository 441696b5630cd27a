package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nodeTarget is a receiver of notifications as one node sees it.
type nodeTarget struct {
	api.NotificationTarget
	Node string `json:"node"`
}

// targetList is the output of notifications list: the receivers of all nodes, by name.
type targetList struct {
	Targets []nodeTarget `json:"targets"`
	Total   int          `json:"total"` // receivers, each once
	Nodes   []askedNode  `json:"nodes"`
}

// nodeTest is the result of a test message from one node.
type nodeTest struct {
	api.NotificationTest
	Node string `json:"node"`
}

func (a *app) notificationsCommand() *cobra.Command {
	return group("notifications", "Show and test the receivers of notifications", a.notificationsListCommand(),
		changing(a.notificationsTestCommand()))
}

func (a *app) notificationsListCommand() *cobra.Command {
	return a.byNode(a.listing(&cobra.Command{
		Use:   "list",
		Short: "List the receivers of notifications, what waits for them, and why",
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := gather(cmd.Context(), a, just((*api.Client).Notifications))
			if err != nil {
				return err
			}
			var all []nodeTarget
			for _, r := range g.replies {
				for _, t := range r.answer.Targets {
					all = append(all, nodeTarget{t, r.node})
				}
			}
			byName := grouped(all, func(t nodeTarget) string { return t.Name })
			list := targetList{append([]nodeTarget{}, slices.Concat(byName...)...), len(byName), g.nodes}
			return g.done(a.list(list, a.targetTable(list, g.several())))
		},
	}))
}

func (a *app) targetTable(list targetList, several bool) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "TARGET"}, {Name: "TYPE"}, {Name: "WAITING", Right: true},
			{Name: "SENT", Right: true}, {Name: "DROPPED", Right: true}, {Name: "LAST SENT"}, {Name: "LAST ERROR"}},
		Empty: "Nobody is notified: overwatch.notifications.targets is empty.",
	}
	nodeColumn(several, t)
	for i := range list.Targets {
		n := &list.Targets[i]
		t.AddNamed(n.Name, nodeCells(several, n.Node, render.C(n.Name), render.C(n.Type), number(n.Queued),
			render.C(fmt.Sprint(n.Sent)), render.C(fmt.Sprint(n.Dropped)), a.ago(n.LastSent), problemCell(n.LastError))...)
	}
	return t
}

func problemCell(problem *string) render.Cell {
	if problem == nil {
		return render.C(render.None)
	}
	return render.Cell{Text: *problem, Tone: render.Bad}
}

func (a *app) notificationsTestCommand() *cobra.Command {
	return a.byNode(&cobra.Command{
		Use:   "test [<target>]",
		Short: "Have each node send a test message to a receiver, or to all",
		Long: "test has each node send a message that says it is a test to the receiver that is named, or to all, and " +
			"tells which have\ntaken it. What waits for a receiver is not touched.",
		Example:           "  gslbctl notifications test on-call",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.arguments(targetNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			g, err := gather(cmd.Context(), a, with((*api.Client).TestNotifications, target))
			if err != nil {
				return err
			}
			list, failed := []nodeTest{}, 0
			for _, r := range g.replies {
				for _, test := range r.answer.Tests {
					list = append(list, nodeTest{test, r.node})
					if !test.Sent {
						failed++
					}
				}
			}
			if err := a.print(list, a.table(testTable(list, g.several()))); err != nil {
				return err
			}
			if failed > 0 {
				return &outcome{code: exitDegraded, sentence: fmt.Sprintf("%d of %s failed", failed,
					render.Count(len(list), "message", "messages"))}
			}
			return g.missing()
		},
	})
}

func testTable(list []nodeTest, several bool) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "TARGET"}, {Name: "SENT"}, {Name: "TOOK", Right: true},
		{Name: "ERROR"}}, Empty: "Nobody is notified: overwatch.notifications.targets is empty."}
	nodeColumn(several, t)
	for i := range list {
		n := &list[i]
		t.Add(nodeCells(several, n.Node, render.C(n.Target), render.C(render.YesNo(n.Sent)),
			render.C(fmt.Sprint(n.DurationMS, " ms")), problemCell(n.Error))...)
	}
	return t
}

func targetNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Notifications(ctx)
	return each(list.Targets, func(t api.NotificationTarget) string { return t.Name }), err
}
