package cli

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// auditPace is the time between two looks of audit tail -f.
const auditPace = time.Second

// auditOverlap is the time before the newest known entry from which audit tail -f asks again: nodes' clocks differ, and
// a node may be slow to show an entry.
const auditOverlap = time.Minute

func (a *app) auditTailCommand() *cobra.Command {
	var follow bool
	var lines int
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the latest changes, the newest last",
		Long: "tail prints the latest changes, one a line, the newest last; with -o json each line is one entry, " +
			"with -o yaml it is one more of a list.\nWith -f it goes on with those that come, until Ctrl-C.",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{isList: isList},
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
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with the changes that come")
	cmd.Flags().IntVar(&lines, "lines", 20, "how many of the latest changes to begin with")
	f.add(cmd)
	a.byNode(cmd)
	return cmd
}

// tailAudit prints the latest entries and, with follow, those that come later.
func (a *app) tailAudit(ctx context.Context, from url.Values, lines int, follow bool) error {
	query := maps.Clone(from)
	query.Set("limit", strconv.Itoa(lines))
	shown := map[string]bool{} // entries, by node and id
	var lacks string           // the last line about missing nodes
	for first := true; ; first = false {
		g, err := gather(ctx, a, with((*api.Client).AuditLog, query))
		if err != nil {
			return err
		}
		limit := lines
		if !first {
			limit = len(g.nodes) * api.MaxPageLimit
		}
		list := mergeAudit(g, limit).Entries
		now := map[string]bool{}
		for _, e := range slices.Backward(list) { // the newest last
			key := e.Node + " " + strconv.FormatUint(e.ID, 10)
			now[key] = true
			if shown[key] {
				continue
			}
			if err := a.printAudit(&e, g.several()); err != nil {
				return err
			}
		}
		if len(list) > 0 { // next time, ask for entries since the newest one, less auditOverlap
			query = maps.Clone(from)
			query.Set("limit", strconv.Itoa(api.MaxPageLimit))
			query.Set("start_time", list[0].Timestamp.Add(-auditOverlap).Format(time.RFC3339Nano))
		}
		maps.Copy(shown, now)
		if !follow {
			return g.missing()
		}
		if lacks, err = a.tellMissing(g.missing(), lacks); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // interrupted by the user
		case <-time.After(auditPace):
		}
	}
}

func (a *app) printAudit(e *nodeAudit, several bool) error {
	return a.entry(e, strconv.FormatUint(e.ID, 10), func() string {
		from := ""
		if a.output == outputWide {
			from = fmt.Sprintf("  from %s, request %s", e.ActorIP, e.RequestID)
		}
		where := ""
		if several {
			where = "  " + e.Node
		}
		when := e.Timestamp.Local().Format("2006-01-02 15:04:05")
		return fmt.Sprintf("%s%s  %d  %s  %s %s %s  %s%s", when, where, e.ID, e.Actor, e.Action, e.Resource, e.ResourceID,
			e.Status, from)
	})
}
