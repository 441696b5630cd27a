package cli

import "github.com/spf13/cobra"

// optional adds a flag whose value is in *to if the flag is given, and that leaves *to nil otherwise. add is the method
// that adds a flag of the type, such as StringVar.
func optional[T any](cmd *cobra.Command, add func(p *T, name string, otherwise T, usage string), to **T, name string,
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

// valueOf returns the value of an optional flag, the zero value if the flag is not given.
func valueOf[T any](flag *T) (value T) {
	if flag != nil {
		value = *flag
	}
	return value
}
