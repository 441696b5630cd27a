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

// app is an invocation of gslbctl. Its methods make the commands.
type app struct{ *cmdline.App }

func newApp(sys cmdline.System) *app { return &app{cmdline.NewApp(sys)} }

// Run executes one command line and returns the exit code.
func Run(ctx context.Context, sys cmdline.System, args []string) int {
	a := newApp(sys)
	root := a.rootCommand()
	cmdline.AddCompletion(root)
	rejectedHelp := cmdline.RejectUnknownHelp(root)
	root.SetArgs(args)
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		cmdline.PlainUsage(root)
	}
	cmd, err := root.ExecuteContextC(api.WithChange(ctx, api.NewChangeID())) // a command is a single change
	if err == nil {
		err = rejectedHelp()
	}
	code, sentence := fleet.Explain(err)
	if sentence != "" {
		sentence += cmdline.Suggestion(cmd, err)
		fmt.Fprintln(sys.Err, "gslbctl: "+render.Printable(sentence))
	}
	return code
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "gslbctl",
		Short: "Manage gslb overwatch nodes",
		Long: "gslbctl shows and changes overwatch nodes over their HTTP API.\n\n" +
			"The nodes are from --api, from --context, from " + fleet.EnvNodes + " (separated by commas) or " +
			fleet.EnvContext +
			",\nor from the current context. The default is " + api.DefaultAddress + ".\n" +
			"With several nodes, gslbctl first asks them whether they replicate changes to each other. If they do,\n" +
			"one node makes a change and sends it to the others; if not, gslbctl makes the change on every node.\n" +
			"The output names the nodes that have the change.\n" +
			"status, diff, why without a client, health, metrics, audit, routing flows and routing decisions ask all\n" +
			"nodes; other commands that read ask the first node that answers.\n\n" +
			"Most lists of commands have list, show, add, set and remove. The usual other verbs also work, such as\n" +
			"create, update and delete.\n\n" +
			fleet.ExitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.Build.Version,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			oldNames().Warn(cmd)
			return a.CheckFlags(cmd)
		},
	}
	cmdline.Reading(root)
	root.SetVersionTemplate("gslbctl {{.Version}}\n")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	flags := root.PersistentFlags()
	flags.StringArrayVar(&a.API, "api", nil, "API address of a node, as `host:port` or URL; repeat it for more nodes")
	flags.StringArrayVar(&a.DNS, "dns", nil,
		"DNS address of a node, as `host:port`; repeat the flag in the order of --api (default port 53 of the "+
			"API's host)")
	flags.StringVar(&a.Context, "context", "", "`context` to use; gslbctl context list shows the contexts")
	flags.StringVarP(&a.Output, "output", "o", cmdline.Table, "output `format`: "+strings.Join(cmdline.Formats(), ", "))
	cmdline.SpanVar(flags, &a.Timeout, "timeout", api.DefaultClientTimeout, "maximum time of a request")
	flags.BoolVar(&a.AllNodes, "all-nodes", false, "fail if a replicated change is not on "+
		"all nodes")
	cmdline.Offer(root, "output", cmdline.Formats())
	_ = root.RegisterFlagCompletionFunc("api", cobra.NoFileCompletions)
	_ = root.RegisterFlagCompletionFunc("dns", cobra.NoFileCompletions)
	_ = root.RegisterFlagCompletionFunc("context", a.CompleteContext)
	root.AddCommand(
		a.statusCommand(),
		cmdline.Changing(a.topCommand("top")),
		a.diffCommand(),
		cmdline.Reading(a.exportCommand()),
		cmdline.Reading(a.planCommand()),
		cmdline.Changing(a.applyCommand()),
		a.healthCommand(),
		cmdline.Changing(a.drainCommand()),
		cmdline.Changing(a.undrainCommand()),
		a.domainsCommand(),
		a.serversCommand(),
		a.backendsCommand(),
		a.overridesCommand(),
		cmdline.Changing(a.weightCommand()),
		a.ordersCommand(),
		cmdline.Changing(a.undoCommand()),
		cmdline.Changing(a.failbackCommand()),
		a.brakesCommand(),
		a.regionsCommand(),
		a.agentsCommand(),
		a.nodesCommand(),
		a.metricsCommand(),
		a.auditCommand(),
		cmdline.Reading(a.eventsCommand()),
		a.notificationsCommand(),
		a.dnssecCommand(),
		a.geoCommand(),
		a.recordsCommand(),
		a.configCommand(),
		a.contextCommand(),
		a.gossipCommand(),
		a.preferencesCommand(),
		a.importCommand(),
		cmdline.Changing(a.externalDNSCommand()),
		cmdline.Changing(a.initCommand()),
		a.keygenCommand(),
		a.tokensCommand(),
		a.routingCommand(),
		cmdline.Reading(a.whyCommand()),
		cmdline.Reading(a.manCommand()),
		a.versionCommand(),
		cmdline.Changing(a.topCommand("watch")),
	)
	oldNames().Hide(root)
	cmdline.AddVerbAliases(root)
	addExamples(root, examples())
	addWaitForPeers(a.App, root)
	cmdline.ExplainMisuse(root)
	return root
}
