package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
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

// weightFlags are the flags of weight.
type weightFlags struct {
	reason string
	when   window
	force  bool
	clear  bool
}

func (a *app) weightCommand() *cobra.Command {
	var f weightFlags
	cmd := &cobra.Command{
		Use:   "weight " + backendForms + " <0..1000> --reason <text>|--clear",
		Short: "Set or clear an operator's weight of backends",
		Long: "weight replaces the declared weight of backends until gslbctl weight --clear, or for the time of\n" +
			"--for. Without --for it has no end. DNS has changed when the command returns. A backend of weight 0\n" +
			"serves only if no other backend can serve. For weight 0, every node checks first which names would\n" +
			"have only such backends.\n\n" +
			"The weight is absolute; the usual weight is 100. To give a backend a part of its usual share, such as\n" +
			"10 %, use gslbctl drain --to 10%. Names with the algorithm round-robin ignore weights.\n\n" +
			"An address without a service selects the backends of the only service at this address. A service and\n" +
			"an address can also be two arguments; without a port they select each backend at the address.",
		Example: "  gslbctl weight app.example.com:192.0.2.10:443 10 --for 1h --reason \"warming up\"\n" +
			"  gslbctl weight app.example.com:192.0.2.10:443 --clear",
		SuggestFor:        []string{"canary", "share"},
		Args:              cobra.RangeArgs(1, 3),
		ValidArgsFunction: a.backendArguments,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.weigh(cmd, args, f) },
	}
	cmd.Flags().StringVar(&f.reason, "reason", "", "the reason, for other operators; required, except with --clear")
	windowFlags(cmd, &f.when)
	cmd.Flags().BoolVar(&f.clear, "clear", false, "restore the declared weight")
	cmdline.ForceFlag(cmd, &f.force)
	return cmd
}

func (a *app) weigh(cmd *cobra.Command, args []string, f weightFlags) error {
	backend := args[:1] // the argument may be a service, followed by an address
	if len(args) == 3 || len(args) == 2 && len(backendNames(args[0])) == 0 {
		backend = args[:2]
	}
	rest := args[len(backend):]
	if f.clear {
		for _, flag := range []string{"reason", "at", "expires-in", "for", "force"} {
			if cmd.Flags().Changed(flag) {
				return fmt.Errorf("--%s sets a weight, and --clear removes it: omit one of them", flag)
			}
		}
		if len(rest) > 0 {
			return fmt.Errorf("%q is a weight, and --clear removes the weight: give one of them", rest[0])
		}
		name, err := a.backendArgument(cmd.Context(), backend, weightedBackends)
		if err != nil {
			if _, other := a.backendArgument(cmd.Context(), backend, allBackends); other == nil {
				return fleet.NewError(fleet.Degraded, fmt.Sprintf("%s has no weight to clear; "+fleet.NothingChanged,
					strings.Join(backend, " ")), &api.Error{Status: http.StatusNotFound})
			}
			return err
		}
		return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
			return clearWeights(ctx, c, name)
		})
	}
	if len(rest) == 0 {
		return fmt.Errorf("the weight is missing: give one from 0 to %d, or --clear", api.MaxWeight)
	}
	weight, err := strconv.Atoi(rest[0])
	if err != nil || weight < 0 || weight > api.MaxWeight {
		return fmt.Errorf("the weight is %q: it must be a number from 0 to %d, relative to the other backends of "+
			"the name; gslbctl backends shows the shares", rest[0], api.MaxWeight)
	}
	if strings.TrimSpace(f.reason) == "" {
		return fmt.Errorf("--reason is missing: the reason, for other operators, such as --reason \"warming up\"")
	}
	req := api.WeightRequest{Weight: &weight, Reason: f.reason, Source: overrideSource}
	if req.StartsAt, req.ExpiresIn, err = f.when.read(cmd, a.Now()); err != nil {
		return err
	}
	name, err := a.backendArgument(cmd.Context(), backend, allBackends)
	if err != nil {
		return err
	}
	return a.setWeights(cmd.Context(), name, req, f)
}

func (a *app) setWeights(ctx context.Context, name backendName, req api.WeightRequest, f weightFlags) error {
	chosen, err := a.backendsOf(ctx, name)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return fleet.NewError(fleet.Degraded, fmt.Sprintf("no node knows a backend of %s at %s; "+fleet.NothingChanged,
			name.service,
			name.endpoint()), &api.Error{Status: http.StatusNotFound})
	}
	if *req.Weight == 0 {
		asked := api.ConsequenceRequest{Backends: allIDs(chosen), ZeroWeight: true}
		if ctx, err = a.CheckConsequences(ctx, f.force, asked); err != nil {
			return err
		}
	}
	if err := a.checkPlanned(ctx, api.OrderWeight, chosen, f.when); err != nil {
		return err
	}
	err = a.Change(f.when.replacing(ctx), func(ctx context.Context, c *api.Client) (string, error) {
		return eachServer(chosen, func(id string) (string, error) {
			b := chosen[slices.IndexFunc(chosen, func(b api.Backend) bool { return b.ID == id })]
			o, err := c.SetWeight(ctx, b.Service, b.Address, b.Port, req)
			return weightSentence(b, o, a.Now()), err
		})
	})
	if err != nil {
		return err
	}
	return a.tellTakingBack(chosen, "gslbctl weight "+name.argument()+" --clear")
}

func weightSentence(b api.Backend, o api.Order, now time.Time) string {
	if o.Weight == nil {
		return "" // an error
	}
	verb, ends := "has", "until the weight is cleared"
	if o.StartsAt != nil && o.StartsAt.After(now) {
		verb = "will have"
	}
	if o.ExpiresAt != nil {
		ends = "until " + cmdline.Zoned(*o.ExpiresAt, now)
	}
	return fmt.Sprintf("%s the weight %d instead of %d%s %s", verb, *o.Weight, b.Weight, begins(o.StartsAt, now), ends)
}

// clearWeights clears the operators' weights of a service at an address: at all ports if the name has no port.
func clearWeights(ctx context.Context, c *api.Client, name backendName) (string, error) {
	if name.port != 0 {
		return fmt.Sprintf("%s %s has its declared weight", name.service, name.endpoint()), c.ClearWeight(ctx,
			name.service,
			name.address.String(), name.port)
	}
	list, err := c.Orders(ctx)
	if err != nil {
		return "", err
	}
	cleared := 0
	for _, o := range list.Orders {
		at, err := netip.ParseAddrPort(o.Address)
		if err != nil || o.Kind != api.OrderWeight || at.Addr() != name.address || !sameName(o.Service, name.service) {
			continue
		}
		if err := c.ClearWeight(ctx, o.Service, at.Addr().String(), int(at.Port())); err != nil {
			return "", fleet.After(cleared, render.Count(cleared, "weight is", "weights are")+" cleared", err)
		}
		cleared++
	}
	if cleared == 0 {
		return "", &api.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("there is no active or planned "+
			"weight of %s %s",
			name.service, name.address)}
	}
	return fmt.Sprintf("%s of %s %s: the declared weight is restored", render.Count(cleared, "backend", "backends"),
		name.service, name.address), nil
}

// weightedBackends returns the backends with an operator's weight on a node. Only ID, Service, Address and Port are
// set.
func weightedBackends(ctx context.Context, c *api.Client) (found api.BackendList, err error) {
	list, err := c.Orders(ctx)
	for _, o := range list.Orders {
		if at, wrong := netip.ParseAddrPort(o.Address); wrong == nil && o.Kind == api.OrderWeight {
			found.Backends = append(found.Backends, api.Backend{ID: fmt.Sprintf("%s:%s:%d", o.Service, at.Addr(),
				at.Port()),
				Service: o.Service, Address: at.Addr().String(), Port: int(at.Port())})
		}
	}
	return found, err
}
