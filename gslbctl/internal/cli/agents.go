package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) agentsCommand() *cobra.Command {
	return cmdline.Group("agents", "List, remove, revoke and unpin agents", a.agentsListCommand(),
		a.agentsShowCommand(), a.agentsRemoveCommand(),
		a.agentsExpiringCommand(), cmdline.Destroying(a.agentsUnpinCommand()),
		cmdline.Destroying(a.agentsRevokeCommand()),
		a.agentsLocksCommand(),
		a.agentsUnlockCommand())
}

// agentEntry is an agent of agents list.
type agentEntry struct {
	api.Agent
	Status api.AgentStatus `json:"status"`
	Pinned bool            `json:"pinned"` // false: announced, without a certificate
}

// agentList is the output of agents list. Total, Revoked and Expiring count agents with a pinned certificate.
type agentList struct {
	api.AgentList
	Agents []agentEntry `json:"agents"`
}

// readAgents reads the agents of a node: agents with a pinned certificate, and announced agents.
func readAgents(c *api.Client, ctx context.Context) (list agentList, err error) {
	if list.AgentList, err = c.Agents(ctx); err != nil {
		return list, err
	}
	nodes, err := c.AgentNodes(ctx)
	status := map[string]api.AgentStatus{}
	list.Agents = []agentEntry{}
	for _, n := range nodes.Nodes {
		status[n.ID] = n.Status
	}
	for _, agent := range list.AgentList.Agents {
		list.Agents = append(list.Agents, agentEntry{agent, status[agent.AgentID], true})
		delete(status, agent.AgentID)
	}
	for _, n := range nodes.Nodes {
		if _, announced := status[n.ID]; announced {
			list.Agents = append(list.Agents, agentEntry{Agent: api.Agent{AgentID: n.ID, Region: n.Region,
				Services: []string{}, Version: n.Version, LastSeen: n.LastSeen, LeftAt: n.LeftAt}, Status: n.Status})
		}
	}
	return list, err
}

func (a *app) agentsListCommand() *cobra.Command {
	cmd := cmdline.ListCommand(a.App, "list", "List agents with their status and certificate",
		readAgents, func(list agentList) *render.Table {
			agents := make([]api.Agent, len(list.Agents))
			for i, e := range list.Agents {
				agents[i] = e.Agent
			}
			t := a.agentTable(agents, "No agent is connected or announced.")
			t.Columns = slices.Insert(t.Columns, 1, render.Column{Name: "STATUS"})
			for i, e := range list.Agents {
				row := &t.Rows[i]
				if !e.Pinned {
					(*row)[agentCertificate], (*row)[agentPinned] = render.C("none yet"), render.C(render.None)
				}
				status := render.C(render.None) // of a revoked agent
				if e.Status != "" {
					status = statusCell(e.Status)
				}
				*row = slices.Insert(*row, 1, status)
			}
			return t
		})
	cmd.Long = "list shows the agents of the cluster, also agents that are not running. STATUS is online,\n" +
		"offline, or pending for an announced agent without a certificate. SEEN is the time since the last\n" +
		"report. An agent makes its own certificate; a node pins (stores) the certificate when the agent proves\n" +
		"its service token, and from then on accepts only this certificate for this agent id."
	return cmd
}

// agentCertificate and agentPinned are indexes of columns of agentTable.
const (
	agentCertificate = 5
	agentPinned      = 7
)

func (a *app) agentsRemoveCommand() *cobra.Command {
	cmd := a.deregisterCommand("remove <agent>", "Delete a decommissioned agent with its certificate pin")
	cmd.Aliases = []string{"deregister"}
	cmd.Long = "remove deletes an agent, its announcement and its certificate pin on every node. Use it after the\n" +
		"agent has stopped for good. The backends that only this agent reports leave DNS immediately. A running\n" +
		"agent with a valid service token enrolls again. For a machine or key that may be compromised, use\n" +
		"gslbctl agents revoke."
	return cmd
}

func (a *app) agentsExpiringCommand() *cobra.Command {
	var days int
	cmd := cmdline.ListCommand(a.App, "expiring", "List agents with an expiring certificate",
		func(c *api.Client, ctx context.Context) (api.ExpiringAgents, error) {
			return c.ExpiringAgents(ctx, days)
		},
		func(list api.ExpiringAgents) *render.Table {
			return a.agentTable(list.Expiring, "No certificate ends within "+render.Count(days, "day", "days")+".")
		})
	cmd.Flags().IntVar(&days, "days", api.DefaultExpiringDays, "days until the certificate expires")
	return cmd
}

func (a *app) agentTable(agents []api.Agent, empty string) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "AGENT"}, {Name: "REGION", Spare: 2}, {Name: "SERVICES", Spare: 4},
			{Name: "BACKENDS", Right: true, Spare: 3}, {Name: "SEEN", Spare: 1},
			{Name: "CERTIFICATE"}, {Name: "VERSION", Spare: 5}, {Name: "PINNED", Wide: true}, {Name: "FINGERPRINT",
				Wide: true}},
		Empty: empty,
	}
	troubled := slices.ContainsFunc(agents, func(agent api.Agent) bool { return len(agent.Problems) > 0 })
	if troubled {
		t.Columns = append(t.Columns, render.Column{Name: "PROBLEM", Spare: 6})
	}
	for _, agent := range agents {
		cells := []render.Cell{{Text: agent.AgentID, Tone: problemTone(agent)}, orNone(agent.Region),
			orNone(strings.Join(agent.Services, ",")), number(agent.Backends), a.Ago(agent.LastSeen),
			a.certificateCell(agent), orNone(agent.Version),
			a.Ago(&agent.FirstSeen), render.C(agent.Fingerprint)}
		if troubled {
			cells = append(cells, render.Cell{Text: cmp.Or(strings.Join(agent.Problems, "; "), "-"),
				Tone: problemTone(agent)})
		}
		t.AddNamed(agent.AgentID, cells...)
	}
	return t
}

func problemTone(agent api.Agent) render.Tone {
	if len(agent.Problems) > 0 {
		return render.Bad
	}
	return render.Plain
}

// soonHours is the remaining validity of a certificate, in hours, below which the table highlights the certificate.
const soonHours = api.DefaultExpiringDays * 24

func (a *app) certificateCell(agent api.Agent) render.Cell {
	switch {
	case agent.Revoked:
		return render.Cell{Text: "revoked", Tone: render.Bad}
	case agent.ExpiresInHours <= 0:
		return render.Cell{Text: "ended " + render.Until(agent.NotAfter, a.Now()), Tone: render.Bad}
	case agent.ExpiresInHours <= soonHours:
		return render.Cell{Text: "ends " + render.Until(agent.NotAfter, a.Now()), Tone: render.Warn}
	default:
		return render.C("ends " + render.Until(agent.NotAfter, a.Now()))
	}
}

func (a *app) agentsShowCommand() *cobra.Command {
	return cmdline.ShowCommand(a.App, "show <agent>", "Show an agent", agentNames, (*api.Client).Agent, a.agentFacts)
}

func (a *app) agentFacts(agent api.Agent) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "AGENT"}, {Name: agent.AgentID}}}
	for _, fact := range [][2]string{
		{"fingerprint", agent.Fingerprint},
		{"region", agent.Region},
		{"services", strings.Join(agent.Services, ", ")},
		{"backends", fmt.Sprint(agent.Backends)},
		{"version", agent.Version},
		{"pinned", render.Ago(&agent.FirstSeen, a.Now())},
		{"seen", render.Ago(agent.LastSeen, a.Now())},
	} {
		t.Add(render.C(fact[0]), orNone(fact[1]))
	}
	if agent.LeftAt != nil {
		t.Add(render.C("stopped"), render.C(render.Ago(agent.LeftAt, a.Now())+", with a goodbye"))
	}
	t.Add(render.C("certificate"), a.certificateCell(agent))
	for _, problem := range agent.Problems {
		t.Add(render.C("problem"), render.Cell{Text: problem, Tone: render.Bad})
	}
	if agent.Revoked {
		t.Add(render.C("revoked"), render.C(render.Ago(agent.RevokedAt, a.Now())+": "+agent.RevokedReason))
	}
	return t
}
