package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
)

// System is the environment of a command: streams, terminal, clock and variables.
type System struct {
	In       io.Reader
	Out      io.Writer
	Err      io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Build    buildinfo.Info
	Terminal bool // Out is a terminal that understands colours
	Asks     bool // In is a terminal, so a question can be answered
	Tells    bool // Err is a terminal, so progress can be shown
	// Secret asks a person for a line that is not shown while it is typed; nil where there is no terminal to ask on.
	Secret func(ctx context.Context, question string) (string, error)
	// Width returns the columns of Out if it is a terminal, 0 if they are unknown. A nil Width is
	// always unknown.
	Width func() int
	// ShowLive shows a view on the whole terminal, as screen.Show does; nil
	// without a terminal.
	ShowLive func(context.Context, screen.Live) error
}

// app is one invocation: the system and the flags that all commands share.
type app struct {
	System
	nodes    []string
	dns      []string
	context  string
	output   string
	timeout  time.Duration
	allNodes bool   // a change must be on all nodes
	node     string // the one of the nodes that --node chooses; "" for all
	quiet    bool   // print only the requested output: no progress, no line about columns
}

// Run executes one command line and returns the exit code.
func Run(ctx context.Context, sys System, args []string) int {
	a := &app{System: sys}
	root := a.rootCommand()
	addCompletion(root)
	root.SetArgs(args)
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		plainUsage(root)
	}
	cmd, err := root.ExecuteContextC(api.WithChange(ctx, api.NewChangeID())) // one command is one change
	code, sentence := explain(err)
	if sentence != "" {
		sentence += suggestion(cmd, err)
		fmt.Fprintln(sys.Err, "gslbctl: "+render.Printable(sentence))
	}
	return code
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "gslbctl",
		Short: "Look after gslb overwatch nodes",
		Long: "gslbctl asks overwatch nodes how they are and changes what they believe, over their HTTP API.\n\n" +
			"Nodes are named with --api, with --context, in " + environmentNodes + " (separated by commas) or " +
			environmentContext +
			",\nor by the context in use; without any of these, " + api.DefaultAddress + ".\n" +
			"With several nodes, a change goes to all of them, or to one that carries it to the others.\n" +
			"Of health, metrics, audit, routing flows and decisions all are asked and their answers joined; --node asks one.\n" +
			"Other questions go to the first that answers.\n\n" +
			exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.Build.Version,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.warnOldName(cmd)
			return a.checkFlags(cmd)
		},
	}
	reading(root)
	root.SetVersionTemplate("gslbctl {{.Version}}\n")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	flags := root.PersistentFlags()
	flags.StringArrayVar(&a.nodes, "api", nil, "node to ask, as `host:port` or URL; repeat it for several")
	flags.StringArrayVar(&a.dns, "dns", nil,
		"where a node answers DNS, as `host:port`; repeat it in the order of the nodes (default port 53 of the API's host)")
	flags.StringVar(&a.context, "context", "", "the `context` to use, as gslbctl context list has them")
	flags.StringVarP(&a.output, "output", "o", outputTable, "output `format`: "+strings.Join(outputs(), ", "))
	spanVar(flags, &a.timeout, "timeout", api.DefaultClientTimeout, "longest time that one request may take")
	flags.BoolVar(&a.allNodes, "all-nodes", false, "fail where a change that nodes carry to one another is not on all of "+
		"them")
	offer(root, "output", outputs())
	_ = root.RegisterFlagCompletionFunc("api", cobra.NoFileCompletions)
	_ = root.RegisterFlagCompletionFunc("dns", cobra.NoFileCompletions)
	_ = root.RegisterFlagCompletionFunc("context", a.contextArgument)
	root.AddCommand(
		a.statusCommand(),
		reading(a.watchCommand()),
		a.diffCommand(),
		reading(a.exportCommand()),
		reading(a.planCommand()),
		changing(a.applyCommand()),
		a.healthCommand(),
		changing(a.drainCommand()),
		changing(a.undrainCommand()),
		a.domainsCommand(),
		a.serversCommand(),
		a.backendsCommand(),
		a.overridesCommand(),
		changing(a.weightCommand()),
		a.ordersCommand(),
		changing(a.undoCommand()),
		a.brakesCommand(),
		a.regionsCommand(),
		a.agentsCommand(),
		a.nodesCommand(),
		a.metricsCommand(),
		a.auditCommand(),
		reading(a.eventsCommand()),
		a.notificationsCommand(),
		a.dnssecCommand(),
		a.geoCommand(),
		a.configCommand(),
		a.contextCommand(),
		a.gossipCommand(),
		a.preferencesCommand(),
		a.importCommand(),
		changing(a.externalDNSCommand()),
		changing(a.initCommand()),
		a.keygenCommand(),
		a.routingCommand(),
		reading(a.manCommand()),
		a.versionCommand(),
	)
	hideOldNames(root)
	explainMisuse(root)
	return root
}

// addCompletion adds the command that writes completion scripts. Unlike cobra's own, it refuses
// unknown shells.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			reading(cmd)
			for _, shell := range cmd.Commands() {
				reading(shell)
			}
			explainMisuse(cmd)
		}
	}
}

// isList is the annotation of commands that print a list.
const isList = "list"

// listing marks a command that prints a list of named objects, for -o name, and adds --watch.
func (a *app) listing(cmd *cobra.Command) *cobra.Command {
	cmd = a.watchable(cmd)
	cmd.Annotations[isList] = isList
	return cmd
}

// lists returns a command that reads a list and shows it as a table.
func lists[T any](a *app, use, short string, ask func(*api.Client, context.Context) (T, error),
	table func(T) *render.Table) *cobra.Command {
	return a.listing(&cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := read(cmd.Context(), a, just(ask))
			if err != nil {
				return err
			}
			return a.list(list, orMeant(cmd, table(list)))
		},
	})
}

// shows returns a command that reads one object, named by its argument, and shows it as a table. of completes the
// argument; nil for none.
func shows[T any](a *app, use, short string, of names, ask func(*api.Client, context.Context, string) (T, error),
	table func(T) *render.Table) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thing, err := read(cmd.Context(), a, with(ask, args[0]))
			if err != nil {
				return err
			}
			return a.print(thing, a.table(table(thing)))
		},
	}
	if of != nil {
		cmd.ValidArgsFunction = a.arguments(of)
	}
	return a.watchable(cmd)
}

// menu returns a command that has subcommands and does nothing on its own.
func menu(use, short, long string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(children...)
	return reading(cmd)
}

// group returns a command with subcommands. On its own it does the same as list.
func group(use, short string, list *cobra.Command, others ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: list.RunE, Annotations: maps.Clone(list.Annotations)}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list)
	cmd.AddCommand(others...)
	return cmd
}
