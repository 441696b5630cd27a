package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"gslb.internal/shared/api"
)

// httpsFlags are the flags for the HTTPS records of a domain. The API takes all values of these records together.
type httpsFlags struct {
	alpn []string
	port int
	ech  string
}

func (f *httpsFlags) add(cmd *cobra.Command, a *app) {
	cmd.Flags().StringSliceVar(&f.alpn, "https-alpn", nil,
		"`protocols` of its HTTPS records, such as h2,h3; empty for no HTTPS records")
	cmd.Flags().IntVar(&f.port, "https-port", 0, "port that its HTTPS records name (default 443)")
	cmd.Flags().StringVar(&f.ech, "https-ech", "", "ECHConfigList of its HTTPS records, in base64; empty for none")
	_ = cmd.RegisterFlagCompletionFunc("https-alpn",
		a.severalOf(func(context.Context, *api.Client) ([]string, error) { return []string{"h2", "h3"}, nil }))
}

func (f *httpsFlags) given(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"https-alpn", "https-port", "https-ech"}, cmd.Flags().Changed)
}

// away reports whether the flags remove the HTTPS records.
func (f *httpsFlags) away(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("https-alpn") && len(f.alpn) == 0
}

// check refuses flags that contradict one another.
func (f *httpsFlags) check(cmd *cobra.Command) error {
	if f.away(cmd) && (cmd.Flags().Changed("https-port") || cmd.Flags().Changed("https-ech")) {
		return errors.New("--https-alpn is empty, which takes the HTTPS records away: " +
			"leave --https-port and --https-ech out, or name the protocols, such as h2,h3")
	}
	return nil
}

// over returns the new values of the HTTPS records: those of the given flags, and for the others those of before. It
// returns nil if no flag is given. before is nil if there are no HTTPS records.
func (f *httpsFlags) over(cmd *cobra.Command, before *api.DomainHTTPS) (*api.DomainHTTPS, error) {
	now := api.DomainHTTPS{ALPN: []string{}}
	switch {
	case !f.given(cmd):
		return nil, nil
	case f.away(cmd):
		return &now, nil
	case before != nil:
		now = *before
	}
	if cmd.Flags().Changed("https-alpn") {
		now.ALPN = f.alpn
	}
	if cmd.Flags().Changed("https-port") {
		now.Port = f.port
	}
	if cmd.Flags().Changed("https-ech") {
		now.ECH = f.ech
	}
	if len(now.ALPN) == 0 {
		return nil, errors.New("there are no HTTPS records without protocols: " +
			"name them beside --https-port and --https-ech, such as --https-alpn h2,h3")
	}
	return &now, nil
}
