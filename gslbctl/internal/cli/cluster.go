package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// askedNode is a node that was asked, in the output of a command that asks all.
type askedNode struct {
	Node  string `json:"node"`
	Error string `json:"error,omitempty"` // why it is missing
	err   error  // behind Error
}

// gathered holds the answers of several nodes, in the order in which the nodes were given.
type gathered[T any] struct {
	replies []reply[T]  // of the nodes that answered
	nodes   []askedNode // all that were asked
}

// gather asks all nodes at once. An error means that none of them answered as it should.
func gather[T any](ctx context.Context, a *app, ask question[T]) (gathered[T], error) {
	var g gathered[T]
	replies, err := onAll(ctx, a, askingAll, ask)
	if err != nil {
		return g, err
	}
	var silent []error
	for _, r := range replies {
		n := askedNode{Node: r.node, err: r.err}
		switch _, unreachable := errors.AsType[*api.UnreachableError](r.err); {
		case r.err == nil:
			g.replies = append(g.replies, r)
		case unreachable:
			silent = append(silent, r.err)
			fallthrough
		default:
			err = r.err
			if _, n.Error = explain(r.err); !strings.Contains(n.Error, r.node) {
				n.Error = r.node + ": " + n.Error
			}
		}
		g.nodes = append(g.nodes, n)
	}
	switch {
	case len(g.replies) > 0:
		return g, nil
	case len(silent) == len(replies):
		return g, noAnswer(silent)
	default:
		return g, err
	}
}

// gatherKnown does the same as gather for an object that not every node has. Nodes that answer 404 do not count as
// missing, unless all do: then it returns that error.
func gatherKnown[T any](ctx context.Context, a *app, ask question[T]) (gathered[T], error) {
	g, err := gather(ctx, a, ask)
	var unknown error
	for i := range g.nodes {
		if n := &g.nodes[i]; isNotFound(n.err) {
			unknown, n.Error = n.err, ""
		}
	}
	if unknown == nil || len(g.replies) > 0 {
		return g, err
	}
	if missing := g.missing(); missing != nil {
		code, sentence := explain(unknown)
		return g, &outcome{code, sentence + "; " + missing.Error(), unknown}
	}
	return g, unknown
}

// several reports whether more than one node was asked, so that rows name theirs.
func (g *gathered[T]) several() bool { return len(g.nodes) > 1 }

// missing returns the outcome of a command whose output lacks nodes that did not answer; nil if all did.
func (g *gathered[T]) missing() error {
	var without []string
	for _, n := range g.nodes {
		if n.Error != "" {
			without = append(without, n.Error)
		}
	}
	if len(without) == 0 {
		return nil
	}
	return &outcome{code: exitDegraded, sentence: fmt.Sprintf("%d of %d nodes %s missing here: %s", len(without),
		len(g.nodes), plural(len(without), "is", "are"), strings.Join(without, "; "))}
}

// lookPace is the time between two looks of follow.
const lookPace = time.Second

// follow calls look once, or with goOn until ctx ends, for commands that print a stream of entries. missing is the
// outcome for nodes that did not answer; while look goes on, it is told when it changes. Once a look has succeeded, one
// at which no node answers does not end it either.
func (a *app) follow(ctx context.Context, goOn bool, look func() (missing, err error)) error {
	told, begun := "", false
	for {
		missing, err := look()
		if err == nil {
			begun = true
		} else if begun && mayPass(err) {
			missing, err = err, nil
		}
		switch {
		case goOn && ctx.Err() != nil:
			return nil //nolint:nilerr // interrupted by the user
		case err != nil || !goOn:
			return cmp.Or(err, missing)
		}
		if _, sentence := explain(missing); sentence != told {
			if told = sentence; told != "" {
				fmt.Fprintln(a.Err, "gslbctl: "+render.Printable(told))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookPace):
		}
	}
}

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// done returns the outcome of a command: the error of writing its output, else missing.
func (g *gathered[T]) done(written error) error {
	if written != nil {
		return written
	}
	return g.missing()
}

// byNode adds the flag that chooses one node to a command that asks all.
func (a *app) byNode(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&a.node, "node", "", "ask only this one of the nodes, by its `address`")
	_ = cmd.RegisterFlagCompletionFunc("node", a.nodeAddresses)
	return cmd
}

// nodeAddresses completes the addresses of the nodes.
func (a *app) nodeAddresses(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	a.node = ""
	clients, err := a.clients()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return each(clients, func(c *api.Client) string { return strings.TrimPrefix(c.Node(), "http://") }),
		cobra.ShellCompDirectiveNoFileComp
}

// nodeColumn puts the column NODE first in a table, if several nodes were asked.
func nodeColumn(several bool, t *render.Table) {
	if several {
		t.Columns = append([]render.Column{{Name: "NODE"}}, t.Columns...)
	}
}

// nodeCells returns the cells of a row, with the node first if several were asked.
func nodeCells(several bool, node string, cells ...render.Cell) []render.Cell {
	if several {
		return append([]render.Cell{render.C(node)}, cells...)
	}
	return cells
}
