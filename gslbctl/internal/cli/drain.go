package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// drainFlags are the flags of drain.
type drainFlags struct {
	order  drainOrder
	of     drainScope
	wait   bool
	within time.Duration
	yes    bool
	force  bool
}

// drainOrder are the flags that describe a drain: duration, share and time window.
type drainOrder struct {
	over   time.Duration
	to     string
	reason string
	when   window
}

func (o *drainOrder) flags(cmd *cobra.Command) {
	cmdline.SpanVar(cmd.Flags(), &o.over, "over", 0, "time in which the traffic decreases to the new share, "+
		"such as 2m (default the TTL of the domain); the drain then lasts until undrain or --for")
	cmd.Flags().StringVar(&o.to, "to", "", "remaining `share` of the weight, such as 25% (default 0%)")
	cmd.Flags().StringVar(&o.reason, "reason", "", "the reason, for other operators")
	windowFlags(cmd, &o.when)
}

// request returns the request that the flags ask for.
func (o *drainOrder) request(cmd *cobra.Command, now time.Time) (req api.DrainRequest, err error) {
	req.Reason = o.reason
	if cmd.Flags().Changed("over") {
		if o.over <= 0 {
			return req, fmt.Errorf("--over is %s: it must be above zero, such as 2m", o.over)
		}
		req.Duration = o.over.String()
	}
	if o.to != "" {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(o.to, "%"), 64)
		if err != nil || !(percent >= 0 && percent < 100) {
			return req, fmt.Errorf("--to is %q: it must be from 0%% to below 100%%, such as 25%%", o.to)
		}
		req.Share = percent / 100
	}
	req.StartsAt, req.ExpiresIn, err = o.when.read(cmd, now)
	return req, err
}

// drainSentence returns a sentence about a drain that a node has accepted.
func drainSentence(req api.DrainRequest, d api.Drain, now time.Time) string {
	text := "is draining"
	if req.StartsAt != nil {
		text = "will drain" + begins(req.StartsAt, now)
	}
	if req.Share > 0 {
		text += fmt.Sprintf(" to %.0f%% of its weight", 100*req.Share)
	}
	switch {
	case req.StartsAt != nil && d.ExpiresAt != nil:
		text += ", and end at " + cmdline.Zoned(*d.ExpiresAt, now)
	case req.StartsAt == nil && d.DrainEndsAt != nil:
		reached := ", without traffic from %s UTC on"
		if req.Share > 0 {
			reached = " by %s UTC"
		}
		text += fmt.Sprintf(reached, d.DrainEndsAt.UTC().Format(time.TimeOnly))
		if d.ExpiresAt != nil {
			text += ", and receives traffic again at " + cmdline.Zoned(*d.ExpiresAt, now)
		}
	}
	return text
}

func (a *app) drainCommand() *cobra.Command {
	var f drainFlags
	cmd := &cobra.Command{
		Use:   "drain " + drainForms,
		Short: "Drain a backend, a machine or a region before maintenance",
		Long: "drain reduces the traffic of backends to zero on every node: one backend, all at an address, all of\n" +
			"an agent, or all in a region. The region can be an argument or --region; with --service, only the\n" +
			"backends of this name in the region are drained, so that the name answers with its other regions. A\n" +
			"drain lasts until gslbctl undrain, or for the time of --for. drain selects the backends that the nodes\n" +
			"know now: a backend that is added to the region later receives traffic. gslbctl orders lists drains.\n\n" +
			"First, every node checks which names would have too few backends. If there are such names, gslbctl\n" +
			"prints them and changes nothing, except with --force.\n\n" +
			"With --wait, drain returns when every node reports that the backends are safe to stop: the node does\n" +
			"not answer with them, and the TTL of previous answers has expired. It ends with 1 if a name has no\n" +
			"answer.",
		Example: "  gslbctl drain app.example.com:192.0.2.10:443 --wait\n" +
			"  gslbctl drain app.example.com 192.0.2.10:443 --to 25%\n" +
			"  gslbctl drain 192.0.2.10 --over 5m --wait && ssh 192.0.2.10 reboot\n" +
			"  gslbctl drain eu --at 22:00 --for 2h --reason \"power work\"\n" +
			"  gslbctl drain --region eu --service app.example.com --for 1h",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.drainArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := f.of.read(args)
			if err != nil {
				return err
			}
			if f.order.over < 0 || f.within < 0 || cmd.Flags().Changed("within") && f.within == 0 {
				return errors.New("--over and --within must be above zero, such as 2m")
			}
			if cmd.Flags().Changed("within") && !f.wait {
				return errors.New("--within requires --wait")
			}
			req, err := f.order.request(cmd, a.Now())
			if err != nil {
				return err
			}
			if f.wait && (req.Share > 0 || req.StartsAt != nil) {
				return errors.New("--wait requires a drain to zero that starts now: omit --to and --at")
			}
			return a.drain(cmd.Context(), name, req, f)
		},
	}
	f.order.flags(cmd)
	a.drainScopeFlags(cmd, &f.of)
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until no node answers with the backends and the TTL has expired")
	cmdline.SpanVar(cmd.Flags(), &f.within, "within", 0,
		"maximum time of --wait (default the drain, the TTL and a minute)")
	cmdline.YesFlag(cmd, &f.yes)
	cmdline.ForceFlag(cmd, &f.force)
	return cmd
}

func (a *app) undrainCommand() *cobra.Command {
	var yes bool
	var of drainScope
	cmd := &cobra.Command{
		Use:   "undrain " + drainForms,
		Short: "End the drain of backends",
		Long: "undrain ends active and planned drains: the backends receive traffic again. It selects backends as\n" +
			"drain does.",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.drainArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := of.read(args)
			if err != nil {
				return err
			}
			servers, err := a.serversToDrain(cmd.Context(), name, of, backendsAndDrains)
			if err != nil {
				return err
			}
			servers = slices.DeleteFunc(servers, func(b api.Backend) bool { return !b.Draining })
			if len(servers) == 0 {
				return fleet.NewError(fleet.Degraded, fmt.Sprintf("there is no active or planned drain of %q; "+
					""+fleet.NothingChanged, name),
					&api.Error{Status: http.StatusNotFound})
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				return eachServer(servers, func(id string) (string, error) { return undrain(ctx, c, id) })
			})
		},
	}
	a.drainScopeFlags(cmd, &of)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "no effect: undrain needs no confirmation")
	return cmd
}

// undrain ends the drain of a server on a node. It returns the resulting state.
func undrain(ctx context.Context, c *api.Client, id string) (said string, err error) {
	drain, err := c.UndrainServer(ctx, id)
	if drain.Draining {
		return "still drains, because its agent requests a drain", err
	}
	return "receives traffic again", err
}

func (a *app) drain(ctx context.Context, name string, req api.DrainRequest, f drainFlags) error {
	servers, err := a.serversToDrain(ctx, name, f.of, allBackends)
	if err != nil {
		return err
	}
	if req.Share == 0 {
		asked := api.ConsequenceRequest{Backends: allIDs(servers)}
		// A region may have more backends than the maximum of a request.
		if f.of.service == "" && (f.of.region != "" || isRegion(name, servers)) {
			asked = api.ConsequenceRequest{Regions: []string{servers[0].Region}}
		}
		if ctx, err = a.CheckConsequences(ctx, f.force, asked); err != nil {
			return err
		}
	}
	if len(servers) > 1 || servers[0].ID != name {
		consequence := fmt.Sprintf("draining %s takes the traffic of %s: %s", f.of.describe(name),
			render.Count(len(servers), "server", "servers"), ids(servers))
		if err := a.Confirm(ctx, f.yes, consequence); err != nil {
			return err
		}
	}
	var w *drainWait
	if f.wait { // check that waiting is possible before the change
		if w, err = a.newDrainWait(ctx, servers, f); err != nil {
			return err
		}
	}
	if err := a.checkPlanned(ctx, api.OrderDrain, servers, f.order.when); err != nil {
		return err
	}
	ctx = f.order.when.replacing(ctx)
	say := w == nil || a.ForPeople() // for programs, the result of the wait is in the same document
	report, err := a.Fleet.Change(ctx, func(ctx context.Context, c *api.Client) (string, error) {
		return eachServer(servers, func(id string) (string, error) {
			drain, err := c.DrainServer(ctx, id, req)
			return drainSentence(req, drain, a.Now()), err
		})
	})
	if say {
		err = a.PrintReport(report, err)
	}
	if err == nil {
		err = a.tellTakingBack(servers, "gslbctl undrain "+f.of.arguments(name))
	}
	if err != nil || w == nil {
		return err
	}
	return w.run(ctx)
}

// tellTakingBack prints the command that reverts a change of several servers, if the output is for people.
func (a *app) tellTakingBack(servers []api.Backend, command string) error {
	if len(servers) < 2 || !a.ForPeople() {
		return nil
	}
	return a.Write(render.Printable(command) + " reverts all of it\n")
}
