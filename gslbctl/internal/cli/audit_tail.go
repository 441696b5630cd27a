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

// tailAudit prints the latest entries and, with goOn, those that come later.
func (a *app) tailAudit(ctx context.Context, from url.Values, lines int, goOn bool) error {
	query := maps.Clone(from)
	query.Set("limit", strconv.Itoa(lines))
	most := lines              // of all nodes
	shown := map[string]bool{} // entries, by node and id
	return a.follow(ctx, goOn, func() (missing, err error) {
		g, err := gather(ctx, a, with((*api.Client).AuditLog, query))
		if err != nil {
			return nil, err
		}
		list := mergeAudit(g, most).Entries
		for _, e := range slices.Backward(list) { // the newest last
			key := e.Node + " " + strconv.FormatUint(e.ID, 10)
			if shown[key] {
				continue
			}
			shown[key] = true
			if err := a.printAudit(&e, g.several()); err != nil {
				return nil, err
			}
		}
		if len(list) > 0 { // next time, ask for entries since the newest one, less auditOverlap
			query = maps.Clone(from)
			query.Set("limit", strconv.Itoa(api.MaxPageLimit))
			query.Set("start_time", list[0].Timestamp.Add(-auditOverlap).Format(time.RFC3339Nano))
		}
		most = len(g.nodes) * api.MaxPageLimit
		return g.missing(), nil
	})
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
