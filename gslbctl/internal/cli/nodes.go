package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) nodesCommand() *cobra.Command {
	cmd := cmdline.Group("nodes", "List overwatch nodes; announce agents, show and replace their certificates",
		a.nodesListCommand("list"),
		a.nodesShowCommand(), a.nodesAgentsCommand(),
		cmdline.Changing(a.nodesAnnounceCommand()), a.nodesDeregisterCommand(), a.nodesCertificateCommand(),
		a.nodesReissueCommand(),
		a.nodesRevokeCommand(), a.nodesListCommand("overwatch"))
	cmd.Long = "nodes lists overwatch nodes. announce, certificate and reissue are about agents.\n\n" +
		"Overwatch nodes are added and removed in the configuration: gslbctl init --join prints the steps for a new\n" +
		"node, and overwatch/docs/tasks.md has \"Remove a node\"."
	return cmd
}

func (a *app) nodesListCommand(name string) *cobra.Command {
	return cmdline.ListCommand(a.App, name, "List overwatch nodes",
		(*api.Client).OverwatchNodes, func(list api.OverwatchNodeList) *render.Table {
			return a.overwatchTable(list.Nodes)
		})
}

func (a *app) nodesShowCommand() *cobra.Command {
	return cmdline.ShowCommand(a.App, "show <node>", "Show an overwatch node", overwatchNames,
		(*api.Client).OverwatchNode, func(n api.OverwatchNode) *render.Table {
			return a.overwatchTable([]api.OverwatchNode{n})
		})
}

func overwatchNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.OverwatchNodes(ctx)
	return each(list.Nodes, func(n api.OverwatchNode) string { return n.ID }), err
}

func (a *app) overwatchTable(nodes []api.OverwatchNode) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "NODE"}, {Name: "ADDRESS"}, {Name: "REGION", Spare: 2}, {Name: "STATUS"},
			{Name: "VERSION", Spare: 3}, {Name: "UP", Spare: 5}, {Name: "SEEN", Spare: 1},
			{Name: "QUERIES", Right: true, Spare: 6},
			{Name: "PER SECOND", Right: true, Spare: 7}, {Name: "SIGNS", Spare: 4}, {Name: "DNS PORT", Right: true,
				Wide: true},
			{Name: "API PORT", Right: true, Wide: true}},
		Empty: "No overwatch node is known.",
	}
	for _, n := range nodes {
		up, queries := render.None, render.None
		if n.UptimeSeconds != nil {
			up = render.Span(time.Duration(*n.UptimeSeconds) * time.Second)
		}
		if n.QueriesTotal != nil {
			queries = strconv.FormatUint(*n.QueriesTotal, 10)
		}
		t.AddNamed(n.ID, render.C(n.ID), orNone(n.Address), orNone(n.Region), statusCell(n.Status), orNone(n.Version),
			render.C(up), a.Ago(n.LastSeen),
			render.C(queries), rate(n.QueriesPerSec), render.C(render.YesNo(n.DNSSECEnabled)), portCell(n.Port),
			portCell(n.APIPort))
	}
	return t
}

func rate(perSecond float64) render.Cell {
	return render.C(strconv.FormatFloat(perSecond, 'f', 1, 64))
}

// portCell returns a cell with a port; 0 is unknown.
func portCell(port int) render.Cell {
	if port == 0 {
		return render.C(render.None)
	}
	return number(port)
}

func (a *app) nodesAgentsCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "agents", "List agents with their activity",
		(*api.Client).AgentNodes, func(list api.AgentNodeList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "AGENT"}, {Name: "REGION", Spare: 2}, {Name: "STATUS"},
					{Name: "VERSION", Spare: 3},
					{Name: "UP", Spare: 5}, {Name: "SEEN", Spare: 1}, {Name: "CHECKS", Right: true, Spare: 6},
					{Name: "PER SECOND", Right: true, Spare: 7}, {Name: "TARGETS", Right: true, Spare: 4},
					{Name: "REGISTERED", Wide: true}},
				Empty: "No agent is known.",
			}
			for _, n := range list.Nodes {
				t.AddNamed(n.ID, render.C(n.ID), orNone(n.Region), statusCell(n.Status), orNone(n.Version),
					render.C(render.Span(time.Duration(n.UptimeSeconds)*time.Second)),
					a.Ago(n.LastSeen), render.C(strconv.FormatUint(n.ChecksTotal, 10)), rate(n.ChecksPerSec),
					number(n.TargetCount),
					a.Ago(n.RegisteredAt))
			}
			return t
		})
}

func agentNodeNames(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.AgentNodes(ctx)
	return each(list.Nodes, func(n api.AgentNode) string { return n.ID }), err
}

func (a *app) nodesAnnounceCommand() *cobra.Command {
	var req api.AgentRegistration
	cmd := &cobra.Command{
		Use:   "announce <agent>",
		Short: "Announce a new agent, so that it is listed as pending",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Name = args[0]
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				n, err := c.AnnounceAgent(ctx, req)
				return "agent " + n.ID + " is " + string(n.Status), err
			})
		},
	}
	cmd.Flags().StringVar(&req.Address, "address", "", "address of the agent's host, for information")
	cmd.Flags().IntVar(&req.Port, "port", 0, "port of the agent's host, for information")
	cmd.Flags().StringVar(&req.Region, "region", "", "`region` of the agent")
	_ = cmd.RegisterFlagCompletionFunc("region", a.Complete(allRegionNames))
	return cmd
}

func (a *app) nodesDeregisterCommand() *cobra.Command {
	return a.deregisterCommand("deregister <agent>", "Delete an agent, its announcement and its certificate pin")
}

// deregisterCommand returns a command that deletes an agent. It is nodes deregister and agents remove.
func (a *app) deregisterCommand(use, short string) *cobra.Command {
	return a.removal(removal{
		use: use, short: short,
		names: agentNodeNames, object: a.agentArgument, consequence: agentConsequence,
		question: "Deregistering %s removes the backends that only this agent reports from DNS until it enrolls again",
		apply:    deleting((*api.Client).DeregisterAgent, "agent %s is deleted"),
	})
}

// agentArgument returns an argument that should name an agent. It returns an error if the argument is the name of an
// overwatch node and of no agent, according to the first node that answers.
func (a *app) agentArgument(ctx context.Context, name string) (string, error) {
	nodes, err := fleet.First(ctx, a.Fleet, overwatchNames)
	if err != nil || !slices.Contains(nodes, name) {
		return name, nil //nolint:nilerr // the change reports the failure
	}
	agents, err := fleet.First(ctx, a.Fleet, agentNodeNames)
	if err != nil || slices.Contains(agents, name) {
		return name, nil //nolint:nilerr // the change reports the failure
	}
	return "", fmt.Errorf("%s is an overwatch node, not an agent: see \"Remove a node\" in overwatch/docs/tasks.md; "+
		fleet.NothingChanged, name)
}

func (a *app) nodesCertificateCommand() *cobra.Command {
	return cmdline.ShowCommand(a.App, "certificate <agent>", "Show the pinned certificate of an agent",
		agentNodeNames,
		(*api.Client).AgentCertificate, func(answer api.AgentCertificateAnswer) *render.Table {
			k := answer.Certificate
			t := &render.Table{Columns: []render.Column{{Name: "AGENT"}, {Name: k.AgentID}}}
			for _, fact := range [][2]string{
				{"status", strings.ReplaceAll(string(k.Status), "_", " ")}, {"ends", render.Until(k.NotAfter, a.Now())},
				{"begins", k.NotBefore.UTC().Format(time.RFC3339)},
				{"issued", render.Ago(&k.IssuedAt, a.Now())}, {"serial", k.Serial}, {"fingerprint", k.Fingerprint},
			} {
				t.Add(render.C(fact[0]), orNone(fact[1]))
			}
			return t
		})
}

func (a *app) nodesReissueCommand() *cobra.Command {
	return a.removal(removal{
		use: "reissue <agent>", short: "Reject the certificate of an agent and pin its next one",
		long: "reissue deletes the pin of an agent and rejects its present certificate; the node pins the next one.\n" +
			"Use it if the old certificate must not return. After a rebuild of the machine, gslbctl agents unpin\n" +
			"is enough: the new agent has a new certificate.",
		names: agentNodeNames, object: a.agentArgument, consequence: agentConsequence,
		question: "Reissuing the certificate of %s removes the backends that only this agent reports from DNS until " +
			"it enrolls with a new certificate",
		apply: func(ctx context.Context, c *api.Client, agent string) (string, error) {
			done, err := c.ReissueCertificate(ctx, agent)
			return done.Message, err
		},
	})
}

func (a *app) nodesRevokeCommand() *cobra.Command {
	return a.removal(removal{
		use: "revoke <agent>", short: "Revoke an agent without a reason",
		names: agentNodeNames, object: a.agentArgument, consequence: agentConsequence,
		question: "Revoking %s removes the backends that only this agent reports from DNS",
		apply:    deleting((*api.Client).RevokeCertificate, "%s is rejected until it is unpinned"),
	})
}
