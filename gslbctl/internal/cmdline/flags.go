package cmdline

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ForceFlag adds --force to a command that can remove the last backends of a name.
func ForceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "allow a change that leaves names with too few backends")
}

// YesFlag adds --yes to a command with a confirmation.
func YesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "skip the confirmation")
}

// required is the annotation of a required flag. The first value describes the flag's value, with an example. The
// second value, if present, is the name of a flag that makes the flag optional.
const required = "needed"

// Require marks flags as required. Each pair has the flag's name and a description of its value, with an example.
func Require(cmd *cobra.Command, flags ...[2]string) {
	for _, f := range flags {
		_ = cmd.Flags().SetAnnotation(f[0], required, []string{f[1]})
	}
}

// RequireUnless marks flags as required unless the command line contains the flag other.
func RequireUnless(cmd *cobra.Command, other string, flags ...[2]string) {
	for _, f := range flags {
		_ = cmd.Flags().SetAnnotation(f[0], required, []string{f[1], other})
	}
}

// checkRequired returns an error that lists the missing and the empty required flags.
func checkRequired(cmd *cobra.Command) error {
	var missing []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		what := f.Annotations[required]
		if len(what) > 1 && cmd.Flags().Changed(what[1]) {
			return
		}
		if len(what) > 0 && (!f.Changed || f.Value.String() == "") {
			missing = append(missing, "--"+f.Name+" is missing: "+what[0])
		}
	})
	if len(missing) == 0 {
		return nil
	}
	return &UsageError{cmd.CommandPath(), strings.Join(missing, "; ")}
}

// Offer completes the value of a flag with fixed names.
func Offer(cmd *cobra.Command, flag string, names []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// Optional adds a flag. *to has the value of the flag, or nil if the command line omits the flag. add is the method for
// the type of the flag, such as StringVar.
func Optional[T any](cmd *cobra.Command, add func(p *T, name string, otherwise T, usage string), to **T, name string,
	otherwise T, usage string) {
	value := new(T)
	add(value, name, otherwise, usage)
	others := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(name) {
			*to = value
		}
		if others == nil {
			return nil
		}
		return others(cmd, args)
	}
}

// ValueOf returns the value of an optional flag, or the zero value if the command line omits it.
func ValueOf[T any](flag *T) (value T) {
	if flag != nil {
		value = *flag
	}
	return value
}
