package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/externaldns"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

func (a *app) externalDNSCommand() *cobra.Command {
	var p externaldns.Provider
	var listen, health string
	cmd := &cobra.Command{
		Use:   "external-dns",
		Short: "Run a webhook provider for ExternalDNS",
		Long: "external-dns is a webhook provider for ExternalDNS (protocol version 1). It runs until it is\n" +
			"stopped. The addresses of a cluster's Services, Ingresses and Gateways become servers\n" +
			"with the owner of --owner. Each cluster has its own owner, and a name answers with the servers of\n" +
			"all clusters.",
		Example: "  gslbctl external-dns --owner eu-1 --region eu --api ns1.example.net:8080",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.Owner == "" || len(p.Owner) > api.MaxOwner {
				return fmt.Errorf("--owner is %.80q: it must be a name of this cluster, with at most %d characters, "+
					"such as eu-1",
					p.Owner, api.MaxOwner)
			}
			if p.Port < 1 || p.Port > 65535 {
				return fmt.Errorf("--port is %d: it must be from 1 to 65535", p.Port)
			}
			if _, err := a.Clients(); err != nil {
				return err
			}
			p.Node, p.Log = a.oneNode, slog.New(a.logHandler())
			return serveExternalDNS(api.WithChange(cmd.Context(), ""), &p, listen, health)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.Owner, "owner", "", "unique `name` of this cluster, the owner of its servers")
	flags.StringVar(&p.Region, "region", "", "the `region` of servers without the annotation webhook-gslb-region")
	flags.IntVar(&p.Port, "port", 443, "the port of servers without the annotation webhook-gslb-port")
	flags.BoolVar(&p.Force, "force", false, "allow changes of more than 30 % of the objects of the owner")
	flags.StringVar(&listen, "listen", "127.0.0.1:8888", "`address:port` of the webhook for ExternalDNS")
	flags.StringSliceVar(&p.Hosts, "allowed-host", nil, "additional host `name` that the webhook accepts")
	flags.StringVar(&health, "health-listen", "0.0.0.0:8080", "`address:port` of /healthz")
	_ = cmd.RegisterFlagCompletionFunc("region", a.Complete(allRegionNames))
	return cmd
}

func serveExternalDNS(ctx context.Context, p *externaldns.Provider, listen, health string) error {
	var config net.ListenConfig
	provider, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	alive, err := config.Listen(ctx, "tcp", health)
	if err != nil {
		return errors.Join(fmt.Errorf("--health-listen: %w", err), provider.Close())
	}
	p.Log.Info("serving", "listen", provider.Addr().String(), "health", alive.Addr().String(), "owner", p.Owner)
	return p.Serve(ctx, provider, alive)
}

// logHandler returns the handler of a log on standard error: text on a terminal, else JSON.
func (a *app) logHandler() slog.Handler {
	if a.Tells {
		return slog.NewTextHandler(a.Err, nil)
	}
	return slog.NewJSONHandler(a.Err, nil)
}

// oneNode returns a node that replicates changes to all nodes.
func (a *app) oneNode(ctx context.Context) (*api.Client, error) {
	clients, err := a.Clients()
	if err != nil {
		return nil, err
	}
	if len(clients) == 1 {
		return clients[0], nil
	}
	if via := fleet.Replicator(ctx, clients); via != nil {
		return via, nil
	}
	return nil, errors.New("no node carries changes to all of the others: none of them answers, or they do not " +
		"replicate; then run one gslbctl external-dns for each node")
}
