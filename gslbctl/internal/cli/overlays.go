package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// configOverlaysCommand returns the command that lists overlays: values set by the API on objects that the
// configuration declares, a row for each.
func (a *app) configOverlaysCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "overlays",
		"List overlays: values set with the API that replace values of the configuration file",
		(*api.Client).Overlays, func(list api.OverlayList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "KIND"}, {Name: "ID"}, {Name: "FIELD"}, {Name: "VALUE"},
					{Name: "IN THE FILE"},
					{Name: "IN FORCE"}, {Name: "BY", Spare: 1}, {Name: "CHANGED", Spare: 2}, {Name: "REASON",
						Wide: true}},
				Empty: "There are no overlays.",
			}
			for _, o := range list.Overlays {
				for _, field := range slices.Sorted(maps.Keys(o.Fields)) {
					t.AddNamed(o.ID, render.C(o.Kind), render.C(o.ID), render.C(field),
						orNone(plainJSON(o.Fields[field])),
						orNone(plainJSON(o.Configured[field])), goodCell(o.InForce), orNone(o.By), a.Ago(&o.UpdatedAt),
						orNone(o.Reason))
				}
			}
			return t
		})
}

// plainJSON returns a value as a table shows it.
func plainJSON(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return ""
	}
	return valueText(v)
}

// resetCommand returns a command that removes the overlay of an object, so that the values of the file apply.
func (a *app) resetCommand(kind, use string, names cmdline.Names,
	request func(*api.Client, context.Context, string) error) *cobra.Command {
	return a.removal(resetting(kind, use, names, request))
}

// resetting returns the removal of the overlay of an object.
func resetting(kind, use string, names cmdline.Names, request func(*api.Client, context.Context,
	string) error) removal {
	return removal{
		use: use, short: "Reset a " + kind + " to the values of the configuration file",
		shared:   true,
		names:    names,
		question: "the overlay of " + kind + " %s will be removed",
		apply:    deleting(request, kind+" %s has the values of the file"),
	}
}

// changedObject returns a sentence about a changed object: created by the API, or changed by an overlay.
func changedObject(what string, over *api.Overlay) string {
	if over == nil {
		return what + " is changed"
	}
	return what + " is changed: overlay over the configuration"
}

// sourceCell returns a cell with the source of an object, with "+api" if it has an overlay.
func sourceCell(source string, over *api.Overlay) render.Cell {
	if over == nil {
		return render.C(source)
	}
	return render.C(source + "+api")
}
