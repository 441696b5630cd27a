package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

func (a *app) serversAddCommand() *cobra.Command {
	var flags *settingFlags
	cmd := &cobra.Command{
		Use:   "add <service>:<ip or host name>:<port> --region <region>",
		Short: "Add a server",
		Long: "Add a server on every node. A server with an IP address is in DNS when the command returns. With a\n" +
			"host name, each of its addresses becomes a backend once it is resolved and checked. The service, the\n" +
			"address and the port can also be three arguments.",
		Example: "  gslbctl servers add app.example.com:192.0.2.12:443 --region eu --weight 50\n" +
			"  gslbctl servers add app.example.com:app-1234.eu.example.net:443 --region eu " +
			"--allowed-cidrs 203.0.113.0/24",
		Args: cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := newServer(args)
			if err != nil {
				return err
			}
			settings, err := flags.patch()
			if err != nil {
				return err
			}
			req := api.ServerChange(settings)
			maps.Copy(req, id)
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				created, err := c.CreateServer(ctx, req)
				return "server " + created.ID + " is registered", err
			})
		},
		ValidArgsFunction: a.CompleteArguments(domainNames),
	}
	flags = a.serverFlags(cmd)
	cmdline.Require(cmd, [2]string{"region", "where the server is, such as --region eu"})
	return cmd
}

// serverForms describes the forms of the argument of commands that change a server.
const serverForms = backendForms + "|<service> <ip>[:<port>]"

// serverFormsHelp explains serverForms.
const serverFormsHelp = "The service and the address can be one argument, with a colon, or two. An address without\n" +
	"a service, or without a port, must select exactly one server."

// serverArguments returns the id of the server that one or two arguments name.
func (a *app) serverArguments(ctx context.Context, args []string) (string, error) {
	text, err := joinBackend(args)
	if err != nil {
		return "", err
	}
	return a.serverArgument(ctx, text)
}

// newServer returns the id of the server in the arguments of servers add: service:address:port, or service, address and
// port as three arguments. The node validates host names.
func newServer(args []string) (id api.ServerChange, err error) {
	if len(args) == 1 {
		service, rest, _ := strings.Cut(args[0], ":")
		at := strings.LastIndexByte(rest, ':')
		if service == "" || at <= 0 {
			return nil, fmt.Errorf("the server is %q: it must be service:address:port, such as "+
				"app.example.com:192.0.2.12:443",
				args[0])
		}
		args = []string{service, strings.Trim(rest[:at], "[]"), rest[at+1:]}
	}
	if len(args) != 3 {
		return nil, errors.New("the port is missing: give service:address:port, or a service, an address and a port")
	}
	port, err := strconv.Atoi(args[2])
	if err != nil {
		return nil, fmt.Errorf("the port is %q: it must be a number from 1 to 65535", args[2])
	}
	id = api.ServerChange{"service": args[0], "port": port}
	if _, err := netip.ParseAddr(args[1]); err == nil {
		id["address"] = args[1]
	} else {
		id["target"] = args[1]
	}
	return id, nil
}

func (a *app) serversSetCommand() *cobra.Command {
	var flags *settingFlags
	cmd := &cobra.Command{
		Use:   "set " + serverForms,
		Short: "Change a server",
		Long: "set changes the settings of a server on every node. A setting of the configuration file gets an\n" +
			"overlay: a value of the API that replaces the value of the file until gslbctl servers reset removes it.\n\n" +
			serverFormsHelp,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.CompleteArguments(serverIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.given() {
				return flags.errNoSetting()
			}
			req, err := flags.patch()
			if err != nil {
				return err
			}
			id, err := a.serverArguments(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				done, err := c.PatchServer(ctx, id, req)
				if done.Message == api.ServerOverlayChanged {
					return changedObject("server "+id, &api.Overlay{}), err
				}
				return changedObject("server "+id, nil), err
			})
		},
	}
	flags = a.serverFlags(cmd)
	cmd.Flags().Lookup("weight").Usage += "; for a limited time: gslbctl weight"
	return cmd
}

func (a *app) serversRemoveCommand() *cobra.Command {
	return a.removal(removal{
		use: "remove " + serverForms, short: "Delete a server that was created with the API",
		long:    serverFormsHelp,
		shared:  true,
		names:   serverIDs,
		object:  a.serverArgument,
		backend: true,
		consequence: func(id string) api.ConsequenceRequest {
			return api.ConsequenceRequest{Backends: []string{id}, Removed: true}
		},
		question: "removing %s removes it from the answers immediately",
		apply:    deleting((*api.Client).DeleteServer, "server %s is removed"),
	})
}

func (a *app) serversResetCommand() *cobra.Command {
	r := resetting("server", "reset "+serverForms, serverIDs, (*api.Client).ResetServer)
	r.object, r.backend = a.serverArgument, true
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
		Short:             "End the drain of a server",
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
