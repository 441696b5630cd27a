package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/manifest"
	"gslb.internal/shared/api"
)

// section is a group of a node's settings.
type section struct {
	show   fleet.Request[any]
	change func(context.Context, *api.Client, []byte) (any, error) // nil: read-only
	keys   []string                                                // changeable keys
}

// sectionOf returns a section. get reads its settings and send changes them.
func sectionOf[T, A, B any](get func(*api.Client, context.Context) (A, error),
	send func(*api.Client, context.Context, T) (B, error)) section {
	change := func(ctx context.Context, c *api.Client, body []byte) (any, error) {
		var change T
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&change); err != nil {
			return nil, err
		}
		return send(c, ctx, change)
	}
	return section{shower(get), change, manifest.KeysOf(reflect.TypeFor[T]())}
}

// shower returns the show function of a section.
func shower[A any](get func(*api.Client, context.Context) (A, error)) fleet.Request[any] {
	return func(ctx context.Context, c *api.Client) (any, error) { return get(c, ctx) }
}

// configSections returns the sections of the configuration in the API.
func configSections() map[string]section {
	return map[string]section{
		"dns":          sectionOf((*api.Client).DNSConfig, (*api.Client).ChangeDNSConfig),
		"health-check": sectionOf((*api.Client).HealthCheckConfig, (*api.Client).ChangeHealthCheckConfig),
		"logging":      sectionOf((*api.Client).LoggingConfig, (*api.Client).ChangeLoggingConfig),
		"gossip":       sectionOf((*api.Client).GossipSettings, (*api.Client).ChangeGossipSettings),
		"system":       {show: shower((*api.Client).SystemConfig)},
	}
}

// changeableSections returns the names of the sections that operators can change and reset.
func changeableSections() (names []string) {
	for name, s := range configSections() {
		if s.change != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (a *app) configShowCommand() *cobra.Command {
	sections := configSections()
	names := slices.Sorted(maps.Keys(sections))
	return a.Watchable(&cobra.Command{
		Use:       "show <section>",
		Short:     "Show a section of the configuration: " + strings.Join(names, ", "),
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, known := sections[args[0]]
			if !known {
				return fmt.Errorf("there is no section %q: it must be one of %s", args[0], strings.Join(names, ", "))
			}
			return a.showSection(cmd.Context(), args[0], s)
		},
	})
}

func (a *app) showSection(ctx context.Context, name string, s section) error {
	answer, err := fleet.First(ctx, a.Fleet, s.show)
	if err != nil {
		return err
	}
	t, err := settingsTable(name, answer)
	if err != nil {
		return err
	}
	return a.Print(answer, a.Table(t))
}

func (a *app) configSetCommand() *cobra.Command {
	sections, names := configSections(), changeableSections()
	return &cobra.Command{
		Use:   "set <section> <key>=<value> ...",
		Short: "Change configuration settings at runtime: " + strings.Join(names, ", "),
		Long: "set changes settings on every node. The values override the configuration file until gslbctl config\n" +
			"reset removes them. gslbctl config show lists the keys. Values are in YAML syntax.",
		Example: "  gslbctl config set dns default_ttl=60\n  gslbctl config set logging level=debug",
		Args:    cobra.MinimumNArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return names, cobra.ShellCompDirectiveNoFileComp
			}
			var offered []string
			for _, key := range sections[args[0]].keys {
				offered = append(offered, key+"=")
			}
			return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s := sections[args[0]]
			if s.change == nil {
				return fmt.Errorf("there is no section %q to change: it must be one of %s", args[0], strings.Join(names,
					", "))
			}
			return a.changeSection(cmd.Context(), args[0], s, args[1:])
		},
	}
}

func (a *app) changeSection(ctx context.Context, name string, s section, words []string) error {
	body, err := assignments(words, s.keys)
	if err != nil {
		return err
	}
	return a.sectionChange(name)(ctx, func(ctx context.Context, c *api.Client) (string, error) {
		answer, err := s.change(ctx, c, body)
		if err != nil {
			return "", settingError(err, words)
		}
		sentence := name + " is changed: " + strings.Join(words, ", ")
		if waits := restartWaits(answer); len(waits) > 0 {
			sentence += "; only a restart changes " + strings.Join(waits, ", ")
		}
		return sentence, nil
	})
}

// sectionChange returns a.Change for a section that nodes replicate, or else a.ChangeEach, which accepts no
// --wait-for-peers.
func (a *app) sectionChange(name string) func(context.Context, fleet.Change) error {
	if name == "dns" || name == "health-check" {
		return a.Change
	}
	if a.PeerWait > 0 {
		return func(context.Context, fleet.Change) error {
			return fmt.Errorf("--wait-for-peers: nodes do not replicate %s: omit the flag, and name every node with --api",
				name)
		}
	}
	return a.ChangeEach
}

func (a *app) configResetCommand() *cobra.Command {
	var yes bool
	names := changeableSections()
	cmd := &cobra.Command{
		Use:       "reset <section>",
		Short:     "Reset a section to the values of the configuration file: " + strings.Join(names, ", "),
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(names, args[0]) {
				return fmt.Errorf("there is no section %q to reset: it must be one of %s", args[0], strings.Join(names,
					", "))
			}
			if err := a.Confirm(cmd.Context(), yes,
				"resetting "+args[0]+" removes all settings of the section that the API changed"); err != nil {
				return err
			}
			return a.sectionChange(args[0])(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				return args[0] + " has the settings of the file", c.ResetConfig(ctx, args[0])
			})
		},
	}
	cmdline.YesFlag(cmd, &yes)
	return cmd
}

func (a *app) preferencesCommand() *cobra.Command {
	s := sectionOf((*api.Client).Preferences, (*api.Client).ChangePreferences)
	show := a.Watchable(&cobra.Command{
		Use:   "show",
		Short: "Show the preferences of the console",
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.showSection(cmd.Context(), "preference", s) },
	})
	set := &cobra.Command{
		Use:     "set <key>=<value> ...",
		Short:   "Change the preferences of the console",
		Example: "  gslbctl preferences set theme=dark timezone=Europe/Berlin",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeSection(cmd.Context(), "preferences", s, args)
		},
	}
	return cmdline.Group("preferences", "Show and change the preferences of the console", show, cmdline.Changing(set))
}
