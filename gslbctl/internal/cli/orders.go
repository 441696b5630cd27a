package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) ordersCommand() *cobra.Command {
	var tag string
	ask := func(c *api.Client, ctx context.Context) (api.OrderList, error) {
		list, err := c.Orders(ctx)
		if err != nil || tag == "" {
			return list, err
		}
		without, err := untagged(ctx, c, tag)
		list.Orders = slices.DeleteFunc(list.Orders, func(o api.Order) bool { return without(o.Service) })
		list.Total = len(list.Orders)
		return list, err
	}
	cmd := cmdline.ListCommand(a.App, "orders", "List active and planned drains, overrides and weights",
		ask, func(list api.OrderList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "ORDER"}, {Name: "STATE"},
					{Name: "REASON", Spare: 2}, {Name: "BY", Spare: 3}, {Name: "SET", Spare: 4}, {Name: "BEGINS",
						Spare: 1},
					{Name: "ENDS", Spare: 1}, {Name: "SOURCE", Wide: true}},
				Empty: "No overrides, weights or drains.",
			}
			for _, o := range list.Orders {
				t.AddNamed(string(o.Kind)+" "+o.Service+" "+o.Address, render.C(o.Service), render.C(o.Address),
					orderCell(o),
					stateCell(o.InForce), orNone(o.Reason), orNone(o.CreatedBy), a.Ago(&o.CreatedAt),
					a.Moment(o.StartsAt, render.None), a.Moment(o.ExpiresAt, "never"), orNone(o.Source))
			}
			return t
		})
	cmd.Aliases = []string{"drains", "weights"}
	cmd.Long = "orders lists the drains, overrides and weights that operators have set, both in force and planned\n" +
		"(--at). gslbctl undrain, overrides clear and weight --clear end them."
	a.tagFlag(cmd, &tag)
	return cmd
}

// orderCell returns a cell with the content of an order.
func orderCell(o api.Order) render.Cell {
	switch {
	case o.Healthy != nil:
		return verdictCell(o.Healthy)
	case o.Weight != nil:
		return render.C(fmt.Sprintf("weight %d", *o.Weight))
	case o.Share != nil && *o.Share > 0:
		return render.C(fmt.Sprintf("drain to %.0f%%", 100**o.Share))
	}
	return render.C(string(o.Kind))
}

func stateCell(inForce bool) render.Cell {
	if inForce {
		return render.Cell{Text: "in force", Tone: render.Warn}
	}
	return render.C("planned")
}
