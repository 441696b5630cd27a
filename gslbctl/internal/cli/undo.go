package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

func (a *app) undoCommand() *cobra.Command {
	var force bool
	cmd := a.NodeFlag(&cobra.Command{
		Use:   "undo [<audit id>]",
		Short: "Undo your last change, or any change by its audit id",
		Long: "undo reverts your last change in the cluster. It restores the previous override, weight or drain, and\n" +
			"the standby after a failback. It also reverts the creation, change and removal of domains, servers,\n" +
			"regions and mappings, and all changes of apply, with pruned objects. A command is one change: undo\n" +
			"reverts the whole change or nothing.\n\n" +
			"Without an id, undo finds your last change on all nodes: the last change with your token. With an id\n" +
			"of gslbctl audit list, it reverts this change, even of another operator. Each node numbers its own\n" +
			"audit entries. undo searches the id on all nodes; if several nodes have different changes with this id,\n" +
			"it lists them with the command for each, and --node selects one. undo fails if a later change\n" +
			"affects the same object. A second undo reverts the first: to revert an earlier change, name its id.\n" +
			"If undo does not cover your last change, such as config set, it fails and changes nothing.",
		Example:           "  gslbctl undo\n  gslbctl undo 1042\n  gslbctl undo 1042 --node ns1.example.com:8080",
		SuggestFor:        []string{"rollback", "revert"},
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
				return fmt.Errorf("the id is %q: it must be the number of an audit entry, as gslbctl audit lists them",
					args[0])
			}
			return a.undoEntry(cmd.Context(), ctx, args[0])
		},
	})
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

// undoing returns the request that undoes the change of an audit entry.
func undoing(entry string) fleet.Change {
	return func(ctx context.Context, c *api.Client) (string, error) {
		undone, err := c.Undo(ctx, entry)
		return undone.Message, err
	}
}

// undoEntry undoes the change of an audit entry on the nodes that nodesOfEntry returns. asking is the context of the
// read requests.
func (a *app) undoEntry(asking, ctx context.Context, id string) error {
	clients, err := a.nodesOfEntry(asking, id)
	if err != nil {
		return err
	}
	for _, c := range clients {
		if err := a.PrintReport(a.ChangeVia(ctx, c, nil, undoing(id))); err != nil {
			return err
		}
	}
	return nil
}

// nodesOfEntry returns the node with the audit entry of a change by an operator, or several nodes if one command made
// this change on each of them. It returns an error if the entries of several nodes are different changes, because each
// node numbers its own entries, or if a silent node may have an entry.
func (a *app) nodesOfEntry(ctx context.Context, id string) ([]*api.Client, error) {
	clients, err := a.Clients()
	switch {
	case err != nil:
		return nil, err
	case len(clients) == 1:
		return clients, nil
	}
	replies := fleet.AskClients(ctx, clients, fleet.CallWith((*api.Client).AuditEntry, id))
	var has, changes []*api.Client // the nodes with the entry, and with an operator's change in it
	var commands []string
	for i, r := range replies {
		switch e := r.Value; {
		case fleet.IsNotFound(r.Err):
			continue
		case r.Err != nil:
			_, sentence := fleet.NodeReason("", r.Err)
			return nil, fleet.NewError(fleet.Degraded, fmt.Sprintf("%s may have the entry %s: %s; select a node with "+
				"--node; %s", r.Node, id, sentence, fleet.NothingChanged), r.Err)
		case e.ActorType == api.ActorUser && e.Status == api.AuditSuccess:
			changes = append(changes, clients[i])
			commands = append(commands, fmt.Sprintf("gslbctl undo %s --node %s reverts %s of %s %s, by %s at %s", id,
				strings.TrimPrefix(r.Node, "http://"), e.Action, e.Resource, e.ResourceID, e.Actor,
				cmdline.Zoned(e.Timestamp, a.Now())))
		}
		has = append(has, clients[i])
	}
	switch {
	case len(has) == 0:
		return nil, fleet.Untouched(replies[0].Err)
	case len(changes) == 0:
		return has[:1], nil // the node explains why it cannot undo the entry
	case len(changes) > 1 && !isOneChange(ctx, changes, id):
		return nil, fleet.NewError(fleet.Degraded, fmt.Sprintf("%d nodes have an entry %s: %s; %s", len(changes), id,
			strings.Join(commands, "; "), fleet.NothingChanged), &api.Error{Status: http.StatusConflict})
	}
	return changes, nil
}

// isOneChange reports whether the audit entries of several nodes are parts of the change of one command.
func isOneChange(ctx context.Context, clients []*api.Client, id string) bool {
	replies := fleet.AskClients(ctx, clients, fleet.CallWith((*api.Client).UndoableChange, id))
	return !slices.ContainsFunc(replies, func(r fleet.Answer[api.Undone]) bool {
		return r.Err != nil || r.Value.Change == "" || r.Value.Change != replies[0].Value.Change
	})
}

// undoLast undoes the latest change of the user. asking is the context of the read requests.
func (a *app) undoLast(asking, ctx context.Context) error {
	found, err := a.findLast(asking)
	if err != nil {
		return err
	}
	return a.undoFound(ctx, found)
}

// foundChange is the latest change of the user, with the last change on each node.
type foundChange struct {
	clients []*api.Client
	replies []fleet.Answer[api.Undone] // of each client
	newest  int                        // index of the client whose node made last
	last    api.Undone
	carries bool // the nodes replicate an undo
}

// equals reports whether two found changes are the same audit entry of the same node.
func (f *foundChange) equals(other *foundChange) bool {
	return f.clients[f.newest].Node() == other.clients[other.newest].Node() && f.last.Entry == other.last.Entry &&
		f.last.At.Equal(other.last.At)
}

// findLast returns the latest change of the user in the cluster. It returns an error if the change cannot be undone, or
// if a silent node may have made a later change.
func (a *app) findLast(ctx context.Context) (*foundChange, error) {
	clients, err := a.Clients()
	if err != nil {
		return nil, err
	}
	replies := fleet.AskClients(ctx, clients, fleet.Call((*api.Client).LastChange))
	carries := fleet.Replicator(ctx, clients) != nil
	for _, r := range replies {
		if _, silent := errors.AsType[*api.UnreachableError](r.Err); silent && carries {
			return nil, &fleet.Error{Code: fleet.Degraded, Message: fmt.Sprintf("%s does not answer, and your last "+
				"change may be in its audit log: use another node with --api, and an audit id; %s", r.Node,
				fleet.NothingChanged)}
		}
	}
	newest, err := newestChange(replies)
	if err != nil {
		return nil, err
	}
	last, _ := lastChange(replies[newest])
	if err := replies[newest].Err; err != nil {
		_, sentence := fleet.NodeReason("", err)
		return nil, fleet.NewError(fleet.Degraded, fmt.Sprintf("your last change, made at %s on %s, cannot be undone: "+
			"%s; %s",
			cmdline.Zoned(last.At, a.Now()), replies[newest].Node, sentence, fleet.NothingChanged), err)
	}
	return &foundChange{clients, replies, newest, last, carries}, nil
}

// undoFound undoes a found change, and no later change. If a node that made the change replicates the undo, undoFound
// sends the undo to this node, or else to each node that made the change.
func (a *app) undoFound(ctx context.Context, f *foundChange) error {
	if !f.carries {
		return a.ChangeEach(ctx, func(ctx context.Context, c *api.Client) (string, error) {
			i := slices.IndexFunc(f.replies, func(r fleet.Answer[api.Undone]) bool { return r.Node == c.Node() })
			if i < 0 { // the context gained a node since
				return "", &api.Error{Status: http.StatusNotFound, Message: "the node is new in the context: nothing to undo"}
			}
			own := f.replies[i]
			switch {
			case own.Err != nil:
				return "", own.Err
			case !sameChange(own.Value, f.last):
				return "", &api.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("your last change here is "+
					"another, %s of %s %s: it stays", own.Value.Action, own.Value.Resource, own.Value.ResourceID)}
			}
			return a.undoMade(own.Value)(ctx, c)
		})
	}
	// After a connection failure, two nodes may each have made a part of the change.
	if err := a.PrintReport(a.ChangeVia(ctx, f.clients[f.newest], nil, a.undoMade(f.last))); err != nil {
		return err
	}
	for i, r := range f.replies {
		if own, made := lastChange(r); made && i != f.newest && f.last.Change != "" && own.Change == f.last.Change {
			if err := a.PrintReport(a.ChangeVia(ctx, f.clients[i], nil, a.undoMade(own))); err != nil {
				return err
			}
		}
	}
	return nil
}

// undoMade returns the request that undoes a change. Its result message contains the time of the change.
func (a *app) undoMade(made api.Undone) fleet.Change {
	undo := undoing(strconv.FormatUint(made.Entry, 10))
	return func(ctx context.Context, c *api.Client) (string, error) {
		sentence, err := undo(ctx, c)
		return fmt.Sprintf("%s (made at %s)", sentence, cmdline.Zoned(made.At, a.Now())), err
	}
}

// lastChange returns the last change of the user on a node, even if the change cannot be undone. made is false if the
// node has no change.
func lastChange(r fleet.Answer[api.Undone]) (last api.Undone, made bool) {
	if refused, is := errors.AsType[*api.Error](r.Err); is && refused.Undo != nil {
		return *refused.Undo, true
	}
	return r.Value, r.Err == nil
}

// newestChange returns the index of the answer with the latest change. It returns an error if no node has a change, or
// if a node does not report the time of its change.
func newestChange(replies []fleet.Answer[api.Undone]) (newest int, err error) {
	newest = -1
	var best api.Undone
	for i, r := range replies {
		refused, answered := errors.AsType[*api.Error](r.Err)
		last, made := lastChange(r)
		switch {
		case made && (newest < 0 || isNewer(last, best)):
			newest, best = i, last
		case !made && answered && refused.Status == http.StatusConflict: // of a node of version 0.9
			_, sentence := fleet.NodeReason("", r.Err)
			return -1, fleet.NewError(fleet.Degraded, fmt.Sprintf("%s does not say when your last change there was "+
				"made, which may be the latest: %s; name a node with --api, and an audit id; %s", r.Node, sentence,
				fleet.NothingChanged), r.Err)
		}
	}
	if newest < 0 {
		return -1, fleet.Untouched(replies[0].Err)
	}
	return newest, nil
}

// isNewer reports whether a is later than b, according to their versions, or to the clocks of their nodes if a
// version is missing.
func isNewer(a, b api.Undone) bool {
	if a.Version != "" && b.Version != "" {
		return a.Version > b.Version
	}
	return a.At.After(b.At)
}

// sameChange reports whether two nodes without replication have made the same change of one command.
func sameChange(a, b api.Undone) bool {
	if a.Change != "" || b.Change != "" {
		return a.Change == b.Change
	}
	return a.Action == b.Action && a.ResourceID == b.ResourceID
}
