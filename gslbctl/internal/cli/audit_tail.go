package cli

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// auditOverlap is the overlap of two successive requests of audit tail -f to a node. A node may show an entry late.
const auditOverlap = time.Minute

func (a *app) auditTailCommand() *cobra.Command {
	var follow bool
	var lines int
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print and follow audit log entries",
		Long: "tail prints the latest changes, one per line, oldest first. With -o json each line is one entry,\n" +
			"with -o yaml each entry is a list element.\n\n" +
			"With -f, tail prints new changes until Ctrl-C.",
		Annotations: map[string]string{cmdline.IsList: cmdline.IsList},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 1 || lines > api.MaxPageLimit {
				return fmt.Errorf("--lines is %d: it must be from 1 to %d", lines, api.MaxPageLimit)
			}
			query, err := f.query(a.Now())
			if err != nil {
				return err
			}
			return a.tailAudit(cmd.Context(), query, lines, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new changes until Ctrl-C")
	cmd.Flags().IntVar(&lines, "lines", 20, "number of old entries to print first")
	f.period.SinceFlag(cmd)
	f.add(cmd)
	a.NodeFlag(cmd)
	return cmd
}

// tailAudit prints the latest entries and, with goOn, later entries. When a node answers after an outage, tailAudit
// also prints the entries of the outage.
func (a *app) tailAudit(ctx context.Context, from url.Values, lines int, goOn bool) error {
	since, seen := map[string]time.Time{}, map[string]bool{}
	return a.Follow(ctx, goOn, func() (missing, err error) {
		g, err := fleet.Gather(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (api.AuditList, error) {
			return c.AuditLog(ctx, tailQuery(from, lines, since, c.Node()))
		})
		if err != nil {
			return nil, err
		}
		return g.Missing(), a.printTail(g, lines, since, seen)
	})
}

// tailQuery returns the query for a node: the entries since the time in since, or the latest entries without such a
// time.
func tailQuery(from url.Values, lines int, since map[string]time.Time, node string) url.Values {
	query := maps.Clone(from)
	query.Set("limit", strconv.Itoa(lines))
	if at, again := since[node]; again {
		query.Set("limit", strconv.Itoa(api.MaxPageLimit))
		if given, _ := time.Parse(time.RFC3339, from.Get("start_time")); at.After(given) { // without --since: zero
			query.Set("start_time", at.Format(time.RFC3339Nano))
		}
	}
	return query
}

// printTail prints the entries that are not in seen (by node and id) and adds them to seen. In the first round, when
// since is empty, it prints only the latest entries. It sets since, by node, to the start of the next request, or to
// zero without entries.
func (a *app) printTail(g fleet.Gathered[api.AuditList], lines int, since map[string]time.Time,
	seen map[string]bool) error {
	most := lines
	if len(since) > 0 {
		most = math.MaxInt
	}
	for _, r := range g.Answers {
		at, again := since[r.Node]
		if e := r.Value.Entries; len(e) > 0 { // latest first
			if less := e[0].Timestamp.Add(-auditOverlap); less.After(at) {
				at = less
			}
			if oldest := e[len(e)-1].Timestamp; !again && len(e) == lines && oldest.After(at) {
				at = oldest // earlier entries were not requested
			}
		}
		since[r.Node] = at
	}
	for i, e := range slices.Backward(mergeAudit(g, math.MaxInt).Entries) { // oldest first
		key := e.Node + " " + strconv.FormatUint(e.ID, 10)
		known := seen[key]
		seen[key] = true
		if known || i >= most {
			continue
		}
		if err := a.printAudit(&e, g.Several()); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printAudit(e *nodeAudit, several bool) error {
	return a.Entry(e, strconv.FormatUint(e.ID, 10), func() string {
		from := ""
		if a.Output == cmdline.Wide {
			from = fmt.Sprintf("  from %s, request %s", e.ActorIP, e.RequestID)
		}
		where := ""
		if several {
			where = "  " + e.Node
		}
		when := e.Timestamp.Local().Format("2006-01-02 15:04:05")
		return fmt.Sprintf("%s%s  %d  %s  %s %s %s  %s%s", when, where, e.ID, e.Actor, e.Action, e.Resource,
			e.ResourceID,
			e.Status, from)
	})
}
