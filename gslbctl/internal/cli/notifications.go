package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nodeTarget is the state of a notification receiver on one node.
type nodeTarget struct {
	api.NotificationTarget
	Node string `json:"node"`
}

// targetList is the output of notifications list: the receivers of all nodes, by name.
type targetList struct {
	Targets []nodeTarget  `json:"targets"`
	Total   int           `json:"total"` // receivers, each once
	Nodes   []fleet.Asked `json:"nodes"`
}

// nodeTest is the result of a test message from one node.
type nodeTest struct {
	api.NotificationTest
	Node string `json:"node"`
}

func (a *app) notificationsCommand() *cobra.Command {
	cmd := cmdline.Group("notifications", "List and test notification receivers (webhook, chat, mail)",
		a.notificationsListCommand(), cmdline.Changing(a.notificationsTestCommand()))
	cmd.Long = notificationsLong
	return cmd
}

const notificationsLong = "The file of each node configures the receivers: overwatch.notifications.targets."

func (a *app) notificationsListCommand() *cobra.Command {
	return a.NodeFlag(a.Listing(&cobra.Command{
		Use:   "list",
		Short: "List notification receivers and their queues",
		Long:  notificationsLong,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.Call((*api.Client).Notifications))
			if err != nil {
				return err
			}
			var all []nodeTarget
			for _, r := range g.Answers {
				for _, t := range r.Value.Targets {
					all = append(all, nodeTarget{t, r.Node})
				}
			}
			byName := grouped(all, func(t nodeTarget) string { return t.Name })
			list := targetList{append([]nodeTarget{}, slices.Concat(byName...)...), len(byName), g.Nodes}
			return g.Done(a.List(list, a.targetTable(list, g.Several())))
		},
	}))
}

func (a *app) targetTable(list targetList, several bool) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "TARGET"}, {Name: "TYPE"}, {Name: "WAITING", Right: true},
			{Name: "SENT", Right: true}, {Name: "DROPPED", Right: true}, {Name: "LAST SENT"}, {Name: "LAST ERROR"}},
		Empty: "There are no receivers: overwatch.notifications.targets is empty.",
	}
	cmdline.NodeColumn(several, t)
	for i := range list.Targets {
		n := &list.Targets[i]
		t.AddNamed(n.Name, cmdline.NodeCells(several, n.Node, render.C(n.Name), render.C(n.Type), number(n.Queued),
			render.C(fmt.Sprint(n.Sent)), render.C(fmt.Sprint(n.Dropped)), a.Ago(n.LastSent),
			problemCell(n.LastError))...)
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
	return a.NodeFlag(&cobra.Command{
		Use:   "test [<target>]",
		Short: "Send a test notification",
		Long: "test makes each node send a test message to a receiver, or to all receivers, and shows which\n" +
			"receivers accepted it. Queued notifications stay queued.",
		Example:           "  gslbctl notifications test on-call",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteArguments(targetNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := ""
			if len(args) > 0 {
				target = args[0]
			}
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).TestNotifications, target))
			if err != nil {
				return err
			}
			list, failed := []nodeTest{}, 0
			for _, r := range g.Answers {
				for _, test := range r.Value.Tests {
					list = append(list, nodeTest{test, r.Node})
					if !test.Sent {
						failed++
					}
				}
			}
			if err := a.Print(list, a.Table(testTable(list, g.Several()))); err != nil {
				return err
			}
			if failed > 0 {
				return &fleet.Error{Code: fleet.Degraded, Message: fmt.Sprintf("%d of %s failed", failed,
					render.Count(len(list), "message", "messages"))}
			}
			return g.Missing()
		},
	})
}

func testTable(list []nodeTest, several bool) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "TARGET"}, {Name: "SENT"}, {Name: "TOOK", Right: true},
		{Name: "ERROR"}}, Empty: "There are no receivers: overwatch.notifications.targets is empty."}
	cmdline.NodeColumn(several, t)
	for i := range list {
		n := &list[i]
		t.Add(cmdline.NodeCells(several, n.Node, render.C(n.Target), render.C(render.YesNo(n.Sent)),
			render.C(fmt.Sprint(n.DurationMS, " ms")), problemCell(n.Error))...)
	}
	return t
}

func targetNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Notifications(ctx)
	return each(list.Targets, func(t api.NotificationTarget) string { return t.Name }), err
}
