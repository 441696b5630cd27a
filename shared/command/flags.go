package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// options are the parsed flags.
type options struct {
	config            string
	validate, version bool
	reload            int     // process to signal after a validation; 0: none
	action            *Action // nil: run
}

const usage = `%s: %s

usage:
  %[1]s --config FILE             run until SIGINT or SIGTERM
  %[1]s --config FILE --validate  report all problems of the configuration, and exit
  %[1]s --config FILE --reload PID  validate, make the process PID reload the file, and exit
%[3]s  %[1]s --version                 print what this is and was built from, and exit
  %[1]s --help                    print this, and exit

exit codes: 0 asked to stop, 1 failure, 2 wrong arguments or configuration
`

// parse reads the command line. For --help it prints to stdout and returns flag.ErrHelp.
func parse(name string, role Role, args []string, stdout io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.config, "config", "", "")
	flags.BoolVar(&o.validate, "validate", false, "")
	flags.BoolVar(&o.version, "version", false, "")
	flags.IntVar(&o.reload, "reload", 0, "")
	isAction, requires := map[string]bool{}, map[string]string{} // requires: flags of an action, with the action's flag
	for _, a := range role.Actions {
		isAction[a.Flag] = true
		if a.Flags != nil {
			own := flag.NewFlagSet(a.Flag, flag.ContinueOnError)
			a.Flags(own)
			own.VisitAll(func(f *flag.Flag) {
				flags.Var(f.Value, f.Name, "")
				requires[f.Name] = a.Flag
			})
		} else {
			flags.Bool(a.Flag, false, "")
		}
	}
	if len(args) > 0 && (args[0] == "help" || isAction[args[0]] || isSwitch(flags.Lookup(args[0]))) {
		args = append([]string{"--" + args[0]}, args[1:]...) // an action may also be the first word, without hyphens
	}
	err := flags.Parse(args)
	var wanted []string // flags of actions, at most one
	if o.validate {
		wanted = append(wanted, "--validate")
	}
	if isSet(flags, "reload") {
		wanted = append(wanted, "--reload")
	}
	for i, a := range role.Actions {
		if isSet(flags, a.Flag) && flags.Lookup(a.Flag).Value.String() != "false" {
			o.action = &role.Actions[i]
			wanted = append(wanted, "--"+a.Flag)
		}
	}
	var alone string // a flag of an action without the action
	flags.Visit(func(f *flag.Flag) {
		if action := requires[f.Name]; action != "" && !isSet(flags, action) {
			alone = f.Name
		}
	})
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, usage, name, role.Summary, actionUsage(name, role.Actions))
		return o, err
	case err != nil:
		return o, misused(err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q: the configuration file is named by --config", flags.Arg(0))
	case alone != "":
		return o, fmt.Errorf("--%s requires --%s", alone, requires[alone])
	case isSet(flags, "reload") && o.reload < 2: // 0 and negative numbers mean groups of processes to kill(2), 1 is init
		return o, fmt.Errorf("--reload is %d: it must be the number of a process of this program", o.reload)
	case len(wanted) > 1:
		return o, fmt.Errorf("%s cannot be had at once: give one of them", strings.Join(wanted, " and "))
	case o.config == "" && !o.version:
		return o, errors.New("--config is missing: name the configuration file")
	}
	return o, nil
}

// isSet reports whether the command line has a flag.
func isSet(flags *flag.FlagSet, name string) (set bool) {
	flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// misused returns an error of package flag with the flag in the form of --help, with two hyphens.
func misused(err error) error {
	sentence := err.Error()
	if name, ok := strings.CutPrefix(sentence, "flag provided but not defined: -"); ok {
		return fmt.Errorf("there is no flag --%s", name)
	}
	if name, ok := strings.CutPrefix(sentence, "flag needs an argument: -"); ok {
		return fmt.Errorf("--%s needs a value", name)
	}
	return err
}

// isSwitch reports whether a flag exists and has no value.
func isSwitch(f *flag.Flag) bool {
	if f == nil {
		return false
	}
	value, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && value.IsBoolFlag()
}

// actionUsage returns the lines of --help about actions, in the form of the manuals: the action is the first word.
func actionUsage(name string, actions []Action) string {
	var lines strings.Builder
	for _, a := range actions {
		flag := strings.TrimSpace(a.Flag + " " + a.Value)
		fmt.Fprintf(&lines, "  %s %-8s --config FILE  %s, and exit\n", name, flag, a.Summary)
	}
	return lines.String()
}
