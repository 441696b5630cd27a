package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// domainFlags are the flags for the settings of a domain. Only given ones are sent.
type domainFlags struct {
	ttl         int
	policy      string
	fallback    string
	minHealthy  string
	tolerance   float64
	ipv4Prefix  int
	ipv6Prefix  int
	description string
	enabled     bool
	signed      bool
	regions     []string
	tags        []string
	srv         []string
	answer      string
	https       httpsFlags
}

func (f *domainFlags) add(cmd *cobra.Command, a *app) {
	cmd.Flags().IntVar(&f.ttl, "ttl", 0, "how many seconds resolvers keep an answer (default the node's)")
	cmd.Flags().StringVar(&f.policy, "policy", "", "how addresses are chosen: see gslbctl routing algorithms")
	cmd.Flags().StringVar(&f.fallback, "fallback", "", "how, where --policy lacks data; empty for none")
	cmd.Flags().StringVar(&f.minHealthy, "min-healthy", "",
		"with fewer backends fit to serve, go to the last resort: a number or a part as in 50%; empty for none")
	cmd.Flags().Float64Var(&f.tolerance, "proximity-tolerance", 0,
		"with proximity: how many kilometres farther than the nearest a region may be and still share (default 100)")
	cmd.Flags().IntVar(&f.ipv4Prefix, "client-ipv4-prefix", 0,
		"with client-hash: bits of an IPv4 address that make a client's network (default 24)")
	cmd.Flags().IntVar(&f.ipv6Prefix, "client-ipv6-prefix", 0,
		"with client-hash: bits of an IPv6 address that make a client's network (default 56)")
	cmd.Flags().StringVar(&f.description, "description", "", "what it is, for people")
	cmd.Flags().BoolVar(&f.enabled, "enabled", true, "whether it is answered")
	cmd.Flags().BoolVar(&f.signed, "signed", true, "false: not signed, where its zone has nothing that is")
	cmd.Flags().StringSliceVar(&f.regions, "regions", nil, "its regions in order of preference, separated by commas")
	cmd.Flags().StringSliceVar(&f.tags, "tags", nil, "words to find it by, separated by commas; empty for none")
	cmd.Flags().StringSliceVar(&f.srv, "srv", nil,
		"`services` with SRV records, such as _sip._tcp, separated by commas; empty for none")
	cmd.Flags().StringVar(&f.answer, "answer", "",
		"address, or cname to answer with the host names of its servers (default address)")
	f.https.add(cmd, a)
	_ = cmd.RegisterFlagCompletionFunc("answer",
		cobra.FixedCompletions([]string{"address", "cname"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("policy", a.completion(policyNames))
	_ = cmd.RegisterFlagCompletionFunc("fallback", a.completion(policyNames))
	_ = cmd.RegisterFlagCompletionFunc("regions", a.severalOf(allRegionNames))
	_ = cmd.RegisterFlagCompletionFunc("tags", a.severalOf(tagNames))
}

func (f *domainFlags) request(cmd *cobra.Command) api.DomainChange {
	return api.DomainChange{
		TTL: given(cmd, "ttl", &f.ttl), RoutingPolicy: given(cmd, "policy", &f.policy),
		FallbackAlgorithm:    given(cmd, "fallback", &f.fallback),
		MinHealthy:           given(cmd, "min-healthy", &f.minHealthy),
		ProximityToleranceKm: given(cmd, "proximity-tolerance", &f.tolerance),
		ClientHashIPv4Prefix: given(cmd, "client-ipv4-prefix", &f.ipv4Prefix),
		ClientHashIPv6Prefix: given(cmd, "client-ipv6-prefix", &f.ipv6Prefix),
		Description:          given(cmd, "description", &f.description), Enabled: given(cmd, "enabled", &f.enabled),
		DNSSECEnabled: given(cmd, "signed", &f.signed),
		Regions:       given(cmd, "regions", &f.regions), Tags: given(cmd, "tags", &f.tags),
		SRV: given(cmd, "srv", &f.srv), Answer: given(cmd, "answer", &f.answer),
	}
}

// given returns the value of a flag, nil if the flag was not given.
func given[T any](cmd *cobra.Command, flag string, value *T) *T {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return value
}

func (a *app) domainsAddCommand() *cobra.Command {
	var f domainFlags
	var wildcard, newZone bool
	cmd := &cobra.Command{
		Use:   "add <name>",
		Short: "Have every node answer a name; DNS has it when this returns",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := f.request(cmd)
			req.Name = args[0]
			err := f.https.check(cmd)
			if err != nil {
				return err
			}
			if req.HTTPS, err = f.https.over(cmd, nil); err != nil {
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
	f.add(cmd, a)
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
		return unchanged(err)
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
	var f domainFlags
	cmd := &cobra.Command{
		Use:               "set <name>",
		Short:             "Change a domain; what the configuration says of it stays below",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.firstArgument(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().NFlag() == 0 {
				return errors.New(
					"nothing to change: give --ttl, --policy, --fallback, --min-healthy, --proximity-tolerance, " +
						"--client-ipv4-prefix, --client-ipv6-prefix, --https-alpn, --https-port, --https-ech, --srv, --answer, " +
						"--description, " +
						"--enabled, --signed, --regions or --tags")
			}
			if err := f.https.check(cmd); err != nil {
				return err
			}
			return a.share(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				req := f.request(cmd)
				if f.https.given(cmd) {
					before, err := c.Domain(ctx, args[0])
					if err != nil {
						return "", err
					}
					if req.HTTPS, err = f.https.over(cmd, before.Domain.HTTPS); err != nil {
						return "", err
					}
				}
				now, err := c.ChangeDomain(ctx, args[0], req)
				return changedObject("domain "+args[0], now.Domain.Overlay), err
			})
		},
	}
	f.add(cmd, a)
	return cmd
}

func (a *app) domainsRemoveCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "remove <name>",
		Short:             "Delete a domain that was added with add",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.firstArgument(domainNames),
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
