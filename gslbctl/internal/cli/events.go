package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// eventFlags select events.
type eventFlags struct {
	period       cmdline.Period
	kinds, names []string
	severity     string
}

func (f *eventFlags) query(now time.Time) (url.Values, error) {
	return cmdline.Query(now, &f.period, "since", "until", map[string]string{"kinds": strings.Join(f.kinds, ","),
		"names": strings.Join(f.names, ","), "severity": f.severity})
}

func (a *app) eventsCommand() *cobra.Command {
	var follow bool
	var lines int
	var f eventFlags
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print and follow events",
		Long: "events prints the latest events of all nodes, one per line, oldest first. With -o json each line is\n" +
			"one event, with -o yaml each event is a list element. Equal events of several nodes within 10s are\n" +
			"one line, except with -o json and -o yaml.\n\n" +
			"With -f, events prints new events until Ctrl-C. With --until or --at, it prints up to 1000 events of\n" +
			"each node.",
		Example: "  gslbctl events --since 1d --severity error\n" +
			"  gslbctl events --at \"yesterday 14:05\" --name app.example.com",
		Args:        cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs), // as in the lists of objects
		ValidArgs:   []string{"list"},
		Annotations: map[string]string{cmdline.IsList: cmdline.IsList},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 1 || lines > api.MaxPageLimit {
				return fmt.Errorf("--lines is %d: it must be from 1 to %d", lines, api.MaxPageLimit)
			}
			if f.period.HasEnd() && follow {
				return errFollowBounded
			}
			if f.period.HasEnd() && !cmd.Flags().Changed("lines") {
				lines = api.MaxPageLimit
			}
			query, err := f.query(a.Now())
			if err != nil {
				return err
			}
			return a.events(cmd.Context(), query, lines, follow)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "print new events until Ctrl-C")
	flags.IntVar(&lines, "lines", 20, "number of old events of each node to print first")
	f.period.Flags(cmd)
	flags.StringSliceVar(&f.kinds, "kind", nil, "only events of this `kind`, separated by commas: "+
		strings.Join(api.EventKindNames(), ", "))
	flags.StringSliceVar(&f.names, "name", nil, "only events of this `domain`, separated by commas")
	flags.StringVar(&f.severity, "severity", "", "only events of this `severity` or a higher severity: "+
		strings.Join(api.EventSeverities(), ", "))
	cmdline.Offer(cmd, "kind", api.EventKindNames())
	_ = cmd.RegisterFlagCompletionFunc("name", a.Complete(domainNames))
	cmdline.Offer(cmd, "severity", api.EventSeverities())
	return a.NodeFlag(cmd)
}

// nodeEvent is an event with the node that reports it.
type nodeEvent struct {
	api.Event
	Node string `json:"node"`
}

// events prints the latest events of the nodes and, with goOn, later events. When a node answers after an outage,
// events also prints the events of the outage.
func (a *app) events(ctx context.Context, from url.Values, lines int, goOn bool) error {
	after := map[string]uint64{} // the latest sequence of each node that has answered
	return a.Follow(ctx, goOn, func() (missing, err error) {
		g, err := fleet.Gather(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (api.EventList, error) {
			query := maps.Clone(from)
			query.Set("limit", strconv.Itoa(lines))
			if newest, asked := after[c.Node()]; asked {
				query.Set("after", strconv.FormatUint(newest, 10))
				query.Set("limit", strconv.Itoa(api.MaxPageLimit))
			}
			return c.Events(ctx, query)
		})
		if err != nil {
			return nil, err
		}
		return g.Missing(), a.printEvents(g, after, from.Has("until"))
	})
}

// printEvents prints events of several nodes in the order of their time. It sets after, by node, to the next sequence
// number. bounded means that the period has an end; printEvents then reports omitted events.
func (a *app) printEvents(g fleet.Gathered[api.EventList], after map[string]uint64, bounded bool) error {
	var list []nodeEvent
	for _, r := range g.Answers {
		read := r.Value.Newest
		for _, e := range r.Value.Events {
			list = append(list, nodeEvent{e, r.Node})
		}
		if n := len(r.Value.Events); n < r.Value.Total && after[r.Node] > 0 {
			read = r.Value.Events[n-1].Sequence
		}
		if n := r.Value.Total - len(r.Value.Events); n > 0 && bounded {
			fmt.Fprintf(a.Err, "gslbctl: %s has %s of this period before these: choose a shorter period\n", r.Node,
				render.Count(n, "more event", "more events"))
		}
		after[r.Node] = read
		if r.Value.Missed {
			fmt.Fprintf(a.Err, "gslbctl: events of %s are missing here: they have expired\n", r.Node)
		}
	}
	slices.SortStableFunc(list, func(x, y nodeEvent) int { return x.Time.Compare(y.Time) })
	nodes := make([][]string, len(list)) // of each event
	for i := range list {
		nodes[i] = []string{list[i].Node}
	}
	if a.Output == cmdline.Table || a.Output == cmdline.Wide {
		list, nodes = foldEvents(list)
	}
	for i := range list {
		e := &list[i]
		where := ""
		switch {
		case g.Several() && len(nodes[i]) == len(g.Answers) && len(g.Answers) > 1:
			where = fmt.Sprintf("  all %d nodes", len(nodes[i]))
		case g.Several():
			where = "  " + strings.Join(nodes[i], ", ")
		}
		err := a.Entry(e, strconv.FormatUint(e.Sequence, 10), func() string {
			return fmt.Sprintf("%s%s  %-8s  %-12s  %s", e.Time.Local().Format("2006-01-02 15:04:05"), where, e.Severity,
				e.Kind, e.Sentence)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errFollowBounded is the error of -f with an end of the period.
var errFollowBounded = errors.New("-f follows what comes: leave --until and --at out")

// foldWithin is the maximum time between equal events of several nodes that share one line.
const foldWithin = 10 * time.Second

// foldEvents merges equal events of different nodes. list must be sorted by time. nodes contains the nodes of each
// merged event.
func foldEvents(list []nodeEvent) (folded []nodeEvent, nodes [][]string) {
	type content struct {
		kind              api.EventKind
		severity          api.EventSeverity
		subject, sentence string
	}
	last := map[content]int{} // index in folded
	for i := range list {
		e := &list[i]
		key := content{e.Kind, e.Severity, e.Subject, e.Sentence}
		at, found := last[key]
		if found && e.Time.Sub(folded[at].Time) <= foldWithin && !slices.Contains(nodes[at], e.Node) {
			nodes[at] = append(nodes[at], e.Node)
			continue
		}
		last[key] = len(folded)
		folded, nodes = append(folded, *e), append(nodes, []string{e.Node})
	}
	return folded, nodes
}
