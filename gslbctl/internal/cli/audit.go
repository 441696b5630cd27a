package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

func (a *app) auditCommand() *cobra.Command {
	return cmdline.Group("audit", "List, export and verify the audit log", a.auditListCommand(),
		cmdline.Reading(a.auditVerifyCommand()), cmdline.Reading(a.auditTailCommand()),
		cmdline.Reading(a.auditExportCommand()))
}

// auditFlags select audit entries.
type auditFlags struct {
	period  cmdline.Period
	actors  []string
	actions []string
	search  string
}

// add adds the flags to a command, except for the period.
func (f *auditFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.actors, "actor", nil, "only entries of this `actor`, a token or address, separated by commas")
	flags.StringSliceVar(&f.actions, "action", nil,
		"only entries of this `action`, separated by commas; "+api.AuditRefused+": rejected requests and agents, "+
			api.AuditReceive+": changes from other nodes")
	flags.StringVar(&f.search, "search", "", "only entries with this `text`")
	_ = cmd.RegisterFlagCompletionFunc("actor", cobra.NoFileCompletions)
	cmdline.Offer(cmd, "action", api.AuditActions())
}

func (f *auditFlags) query(now time.Time) (url.Values, error) {
	return cmdline.Query(now, &f.period, "start_time", "end_time", map[string]string{
		"actors": strings.Join(f.actors, ","), "actions": strings.Join(f.actions, ","), "search": f.search,
	})
}

func (a *app) auditListCommand() *cobra.Command {
	var limit int
	var f auditFlags
	cmd := a.Listing(&cobra.Command{
		Use:   "list",
		Short: "List audit log entries, latest first",
		Long:  "list shows who changed what. -o json has the values before and after each change.",
		Example: "  gslbctl audit list --since yesterday --until today --limit 1000\n" +
			"  gslbctl audit list --search ttl --since yesterday -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > api.MaxPageLimit {
				return fmt.Errorf("--limit is %d: it must be from 1 to %d", limit, api.MaxPageLimit)
			}
			query, err := f.query(a.Now())
			if err != nil {
				return err
			}
			query.Set("limit", strconv.Itoa(limit))
			g, err := fleet.Gather(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).AuditLog, query))
			if err != nil {
				return err
			}
			list := mergeAudit(g, limit)
			return g.Done(a.List(list, a.auditTable(list, g.Several())))
		},
	})
	cmd.Flags().IntVar(&limit, "limit", api.DefaultPageLimit, "maximum number of entries")
	f.period.Flags(cmd)
	f.add(cmd)
	return a.NodeFlag(cmd)
}

// nodeAudit is an audit entry of a node.
type nodeAudit struct {
	api.AuditEntry
	Node string `json:"node"`
}

// auditList is the output of audit list: the latest entries of all nodes.
type auditList struct {
	Entries []nodeAudit   `json:"entries"` // latest first
	Total   int           `json:"total"`   // of all nodes, matching the filter
	Nodes   []fleet.Asked `json:"nodes"`
}

// mergeAudit returns the latest entries of all nodes, at most limit.
func mergeAudit(g fleet.Gathered[api.AuditList], limit int) auditList {
	list := auditList{Entries: []nodeAudit{}, Nodes: g.Nodes}
	for _, r := range g.Answers {
		list.Total += r.Value.Total
		for _, e := range r.Value.Entries {
			list.Entries = append(list.Entries, nodeAudit{e, r.Node})
		}
	}
	slices.SortStableFunc(list.Entries, func(x, y nodeAudit) int { return y.Timestamp.Compare(x.Timestamp) })
	list.Entries = list.Entries[:min(len(list.Entries), limit)]
	return list
}

func (a *app) auditTable(list auditList, several bool) *render.Table {
	t := &render.Table{
		Columns: []render.Column{{Name: "ID", Right: true}, {Name: "WHEN"}, {Name: "ACTOR"}, {Name: "ACTION"},
			{Name: "RESOURCE", Spare: 3}, {Name: "WHICH", Spare: 1}, {Name: "CHANGE", Spare: 2},
			{Name: "OUTCOME", Spare: 2},
			{Name: "FROM", Wide: true}, {Name: "REQUEST", Wide: true}},
		Empty: "No audit entry matches.",
	}
	cmdline.NodeColumn(several, t)
	for _, e := range list.Entries {
		id := strconv.FormatUint(e.ID, 10)
		t.AddNamed(id, cmdline.NodeCells(several, e.Node, render.C(id), a.Ago(&e.Timestamp), render.C(e.Actor),
			render.C(e.Action), render.C(e.Resource), render.C(e.ResourceID), orNone(auditFields(&e.AuditEntry)),
			render.C(e.Status), orNone(e.ActorIP), orNone(e.RequestID))...)
	}
	return t
}

// auditCheck is the result of audit verify, for one node or for all together.
type auditCheck struct {
	Sound   bool   `json:"sound"`
	Entries int    `json:"entries"`
	Problem string `json:"problem"`
}

// auditChecks is the output of audit verify.
type auditChecks struct {
	auditCheck
	Nodes []nodeCheck `json:"nodes"`
}

type nodeCheck struct {
	fleet.Asked
	auditCheck
}

func (a *app) auditVerifyCommand() *cobra.Command {
	return a.NodeFlag(&cobra.Command{
		Use:   "verify",
		Short: "Verify the hash chains of the audit logs",
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := fleet.Gather(cmd.Context(), a.Fleet, readCheck)
			if err != nil {
				return err
			}
			v := mergeChecks(g)
			err = a.Print(v, v.text)
			if err != nil || v.Sound {
				return g.Done(err)
			}
			return cmp.Or(g.Missing(), error(&fleet.Error{Code: fleet.Degraded}))
		},
	})
}

// mergeChecks merges the check results of the nodes. The result is sound if the result of each answering node is sound.
func mergeChecks(g fleet.Gathered[auditCheck]) auditChecks {
	all := auditChecks{auditCheck: auditCheck{Sound: true}}
	said := map[string]auditCheck{}
	for _, r := range g.Answers {
		said[r.Node] = r.Value
		all.Entries += r.Value.Entries
		if !r.Value.Sound && all.Sound {
			all.Sound, all.Problem = false, r.Value.Problem
		}
	}
	for _, n := range g.Nodes {
		all.Nodes = append(all.Nodes, nodeCheck{n, said[n.Node]})
	}
	return all
}

func (v *auditChecks) text() string {
	var lines []string
	for _, n := range v.Nodes {
		which := "The audit log"
		if len(v.Nodes) > 1 {
			which += " of " + n.Node
		}
		switch {
		case n.Error != "":
		case n.Sound:
			lines = append(lines, fmt.Sprintf("%s is whole: %s.", which, render.Count(n.Entries, "entry", "entries")))
		default:
			lines = append(lines, which+" is not as it was written: "+n.Problem+".")
		}
	}
	return render.Lines(lines)
}

// readCheck verifies the audit chains of a node: own changes, rejections, and changes of other nodes.
func readCheck(ctx context.Context, c *api.Client) (auditCheck, error) {
	v := auditCheck{Sound: true}
	for _, actions := range []string{"", api.AuditRefused, api.AuditReceive} {
		query := url.Values{"sort_order": {"asc"}}
		if actions != "" {
			query.Set("actions", actions)
		}
		list, err := c.AuditLog(ctx, query)
		if refused, ok := errors.AsType[*api.Error](err); ok && actions != "" &&
			refused.Status == http.StatusBadRequest {
			break // nodes of earlier versions lack this chain
		}
		if err != nil {
			return v, err
		}
		v.Entries += len(list.Entries)
		var before *api.AuditEntry
		for i := range list.Entries {
			if broken := list.Entries[i].Follows(before); broken != nil {
				v.Sound, v.Problem = false, broken.Error()
				return v, nil //nolint:nilerr // Problem has the reason
			}
			before = &list.Entries[i]
		}
	}
	return v, nil
}
