package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nodeForce is the answer of one node to a request that a change of key wait no longer for silent nodes.
type nodeForce struct {
	Node string `json:"node"`
	api.RollForce
}

// dnssecForce makes every node continue the change of a zone's key without the nodes that it does not hear of. Before
// that it prints which nodes these are and what may break, and asks for confirmation unless yes is set.
func (a *app) dnssecForce(ctx context.Context, zone string, dryRun, yes bool) error {
	force := func(preview bool) (list []nodeForce, err error) {
		replies, err := onAll(ctx, a, askingAll, func(ctx context.Context, c *api.Client) (api.RollForce, error) {
			return c.ForceRoll(ctx, zone, preview)
		})
		for _, r := range replies {
			if r.err == nil {
				list = append(list, nodeForce{r.node, r.answer})
			}
		}
		if err == nil && len(list) == 0 {
			err = replies[0].err
		}
		return list, err
	}
	list, err := force(true)
	if err != nil {
		return err
	}
	if dryRun || a.forPeople() {
		if err := a.print(list, a.table(forceTable(list))); err != nil {
			return err
		}
	}
	var names []string
	for _, one := range list {
		names = append(names, each(one.Without, func(s api.RollSilent) string { return s.Peer })...)
	}
	slices.Sort(names)
	risk := fmt.Sprintf("Stop %s and move its <data_dir>/dnssec away, so that it asks before it answers when it is back: "+
		"%s", strings.Join(slices.Compact(names), ", "), list[0].Risk)
	if dryRun || yes {
		fmt.Fprintln(a.Err, render.Printable(risk)+".")
	}
	if dryRun {
		return nil
	}
	if err := a.confirm(ctx, yes, render.Printable(risk)); err != nil {
		return err
	}
	if list, err = force(false); err != nil {
		return err
	}
	return a.print(list, func() string {
		return list[0].Zone + " goes on without them at this stage. See how far it is: gslbctl dnssec rolls\n"
	})
}

func forceTable(list []nodeForce) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "NODE"}, {Name: "STAGE"}, {Name: "DOES NOT WAIT FOR"},
		{Name: "WHY"}}}
	for _, one := range list {
		for _, s := range one.Without {
			t.Add(render.C(one.Node), render.C(string(one.Stage)), render.C(s.Peer), render.C(s.Reason))
		}
	}
	return t
}
