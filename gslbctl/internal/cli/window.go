package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// window has the flags for the beginning and end of an operator's order, as they were given.
type window struct {
	at      string        // --at
	expires time.Duration // --expires-in
	alias   time.Duration // --for
	replace bool          // --replace-planned
}

// replacing returns the context for the requests of a command, which replace a planned window only if told so.
func (w *window) replacing(ctx context.Context) context.Context {
	if w.replace {
		return api.ReplacePlanned(ctx)
	}
	return ctx
}

// checkPlanned refuses a change of several servers of which one has a planned order of the same kind, before any of
// them is changed.
func (a *app) checkPlanned(ctx context.Context, kind api.OrderKind, servers []api.Backend, w window) error {
	if w.replace || len(servers) < 2 {
		return nil
	}
	list, err := read(ctx, a, func(ctx context.Context, c *api.Client) (api.OrderList, error) { return c.Orders(ctx) })
	if err != nil {
		return nil //nolint:nilerr // the node refuses what it must
	}
	var planned []string
	for _, o := range list.Orders {
		if o.Kind != kind || o.InForce {
			continue
		}
		for _, s := range servers {
			if at, err := netip.ParseAddrPort(o.Address); err == nil && o.Service == s.Service && at.Port() == uint16(s.Port) &&
				at.Addr().String() == s.Address {
				planned = append(planned, s.ID)
			}
		}
	}
	if len(planned) == 0 {
		return nil
	}
	return &outcome{exitDegraded, fmt.Sprintf("a %s is planned for %s of %d, such as of %s: take it back first, or "+
		"add --replace-planned; %s", kind, render.Count(len(planned), "server", "servers"), len(servers), planned[0],
		nothingChanged), &api.Error{Status: http.StatusConflict}}
}

// windowFlags adds --at, --expires-in and its other name --for.
func windowFlags(cmd *cobra.Command, w *window) {
	cmd.Flags().StringVar(&w.at, "at", "",
		"begin it by itself at this `time`, such as 22:00, \"tomorrow 02:00\" or 2026-01-31T22:00:00Z (default at once)")
	spanVar(cmd.Flags(), &w.expires, "expires-in", 0,
		"end it by itself after this time from its beginning, such as 30m or 1d (default never)")
	spanVar(cmd.Flags(), &w.alias, "for", 0, "another name of --expires-in")
	cmd.Flags().BoolVar(&w.replace, "replace-planned", false, "replace a planned window, which is refused otherwise")
}

// read returns the beginning, nil for at once, and the time from there to the end in the API's form, "" for no end.
func (w *window) read(cmd *cobra.Command, now time.Time) (starts *time.Time, expiresIn string, err error) {
	flags := cmd.Flags()
	if flags.Changed("for") && flags.Changed("expires-in") {
		return nil, "", errors.New("--for is another name of --expires-in: give one of them")
	}
	life := max(w.expires, w.alias)
	if flags.Changed("for") || flags.Changed("expires-in") {
		if w.expires < 0 || w.alias < 0 || life == 0 {
			return nil, "", fmt.Errorf("--expires-in is %s: it must be above zero, such as 30m", min(w.expires, w.alias))
		}
		expiresIn = life.String()
	}
	if flags.Changed("at") {
		at, err := parseMoment(w.at, now)
		if err != nil {
			return nil, "", fmt.Errorf("--at: %w", err)
		}
		starts = &at
	}
	return starts, expiresIn, nil
}

// begins describes the beginning of a window with its zone, "" for one that has begun.
func begins(starts *time.Time, now time.Time) string {
	if starts == nil {
		return ""
	}
	return " from " + zoned(*starts, now)
}

// zoned formats a moment in the zone of now, and in UTC where that is another.
func zoned(at, now time.Time) string {
	local := at.In(now.Location())
	text := local.Format("2006-01-02 15:04:05 MST")
	if _, offset := local.Zone(); offset != 0 {
		text += " (" + at.UTC().Format("15:04:05") + " UTC)"
	}
	return text
}

// parseMoment reads a time to come: RFC 3339, or a clock time of today, tomorrow or a date in the zone of now.
func parseMoment(text string, now time.Time) (at time.Time, err error) {
	text = strings.TrimSpace(text)
	if at, err = time.Parse(time.RFC3339, strings.ToUpper(text)); err != nil {
		if at, err = parseLocal(text, now); err != nil {
			return at, err
		}
	}
	if !at.After(now) {
		hint := ""
		if len(text) <= len("15:04:05") {
			hint = fmt.Sprintf(": the next is \"tomorrow %s\"", text)
		}
		return at, fmt.Errorf("%q is %s, which has passed%s", text, zoned(at, now), hint)
	}
	return at, nil
}

// parseLocal reads a clock time in the zone of now, after "today", "tomorrow", "yesterday" or a date. Without a day it
// is a time of today.
func parseLocal(text string, now time.Time) (time.Time, error) {
	date, clock, dated := strings.Cut(strings.ToLower(text), " ")
	if !dated {
		date, clock = "today", date
	}
	var day time.Time
	var err error
	switch date {
	case "today":
		day = now
	case "tomorrow":
		day = now.AddDate(0, 0, 1)
	case "yesterday":
		day = now.AddDate(0, 0, -1)
	default:
		day, err = time.ParseInLocation(time.DateOnly, date, now.Location())
	}
	layout := "15:04"
	if strings.Count(clock, ":") == 2 {
		layout = time.TimeOnly
	}
	of, wrong := time.Parse(layout, strings.TrimSpace(clock))
	if err != nil || wrong != nil {
		return time.Time{}, fmt.Errorf("%q is no time: give one such as 22:00, \"tomorrow 02:00\", \"2026-01-31 22:00\" or "+
			"2026-01-31T22:00:00Z", text)
	}
	at := time.Date(day.Year(), day.Month(), day.Day(), of.Hour(), of.Minute(), of.Second(), 0, now.Location())
	if at.Hour() != of.Hour() || at.Minute() != of.Minute() {
		return at, fmt.Errorf("%q does not exist: the clock of %s jumps over it", text, now.Location())
	}
	return at, nil
}

func (a *app) ordersCommand() *cobra.Command {
	return lists(a, "orders", "List the overrides, weights and drains of operators, in force and planned",
		(*api.Client).Orders, func(list api.OrderList) *render.Table {
			t := &render.Table{
				Columns: []render.Column{{Name: "SERVICE"}, {Name: "ADDRESS"}, {Name: "ORDER"}, {Name: "STATE"},
					{Name: "REASON", Spare: 2}, {Name: "BY", Spare: 3}, {Name: "SET", Spare: 4}, {Name: "BEGINS", Spare: 1},
					{Name: "ENDS", Spare: 1}, {Name: "SOURCE", Wide: true}},
				Empty: "No operator has ordered anything.",
			}
			for _, o := range list.Orders {
				t.AddNamed(string(o.Kind)+" "+o.Service+" "+o.Address, render.C(o.Service), render.C(o.Address), orderCell(o),
					stateCell(o.InForce), orNone(o.Reason), orNone(o.CreatedBy), a.ago(&o.CreatedAt),
					a.momentCell(o.StartsAt, render.None), a.momentCell(o.ExpiresAt, "never"), orNone(o.Source))
			}
			return t
		})
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

func (a *app) momentCell(at *time.Time, none string) render.Cell {
	if at == nil {
		return render.C(none)
	}
	return render.C(render.Until(*at, a.Now()))
}
