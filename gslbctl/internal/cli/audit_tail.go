package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// auditPace is the time between two looks of audit tail -f.
const auditPace = time.Second

func (a *app) auditTailCommand() *cobra.Command {
	var follow bool
	var lines int
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the latest changes, the newest last",
		Long: "tail prints the latest changes, one a line, the newest last; with -o json each line is one entry, " +
			"with -o yaml it is one more of a list.\nWith -f it goes on with those that come, until Ctrl-C. It follows one " +
			"node: the first that answers.",
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
	return cmd
}

// tailAudit prints the latest entries and, with follow, those that come later.
func (a *app) tailAudit(ctx context.Context, from url.Values, lines int, follow bool) error {
	from.Set("limit", strconv.Itoa(lines))
	last := map[bool]uint64{} // of refusals, and of changes
	for {
		list, err := read(ctx, a, with((*api.Client).AuditLog, from))
		if err != nil {
			return err
		}
		if from.Get("sort_order") != "asc" {
			slices.Reverse(list.Entries)
		}
		for i := range list.Entries {
			e := &list.Entries[i]
			refused := e.ID >= api.FirstRefusal
			if e.ID <= last[refused] {
				continue
			}
			if err := a.printAudit(e); err != nil {
				return err
			}
			last[refused] = e.ID
			// From here on, all that is not older: ids tell which are new.
			from.Set("limit", strconv.Itoa(api.MaxPageLimit))
			from.Set("sort_order", "asc")
			from.Set("start_time", e.Timestamp.Format(time.RFC3339Nano))
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // the end that was asked for
		case <-time.After(auditPace):
		}
	}
}

func (a *app) printAudit(e *api.AuditEntry) error {
	return a.entry(e, strconv.FormatUint(e.ID, 10), func() error {
		from := ""
		if a.output == outputWide {
			from = fmt.Sprintf("  from %s, request %s", e.ActorIP, e.RequestID)
		}
		_, err := fmt.Fprintf(a.Out, "%s  %d  %s  %s %s %s  %s%s\n", e.Timestamp.Local().Format("2006-01-02 15:04:05"), e.ID,
			render.Printable(e.Actor),
			render.Printable(e.Action), render.Printable(e.Resource), render.Printable(e.ResourceID), render.Printable(e.Status),
			render.Printable(from))
		return err
	})
}
