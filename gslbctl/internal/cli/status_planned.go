package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// plannedWindow is a planned change of backends: orders with the same content, window and author.
type plannedWindow struct {
	What     string     `json:"what"` // such as drain to 10%
	StartsAt time.Time  `json:"starts_at"`
	EndsAt   *time.Time `json:"ends_at"` // null: no end
	By       string     `json:"by"`
	Reason   string     `json:"reason"`
	Backends []string   `json:"backends"` // "<service> <address>"
}

// plannedWindows returns the planned windows of all nodes, sorted by their start. It counts replicated orders once.
func plannedWindows(nodes []nodeStatus) []plannedWindow {
	type key struct{ what, starts, ends, by, reason string }
	found := map[key]*plannedWindow{}
	for _, n := range nodes {
		for _, o := range n.Planned {
			if o.StartsAt == nil {
				continue
			}
			what := string(o.Kind) + " " + orderCell(o).Text
			if o.Kind != api.OrderOverride {
				what = orderCell(o).Text // the text contains the kind
			}
			k := key{what, o.StartsAt.String(), fmt.Sprint(o.ExpiresAt != nil), o.CreatedBy, o.Reason}
			if o.ExpiresAt != nil {
				k.ends = o.ExpiresAt.String()
			}
			w := found[k]
			if w == nil {
				w = &plannedWindow{What: what, StartsAt: *o.StartsAt, EndsAt: o.ExpiresAt, By: o.CreatedBy,
					Reason: o.Reason}
				found[k] = w
			}
			if backend := o.Service + " " + o.Address; !slices.Contains(w.Backends, backend) {
				w.Backends = append(w.Backends, backend)
			}
		}
	}
	list := []plannedWindow{}
	for _, w := range found {
		slices.Sort(w.Backends)
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b plannedWindow) int {
		return cmp.Or(a.StartsAt.Compare(b.StartsAt), cmp.Compare(a.What, b.What), slices.Compare(a.Backends,
			b.Backends))
	})
	return list
}

// maxPlanned bounds the planned windows on the screen.
const maxPlanned = 10

// plannedText lists planned windows for people. The text of an empty list is "".
func plannedText(list []plannedWindow, now time.Time) string {
	if len(list) == 0 {
		return ""
	}
	lines := []string{"", "planned:"}
	for _, w := range list[:min(len(list), maxPlanned)] {
		ends := " until it is cleared"
		if w.EndsAt != nil {
			ends = " until " + cmdline.Zoned(*w.EndsAt, now)
		}
		line := "  - " + w.What + " of " + w.Backends[0]
		if more := len(w.Backends) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		line += begins(&w.StartsAt, now) + ends
		if w.By != "" {
			line += ", by " + w.By
		}
		if w.Reason != "" {
			line += ": " + w.Reason
		}
		lines = append(lines, line)
	}
	if more := len(list) - maxPlanned; more > 0 {
		lines = append(lines, fmt.Sprintf("  - and %d more: gslbctl orders lists all", more))
	}
	return render.Lines(lines)
}
