package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

func (a *app) serversAddCommand() *cobra.Command {
	var given api.ServerPatch
	var healthCheck api.HealthCheckChange
	cmd := &cobra.Command{
		Use:   "add <service>:<ip or host name>:<port> --region <region>",
		Short: "Add a server",
		Long: "Add a server on every node. A server with an IP address is in DNS when the command returns. With a\n" +
			"host name, each of its addresses becomes a backend once it is resolved and checked. The service, the\n" +
			"address and the port can also be three arguments.",
		Example: "  gslbctl servers add app.example.com:192.0.2.12:443 --region eu --weight 50\n" +
			"  gslbctl servers add app.example.com:app-1234.eu.example.net:443 --region eu --allow 203.0.113.0/24",
		Args: cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := newServer(args)
			if err != nil {
				return err
			}
			req.Region, req.Weight = cmdline.ValueOf(given.Region), given.Weight
			req.Agent, req.AllowedCIDRs = cmdline.ValueOf(given.Agent), cmdline.ValueOf(given.AllowedCIDRs)
			if healthCheck != (api.HealthCheckChange{}) {
				req.HealthCheck = &healthCheck
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				created, err := c.CreateServer(ctx, req)
				return "server " + created.ID + " is registered", err
			})
		},
		ValidArgsFunction: a.CompleteArguments(domainNames),
	}
	a.serverFlags(cmd, &given)
	checkFlags(cmd, &healthCheck, "check-")
	cmdline.Require(cmd, [2]string{"region", "where the server is, such as --region eu"})
	return cmd
}

// newServer returns the server that the arguments of servers add describe: service:address:port, or these three. The
// node checks host names.
func newServer(args []string) (req api.ServerCreate, err error) {
	if len(args) == 1 {
		service, rest, _ := strings.Cut(args[0], ":")
		at := strings.LastIndexByte(rest, ':')
		if service == "" || at <= 0 {
			return req, fmt.Errorf("the server is %q: it must be service:address:port, such as "+
				"app.example.com:192.0.2.12:443",
				args[0])
		}
		args = []string{service, strings.Trim(rest[:at], "[]"), rest[at+1:]}
	}
	if len(args) != 3 {
		return req, errors.New("the port is missing: give service:address:port, or a service, an address and a port")
	}
	req.Service = args[0]
	if req.Port, err = strconv.Atoi(args[2]); err != nil {
		return req, fmt.Errorf("the port is %q: it must be a number from 1 to 65535", args[2])
	}
	if _, err := netip.ParseAddr(args[1]); err == nil {
		req.Address = args[1]
	} else {
		req.Target = args[1]
	}
	return req, nil
}

// serverFlags adds the flags for the settings of a server. Only given ones are in req.
func (a *app) serverFlags(cmd *cobra.Command, req *api.ServerPatch) {
	flags := cmd.Flags()
	cmdline.Optional(cmd, flags.IntVar, &req.Weight, "weight", api.DefaultServerWeight,
		"weight from 1 to 1000")
	cmdline.Optional(cmd, flags.StringVar, &req.Region, "region", "", "the region that it is in")
	cmdline.Optional(cmd, flags.StringVar, &req.Agent, "agent", "",
		"`agent` of the server: reports of other agents do not override successful own checks; empty removes it")
	cmdline.Optional(cmd, flags.StringSliceVar, &req.AllowedCIDRs, "allow", nil,
		"networks for the addresses of a host name, such as 10.0.0.0/8 (default the networks for agents) be")
	_ = cmd.RegisterFlagCompletionFunc("region", a.Complete(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("agent", a.Complete(agentNames))
}

func (a *app) serversSetCommand() *cobra.Command {
	var req api.ServerPatch
	cmd := &cobra.Command{
		Use: "set " + backendForms + " [--weight <n>] [--region <region>] [--agent <id>] [--allow " +
			"<networks>]",
		Short:             "Change a server",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(serverIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if req == (api.ServerPatch{}) {
				return errors.New("nothing to change: give --weight, --region, --agent or --allow")
			}
			id, err := a.serverArgument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				done, err := c.PatchServer(ctx, id, req)
				if done.Message == api.ServerLaidOver {
					return changedObject("server "+id, &api.Overlay{}), err
				}
				return changedObject("server "+id, nil), err
			})
		},
	}
	a.serverFlags(cmd, &req)
	return cmd
}

func (a *app) serversRemoveCommand() *cobra.Command {
	return a.removal(removal{
		use: "remove " + backendForms, short: "Delete a server of the API",
		shared: true,
		names:  serverIDs,
		object: a.serverArgument,
		consequence: func(id string) api.ConsequenceRequest {
			return api.ConsequenceRequest{Backends: []string{id}, Removed: true}
		},
		question: "removing %s removes it from the answers immediately",
		apply:    deleting((*api.Client).DeleteServer, "server %s is removed"),
	})
}

func (a *app) serversResetCommand() *cobra.Command {
	r := resetting("server", "reset "+backendForms, serverIDs, (*api.Client).ResetServer)
	r.object = a.serverArgument
	return a.removal(r)
}

func (a *app) serversDrainCommand() *cobra.Command {
	var order drainOrder
	var force bool
	cmd := &cobra.Command{
		Use:               "drain " + backendForms,
		Short:             "Drain a server",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(serverIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := order.request(cmd, a.Now())
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			id, err := a.serverArgument(ctx, args[0])
			if err != nil {
				return err
			}
			if req.Share == 0 {
				if ctx, err = a.CheckConsequences(ctx, force,
					api.ConsequenceRequest{Backends: []string{id}}); err != nil {
					return err
				}
			}
			return a.Change(order.when.replacing(ctx), func(ctx context.Context, c *api.Client) (string, error) {
				drain, err := c.DrainServer(ctx, id, req)
				return "server " + id + " " + drainSentence(req, drain, a.Now()), err
			})
		},
	}
	order.flags(cmd)
	cmdline.ForceFlag(cmd, &force)
	return cmd
}

func (a *app) serversUndrainCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "undrain " + backendForms,
		Short:             "Restore the traffic of a drained server",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(serverIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.serverArgument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				said, err := undrain(ctx, c, id)
				return "server " + id + " " + said, err
			})
		},
	}
}

func serverIDs(ctx context.Context, c *api.Client) ([]string, error) {
	list, err := c.Servers(ctx)
	ids := each(list.Servers, func(s api.Server) string { return s.ID })
	return append(ids, each(list.Targets, func(t api.ServerTarget) string { return t.ID })...), err
}
