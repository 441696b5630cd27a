package cmdline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageError is the error of a malformed command line. The help of the command describes the correct form.
type UsageError struct{ Command, Message string }

func (m *UsageError) Error() string {
	if strings.HasSuffix(m.Message, "?") {
		return m.Message + " " + m.Command + " --help shows the usage"
	}
	return m.Message + "; " + m.Command + " --help shows the usage"
}

// ExplainMisuse makes cmd and its subcommands return helpful errors: wrong arguments return the usage line, and missing
// required flags are listed. A command without Args accepts no arguments.
func ExplainMisuse(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &UsageError{cmd.CommandPath(),
			wrongFlag(err)}
	})
	accepts := cmd.Args
	if accepts == nil {
		accepts = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if accepts(cmd, args) == nil {
			return nil
		}
		return &UsageError{cmd.CommandPath(), wrongArguments(cmd, args)}
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := checkRequired(cmd); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
	for _, child := range cmd.Commands() {
		ExplainMisuse(child)
	}
}

func wrongArguments(cmd *cobra.Command, args []string) string {
	if cmd.HasSubCommands() && len(args) > 0 {
		sentence := fmt.Sprintf("unknown command %q for %s", args[0], cmd.CommandPath())
		cmd.SuggestionsMinimumDistance = 2 // cobra's own default
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			sentence += ": did you mean " + strings.Join(near, " or ") + "?"
		}
		return sentence
	}
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	if arguments == "" {
		return fmt.Sprintf("unexpected argument %q: write %s", args[0], cmd.CommandPath())
	}
	found := "arguments are missing"
	if len(args) > 0 {
		found = fmt.Sprintf("%q does not fit", strings.Join(args, " "))
	}
	return fmt.Sprintf("%s: write %s %s", found, cmd.CommandPath(), arguments)
}

// wrongFlag describes the error of a flag: the given value and the valid values.
func wrongFlag(err error) string {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err.Error()
	}
	kinds := map[string]string{
		"duration": "a time with its unit, such as 500ms, 30s, 5m or 1d",
		"bool":     "true or false",
		"int":      "a whole number",
		"float64":  "a number",
	}
	flag := wrong.GetFlag()
	kind, known := kinds[flag.Value.Type()]
	if !known {
		return err.Error()
	}
	return fmt.Sprintf("--%s is %q: it must be %s", flag.Name, wrong.GetValue(), kind)
}

// PlainUsage removes the backquotes that mark the name of a flag's value for pflag. Help hides the backquotes, but
// shell completion shows them.
func PlainUsage(cmd *cobra.Command) {
	plain := func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) }
	cmd.PersistentFlags().VisitAll(plain)
	cmd.Flags().VisitAll(plain)
	for _, child := range cmd.Commands() {
		PlainUsage(child)
	}
}
