package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

func (a *app) configCommand() *cobra.Command {
	return cmdline.Menu("config", "Show, validate and change the configuration of nodes", "", a.configShowCommand(),
		cmdline.Changing(a.configSetCommand()), cmdline.Destroying(a.configResetCommand()),
		cmdline.Reading(a.configValidateCommand()),
		cmdline.Changing(a.configReloadCommand()),
		a.configOverlaysCommand())
}

func (a *app) configReloadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Reload the configuration on every node",
		Long: "reload makes every node read its own configuration file. A node with an invalid file keeps its\n" +
			"current configuration, and the command fails. Check each file before: gslb-overwatch --validate on\n" +
			"its node, or gslbctl config validate and gslbctl plan --config with the file.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.ChangeEach(cmd.Context(), func(ctx context.Context, c *api.Client) (string, error) {
				done, err := c.Reload(ctx)
				return reloadSentence(done), err
			})
		},
	}
}

func reloadSentence(done api.Reload) string {
	sentence := "reloaded: nothing has changed"
	if len(done.Changes) > 0 {
		sentence = "reloaded: " + strings.Join(done.Changes, ", ")
	}
	if len(done.RestartRequired) > 0 {
		sentence += "; only a restart changes " + strings.Join(done.RestartRequired, ", ")
	}
	return sentence
}

func (a *app) gossipCommand() *cobra.Command {
	return cmdline.Menu("gossip", "List the members of the gossip cluster", "", a.gossipNodesCommand(),
		a.gossipConfigCommand(),
		cmdline.Reading(a.gossipKeyCommand()))
}

func (a *app) gossipConfigCommand() *cobra.Command {
	return a.Watchable(&cobra.Command{
		Use:   "config",
		Short: "Show the gossip settings of a node",
		RunE: func(cmd *cobra.Command, _ []string) error {
			shown, err := fleet.First(cmd.Context(), a.Fleet, fleet.Call((*api.Client).GossipSettings))
			if err != nil {
				return err
			}
			g := shown.Config
			t := &render.Table{Columns: []render.Column{{Name: "CLUSTER"}, {Name: "LISTENS ON"}, {Name: "ENCRYPTED"},
				{Name: "GOSSIP"},
				{Name: "PROBE"}, {Name: "PROBE TIMEOUT"}, {Name: "SEEDS"}}}
			t.Add(orNone(g.ClusterName), render.C(endpoint(g.BindAddress, g.BindPort)),
				render.C(render.YesNo(g.EncryptionEnabled)),
				render.C(fmt.Sprint(g.GossipIntervalMS, " ms")),
				render.C(fmt.Sprint(g.ProbeIntervalMS, " ms")), render.C(fmt.Sprint(g.ProbeTimeoutMS, " ms")),
				orNone(strings.Join(g.Seeds, " ")))
			return a.Print(shown, a.Table(t))
		},
	})
}

func (a *app) gossipKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "generate-key",
		Short: "Generate a gossip encryption key",
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := fleet.First(cmd.Context(), a.Fleet, fleet.Call((*api.Client).GenerateGossipKey))
			if err != nil {
				return err
			}
			return a.Print(key, func() string { return key.Key + "\n" })
		},
	}
}
