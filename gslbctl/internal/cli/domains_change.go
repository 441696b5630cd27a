package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// domainFlags adds the flags for the settings of a domain but for its HTTPS records. Only given ones are in req.
func (a *app) domainFlags(cmd *cobra.Command, req *api.DomainChange) {
	flags := cmd.Flags()
	optional(cmd, flags.IntVar, &req.TTL, "ttl", 0, "how many seconds resolvers keep an answer (default the node's)")
	optional(cmd, flags.StringVar, &req.RoutingPolicy, "policy", "",
		"how addresses are chosen: see gslbctl routing algorithms")
	optional(cmd, flags.StringVar, &req.FallbackAlgorithm, "fallback", "",
		"how, where --policy lacks data; empty for none")
	optional(cmd, flags.StringVar, &req.MinHealthy, "min-healthy", "",
		"with fewer backends fit to serve, go to the last resort: a number or a part as in 50%; empty for none")
	optional(cmd, flags.Float64Var, &req.ProximityToleranceKm, "proximity-tolerance", 0,
		"with proximity: how many kilometres farther than the nearest a region may be and still share (default 100)")
	optional(cmd, flags.IntVar, &req.ClientHashIPv4Prefix, "client-ipv4-prefix", 0,
		"with client-hash: bits of an IPv4 address that make a client's network (default 24)")
	optional(cmd, flags.IntVar, &req.ClientHashIPv6Prefix, "client-ipv6-prefix", 0,
		"with client-hash: bits of an IPv6 address that make a client's network (default 56)")
	optional(cmd, flags.StringVar, &req.Description, "description", "", "what it is, for people")
	optional(cmd, flags.BoolVar, &req.Enabled, "enabled", true, "whether it is answered")
	optional(cmd, flags.BoolVar, &req.DNSSECEnabled, "signed", true,
		"false: not signed, where its zone has nothing that is")
	optional(cmd, flags.StringSliceVar, &req.Regions, "regions", nil,
		"its regions in order of preference, separated by commas")
	optional(cmd, flags.StringSliceVar, &req.Tags, "tags", nil,
		"words to find it by, separated by commas; empty for none")
	optional(cmd, flags.StringSliceVar, &req.SRV, "srv", nil,
		"`services` with SRV records, such as _sip._tcp, separated by commas; empty for none")
	optional(cmd, flags.StringVar, &req.Answer, "answer", "",
		"address, or cname to answer with the host names of its servers (default address)")
	offer(cmd, "answer", []string{"address", "cname"})
	_ = cmd.RegisterFlagCompletionFunc("policy", a.completion(policyNames))
	_ = cmd.RegisterFlagCompletionFunc("fallback", a.completion(policyNames))
	_ = cmd.RegisterFlagCompletionFunc("regions", a.severalOf(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("tags", a.severalOf(tagNames))
}

func (a *app) domainsAddCommand() *cobra.Command {
	var req api.DomainChange
	var https httpsFlags
	var wildcard, newZone bool
	cmd := &cobra.Command{
		Use:   "add <name>",
		Short: "Have every node answer a name; DNS has it when this returns",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Name = args[0]
			err := https.check()
			if err != nil {
				return err
			}
			if req.HTTPS, err = https.over(nil); err != nil {
				return err
			}
			if err := checkWildcard(req.Name, wildcard); err != nil {
				return err
			}
			if err := a.checkZone(cmd.Context(), req.Name, newZone); err != nil {
				return err
			}
			return a.share(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				made, err := c.CreateDomain(ctx, req)
				return "domain " + made.Domain.Name + " is answered", err
			})
		},
	}
	a.domainFlags(cmd, &req)
	https.add(cmd, a)
	cmd.Flags().BoolVar(&wildcard, "wildcard", false,
		"the name begins with *. and answers for every name below that has none of its own")
	cmd.Flags().BoolVar(&newZone, "new-zone", false,
		"the name is outside every configured zone, and becomes a zone of its own, with its own delegation and keys")
	return cmd
}

// checkWildcard returns an error for a wildcard without --wildcard, which a shell may have made, and for --wildcard
// with another name.
func checkWildcard(name string, asked bool) error {
	switch is := strings.HasPrefix(name, "*."); {
	case is && !asked:
		return fmt.Errorf("%s answers for every name below %s that has none of its own: give --wildcard if that is meant",
			name, name[2:])
	case asked && !is:
		return fmt.Errorf("--wildcard is for a name that begins with *., and %q does not", name)
	}
	return nil
}

// checkZone returns an error for a name outside every configured zone without --new-zone. Such a name becomes a zone of
// its own, which no resolver finds until the zone above delegates it.
func (a *app) checkZone(ctx context.Context, name string, asked bool) error {
	if asked {
		return nil
	}
	zones, err := read(ctx, a, zoneNames)
	if err != nil {
		return untouched(err)
	}
	plain := strings.ToLower(strings.TrimSuffix(name, "."))
	for _, zone := range zones {
		zone = strings.ToLower(strings.TrimSuffix(zone, "."))
		if zone == "" || plain == zone || strings.HasSuffix(plain, "."+zone) {
			return nil
		}
	}
	there := "none is configured"
	if len(zones) > 0 {
		there = "configured: " + strings.Join(zones, ", ")
	}
	return fmt.Errorf("%q is outside every zone of the nodes (%s), and would become a zone of its own that needs its own "+
		"delegation: write the whole name, or give --new-zone if that is meant; "+nothingChanged, name, there)
}

func (a *app) domainsSetCommand() *cobra.Command {
	var req api.DomainChange
	var https httpsFlags
	cmd := &cobra.Command{
		Use:               "set <name>",
		Short:             "Change a domain; what the configuration says of it stays below",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.arguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().NFlag() == 0 {
				return errors.New(
					"nothing to change: give --ttl, --policy, --fallback, --min-healthy, --proximity-tolerance, " +
						"--client-ipv4-prefix, --client-ipv6-prefix, --https-alpn, --https-port, --https-ech, --srv, --answer, " +
						"--description, " +
						"--enabled, --signed, --regions or --tags")
			}
			if err := https.check(); err != nil {
				return err
			}
			return a.share(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				req := req // of this node
				if https != (httpsFlags{}) {
					before, err := c.Domain(ctx, args[0])
					if err != nil {
						return "", err
					}
					if req.HTTPS, err = https.over(before.Domain.HTTPS); err != nil {
						return "", err
					}
				}
				now, err := c.ChangeDomain(ctx, args[0], req)
				return changedObject("domain "+args[0], now.Domain.Overlay), err
			})
		},
	}
	a.domainFlags(cmd, &req)
	https.add(cmd, a)
	return cmd
}

func (a *app) domainsRemoveCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "remove <name>",
		Short:             "Delete a domain that was added with add",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.arguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			tags, err := a.entityTags(cmd.Context(), yes, func(ctx context.Context, c *api.Client) error {
				_, err := c.Domain(ctx, args[0])
				return err
			})
			if err != nil {
				return err
			}
			if err := a.confirm(cmd.Context(), yes, "after removing "+args[0]+" nobody can look it up any more"); err != nil {
				return err
			}
			return a.share(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				return "domain " + args[0] + " is removed", c.DeleteDomain(api.OnlyIf(ctx, tags[c.Node()]), args[0])
			})
		},
	}
	yesFlag(cmd, &yes)
	return cmd
}
