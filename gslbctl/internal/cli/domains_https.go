package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// httpsFlags are the flags for the HTTPS records of a domain. The value of an omitted flag is nil. The API replaces all
// values of these records together.
type httpsFlags struct {
	alpn *[]string
	port *int
	ech  *string
}

func (f *httpsFlags) add(cmd *cobra.Command, a *app) {
	cmdline.Optional(cmd, cmd.Flags().StringSliceVar, &f.alpn, "https-alpn", nil,
		"`protocols` of its HTTPS records, such as h2,h3; empty removes the records")
	cmdline.Optional(cmd, cmd.Flags().IntVar, &f.port, "https-port", 0, "port in its HTTPS records (default 443)")
	cmdline.Optional(cmd, cmd.Flags().StringVar, &f.ech, "https-ech", "",
		"ECHConfigList of its HTTPS records, in base64; empty removes it")
	_ = cmd.RegisterFlagCompletionFunc("https-alpn",
		a.CompleteList(func(context.Context, *api.Client) ([]string, error) { return []string{"h2", "h3"}, nil }))
}

// away reports whether the flags remove the HTTPS records.
func (f *httpsFlags) away() bool { return f.alpn != nil && len(*f.alpn) == 0 }

// check rejects contradictory flags.
func (f *httpsFlags) check() error {
	if f.away() && (f.port != nil || f.ech != nil) {
		return errors.New("--https-alpn is empty, which takes the HTTPS records away: leave --https-port and " +
			"--https-ech out, or name the protocols, such as h2,h3")
	}
	return nil
}

// addTo adds the HTTPS records to a request: the values of the given flags, and the previous values for omitted flags.
// Without flags it adds nothing.
func (f *httpsFlags) addTo(req map[string]any, before model.HTTPS) error {
	now := before
	switch {
	case *f == httpsFlags{}:
		return nil
	case f.away():
		req["https"] = map[string]any{"alpn": []string{}} // version 0.9.0 does not know null
		return nil
	}
	if f.alpn != nil {
		now.ALPN = *f.alpn
	}
	if f.port != nil {
		now.Port = *f.port
	}
	if f.ech != nil {
		now.ECH = *f.ech
	}
	if len(now.ALPN) == 0 {
		return errors.New("there are no HTTPS records without protocols: give them with --https-port and " +
			"--https-ech, such as --https-alpn h2,h3")
	}
	req["https"] = now
	return nil
}
