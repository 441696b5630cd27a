package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nodeForce is the response of a node to a request to continue a rollover without silent nodes.
type nodeForce struct {
	Node string `json:"node"`
	api.RollForce
}

// dnssecForce makes every node continue the rollover of a zone without the silent nodes. It first prints the silent
// nodes and the risks, and asks for confirmation unless yes is set.
func (a *app) dnssecForce(ctx context.Context, zone string, dryRun, yes bool) error {
	force := func(preview bool) (list []nodeForce, failed []error, err error) {
		replies, err := fleet.AskAll(ctx, a.Fleet, fleet.Asking, func(ctx context.Context,
			c *api.Client) (api.RollForce, error) {
			return c.ForceRoll(ctx, zone, preview)
		})
		for _, r := range replies {
			if r.Err != nil {
				failed = append(failed, r.Err)
				continue
			}
			list = append(list, nodeForce{r.Node, r.Value})
		}
		return list, failed, err
	}
	list, failed, err := force(true)
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return failed[0]
	}
	if dryRun || a.ForPeople() {
		if err := a.Print(list, a.Table(forceTable(list))); err != nil {
			return err
		}
	}
	var names []string
	for _, one := range list {
		names = append(names, each(one.Without, func(s api.RollSilent) string { return s.Peer })...)
	}
	slices.Sort(names)
	risk := fmt.Sprintf("Stop %s and move its <data_dir>/dnssec away, so that it fetches the keys before it answers "+
		"when it is back: %s", strings.Join(slices.Compact(names), ", "), list[0].Risk)
	if dryRun || yes {
		fmt.Fprintln(a.Err, render.Printable(risk)+".")
	}
	if dryRun {
		return a.notForced(failed)
	}
	if err := a.Confirm(ctx, yes, render.Printable(risk)); err != nil {
		return err
	}
	if list, failed, err = force(false); err != nil {
		return err
	}
	if len(list) == 0 {
		unsure := slices.IndexFunc(failed, func(err error) bool { return !fleet.IsCertain(err) })
		return fleet.Unchanged(failed[max(unsure, 0)])
	}
	err = a.Print(list, func() string {
		return list[0].Zone + " continues without these nodes at this stage. Show the progress: gslbctl dnssec rolls\n"
	})
	if err != nil {
		return err
	}
	return a.notForced(failed)
}

// notForced returns the nodes that did not accept the request. If a node rejected the request, the result is an error;
// otherwise it is additional output, because an unreachable node can be one of the silent nodes.
func (a *app) notForced(failed []error) error {
	var refused error
	sentences := each(failed, func(err error) string {
		if answered, ok := errors.AsType[*api.Error](err); ok {
			refused = answered
		}
		_, sentence := fleet.Explain(err)
		return sentence
	})
	said := "not on every node: " + strings.Join(sentences, "; ")
	switch {
	case refused != nil:
		return fleet.NewError(fleet.Degraded, said, refused)
	case len(failed) > 0:
		fmt.Fprintln(a.Err, "gslbctl: "+render.Printable(said))
	}
	return nil
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
