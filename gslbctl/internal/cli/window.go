package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// window has the unparsed flags for the start and end of an override, weight or drain.
type window struct {
	at      string        // --at
	expires time.Duration // --expires-in
	alias   time.Duration // --for
	replace bool          // --replace-planned
}

// replacing returns the request context of a command. Requests replace a planned window only with --replace-planned.
func (w *window) replacing(ctx context.Context) context.Context {
	if w.replace {
		return api.ReplacePlanned(ctx)
	}
	return ctx
}

// checkPlanned rejects a change of several servers if a server has a planned window of the same kind. It runs before
// the first change.
func (a *app) checkPlanned(ctx context.Context, kind api.OrderKind, servers []api.Backend, w window) error {
	if w.replace || len(servers) < 2 {
		return nil
	}
	list, err := fleet.First(ctx, a.Fleet, func(ctx context.Context, c *api.Client) (api.OrderList,
		error) {
		return c.Orders(ctx)
	})
	if err != nil {
		return nil //nolint:nilerr // the node repeats the check
	}
	var planned []string
	for _, o := range list.Orders {
		if o.Kind != kind || o.InForce {
			continue
		}
		for _, s := range servers {
			if at, err := netip.ParseAddrPort(o.Address); err == nil && o.Service == s.Service &&
				at.Port() == uint16(s.Port) &&
				at.Addr().String() == s.Address {
				planned = append(planned, s.ID)
			}
		}
	}
	if len(planned) == 0 {
		return nil
	}
	return fleet.NewError(fleet.Degraded, fmt.Sprintf("a %s is planned for %s of %d, such as of %s: clear it first, "+
		"or add --replace-planned; %s", kind, render.Count(len(planned), "server", "servers"), len(servers), planned[0],
		fleet.NothingChanged), &api.Error{Status: http.StatusConflict})
}

// windowFlags adds --at, --expires-in and its other name --for.
func windowFlags(cmd *cobra.Command, w *window) {
	cmd.Flags().StringVar(&w.at, "at", "",
		"start `time` in the zone of this machine, such as 22:00, \"tomorrow 02:00\", or "+
			"2026-01-31T22:00:00Z (default now)")
	cmdline.SpanVar(cmd.Flags(), &w.expires, "expires-in", 0,
		"duration from the start, such as 30m or 1d (default no end)")
	cmdline.SpanVar(cmd.Flags(), &w.alias, "for", 0, "alias of --expires-in")
	cmd.Flags().BoolVar(&w.replace, "replace-planned", false,
		"replace a planned drain, override or weight instead of rejecting the "+
			"change")
}

// read returns the start (nil for now) and the duration in the format of the API ("" for no end).
func (w *window) read(cmd *cobra.Command, now time.Time) (starts *time.Time, expiresIn string, err error) {
	flags := cmd.Flags()
	if flags.Changed("for") && flags.Changed("expires-in") {
		return nil, "", errors.New("--for is another name of --expires-in: give one of them")
	}
	life := max(w.expires, w.alias)
	if flags.Changed("for") || flags.Changed("expires-in") {
		if w.expires < 0 || w.alias < 0 || life == 0 {
			return nil, "", fmt.Errorf("--expires-in is %s: it must be above zero, such as 30m", min(w.expires,
				w.alias))
		}
		expiresIn = life.String()
	}
	if flags.Changed("at") {
		at, err := cmdline.ParseMoment(w.at, now)
		if err != nil {
			return nil, "", fmt.Errorf("--at: %w", err)
		}
		starts = &at
	}
	return starts, expiresIn, nil
}

// begins returns the start of a window with its time zone, or "" for an active window.
func begins(starts *time.Time, now time.Time) string {
	if starts == nil {
		return ""
	}
	return " from " + cmdline.Zoned(*starts, now)
}
