package cli

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func (a *app) domainsAddCommand() *cobra.Command {
	var flags *settingFlags
	var https httpsFlags
	var wildcard, newZone bool
	cmd := &cobra.Command{
		Use:     "add <name>",
		Short:   "Add a domain",
		Example: "  gslbctl domains add shop.example.com --routing-algorithm weighted --regions eu,us",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := newDomain(args[0], flags, &https)
			if err != nil {
				return err
			}
			if err := checkWildcard(args[0], wildcard); err != nil {
				return err
			}
			if err := a.checkZone(cmd.Context(), args[0], newZone); err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				made, err := c.CreateDomain(ctx, req)
				return "domain " + made.Domain.Name + " is answered", err
			})
		},
	}
	flags = a.domainFlags(cmd)
	https.add(cmd, a)
	cmd.Flags().BoolVar(&wildcard, "wildcard", false,
		"the name begins with *. and matches all names below it that have no own domain")
	cmd.Flags().BoolVar(&newZone, "new-zone", false,
		"create a separate zone, with its own delegation and keys, for a name outside the configured zones")
	return cmd
}

// newDomain returns the request for a new domain.
func newDomain(name string, flags *settingFlags, https *httpsFlags) (api.DomainChange, error) {
	if err := https.check(); err != nil {
		return nil, err
	}
	req, err := flags.patch()
	if err != nil {
		return nil, err
	}
	req["name"] = name
	return req, https.addTo(req, model.HTTPS{})
}

// checkWildcard returns an error for a wildcard without --wildcard, because the shell may have expanded a pattern, and
// for --wildcard with another name.
func checkWildcard(name string, asked bool) error {
	switch is := strings.HasPrefix(name, "*."); {
	case is && !asked:
		return fmt.Errorf("%s covers all names below %s without their own domain: add --wildcard to confirm",
			name, name[2:])
	case asked && !is:
		return fmt.Errorf("--wildcard is for a name that begins with *., and %q does not", name)
	}
	return nil
}

// checkZone returns an error for a name outside every configured zone without --new-zone. Such a name becomes a
// separate zone, and resolvers find it only after the parent zone delegates it.
func (a *app) checkZone(ctx context.Context, name string, asked bool) error {
	if asked {
		return nil
	}
	zones, err := fleet.First(ctx, a.Fleet, zoneNames)
	if err != nil {
		return fleet.Untouched(err)
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
	return fmt.Errorf("%q is outside every zone of the nodes (%s), and would become a separate zone with its own "+
		"delegation: give the full name, or add --new-zone to confirm; "+fleet.NothingChanged, name, there)
}

func (a *app) domainsSetCommand() *cobra.Command {
	var flags *settingFlags
	var https httpsFlags
	cmd := &cobra.Command{
		Use:               "set <name>",
		Short:             "Change a domain",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.given() && https == (httpsFlags{}) {
				return flags.errNoSetting("https-alpn", "https-port", "https-ech")
			}
			if err := https.check(); err != nil {
				return err
			}
			patch, err := flags.patch()
			if err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				req := maps.Clone(patch) // for this node
				if https != (httpsFlags{}) {
					before, err := c.Domain(ctx, args[0])
					if err != nil {
						return "", err
					}
					if err := https.addTo(req, before.Domain.HTTPS); err != nil {
						return "", err
					}
				}
				now, err := c.ChangeDomain(ctx, args[0], req)
				return changedObject("domain "+args[0], now.Domain.Overlay), err
			})
		},
	}
	flags = a.domainFlags(cmd)
	https.add(cmd, a)
	return cmd
}

func (a *app) domainsRemoveCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "remove <name>",
		Short:             "Delete a domain that was created with the API",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteArguments(domainNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			tags, err := a.entityTags(cmd.Context(), yes, func(ctx context.Context, c *api.Client) error {
				_, err := c.Domain(ctx, args[0])
				return err
			})
			if err != nil {
				return err
			}
			if err := a.Confirm(cmd.Context(), yes, "removing "+args[0]+" ends all answers for this name"); err != nil {
				return err
			}
			return a.Change(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				return "domain " + args[0] + " is removed", c.DeleteDomain(api.OnlyIf(ctx, tags[c.Node()]), args[0])
			})
		},
	}
	cmdline.YesFlag(cmd, &yes)
	return cmd
}

// entityTags returns the entity tags of an object on each node, as fleet.EntityTags does. It returns nil if the command
// requires no confirmation.
func (a *app) entityTags(ctx context.Context, yes bool,
	read func(context.Context, *api.Client) error) (map[string]string, error) {
	if yes || !a.Asks {
		return nil, nil
	}
	return a.EntityTags(ctx, read)
}
