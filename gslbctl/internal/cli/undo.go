package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

func (a *app) undoCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "undo [<audit id>]",
		Short: "Take your last change back, or that of an audit entry",
		Long: "undo gives an override, a weight or a drain back that was there before, or none, and undoes that a " +
			"domain, a server, a\nregion or a mapping was made, changed or removed by the API. Without an id it is your " +
			"last change of all nodes; the\nnumbers of audit entries are each node's own, so that an id needs one node. " +
			"It is refused where a later change stands\non it. The undoing can be undone. Of a command about several " +
			"servers, each is a change: undo is about one of\nthem. drain and weight say which command takes all of it back.",
		Example:           "  gslbctl undo\n  gslbctl --api ns1.example.com:8080 undo 1042",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if !force {
				ctx = api.IfSafe(ctx)
			}
			if len(args) == 0 {
				return a.undoLast(cmd.Context(), ctx)
			}
			if _, err := strconv.ParseUint(args[0], 10, 64); err != nil {
				return fmt.Errorf("the id is %q: it must be the number of an audit entry, as gslbctl audit lists them", args[0])
			}
			nodes, err := a.clients()
			if err != nil {
				return err
			}
			if len(nodes) != 1 {
				return errors.New("the numbers of audit entries are each node's own: name one node with --api, or leave the " +
					"id out")
			}
			return a.change(ctx, undoing(args[0]))
		},
	}
	forceFlag(cmd, &force)
	return cmd
}

// undoing returns the request that undoes the change of an audit entry.
func undoing(entry string) request {
	return func(ctx context.Context, c *api.Client) (string, error) {
		undone, err := c.Undo(ctx, entry)
		return undone.Message, err
	}
}

// undoLast undoes the newest change of the user whose token it is: on one node if that carries it to the others, else
// on each node that made it. A node that was down at that time has another last change, which stays. asking is the
// context of the requests that change nothing.
func (a *app) undoLast(asking, ctx context.Context) error {
	clients, err := a.clients()
	if err != nil {
		return err
	}
	replies := everywhere(asking, clients, just((*api.Client).LastChange))
	newest := -1
	for i, r := range replies {
		if r.err == nil && (newest < 0 || r.answer.At.After(replies[newest].answer.At)) {
			newest = i
		}
	}
	if newest < 0 {
		return untouched(replies[0].err)
	}
	last := replies[newest].answer
	if carrier(asking, clients) != nil {
		for _, r := range replies {
			if _, silent := errors.AsType[*api.UnreachableError](r.err); silent {
				return &outcome{code: exitDegraded, sentence: fmt.Sprintf("%s does not answer, and your last change may be "+
					"in its audit log: name another node with --api, and an audit id; %s", r.node, nothingChanged)}
			}
		}
		return a.shareOn(ctx, clients[newest], nil, undoing(strconv.FormatUint(last.Entry, 10)), true)
	}
	return a.change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
		own := replies[slices.IndexFunc(replies, func(r reply[api.Undone]) bool { return r.node == c.Node() })]
		switch {
		case own.err != nil:
			return "", own.err
		case own.answer.Action != last.Action || own.answer.ResourceID != last.ResourceID:
			return "", &api.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("your last change here is another, %s of "+
				"%s %s: it stays", own.answer.Action, own.answer.Resource, own.answer.ResourceID)}
		}
		return undoing(strconv.FormatUint(own.answer.Entry, 10))(ctx, c)
	})
}
