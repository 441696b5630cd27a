package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/contexts"
)

// contextFlags are the flags for the settings of a context. The value of an omitted flag is nil.
type contextFlags struct{ ca, cert, key, serverName, tokenFile *string }

func (a *app) contextSetCommand() *cobra.Command {
	var f contextFlags
	var tokenStdin bool
	cmd := &cobra.Command{
		Use:   "set <name> --api <node> [--api <node> ...]",
		Short: "Create or change a context",
		Long: "set creates a context, or changes the given settings of a context. An empty value removes a setting.\n" +
			"The first context becomes the current context. Only the owner of the file of contexts can read it.",
		Example: "  gslbctl context set prod --api https://ow1.example.net --api https://ow2.example.net --ca " +
			"ca.pem --token-file token\n" +
			"  gslbctl context set lab --api 127.0.0.1:8080 --dns 127.0.0.1:5353",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteContext,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := contexts.CheckName(args[0]); err != nil {
				return err
			}
			token, err := a.readToken(cmd.Context(), tokenStdin)
			if err != nil {
				return err
			}
			return a.changeContexts("context "+args[0]+" is kept", func(file *contexts.File) error {
				c := file.Contexts[args[0]]
				if err := f.apply(&c, a.API, a.DNS, token); err != nil {
					return err
				}
				if err := c.Check(); err != nil {
					return fmt.Errorf("context %q: %w", args[0], err)
				}
				file.Contexts[args[0]] = c
				if len(file.Contexts) == 1 {
					file.Current = args[0]
				}
				return nil
			})
		},
	}
	flags := cmd.Flags()
	cmdline.Optional(cmd, flags.StringVar, &f.ca, "ca", "",
		"PEM `file` of trusted certificates, instead of the certificates of the system")
	cmdline.Optional(cmd, flags.StringVar, &f.cert, "client-cert", "", "PEM `file` of the client certificate")
	cmdline.Optional(cmd, flags.StringVar, &f.key, "client-key", "", "PEM `file` of the client key")
	cmdline.Optional(cmd, flags.StringVar, &f.serverName, "server-name", "",
		"`name` in the certificates of the nodes (default the host of their address)")
	cmdline.Optional(cmd, flags.StringVar, &f.tokenFile, "token-file", "",
		"`file` with the token, with mode 0600")
	flags.BoolVar(&tokenStdin, "token-stdin", false,
		"read the token from standard input and store it in the contexts file")
	cmd.MarkFlagsMutuallyExclusive("token-file", "token-stdin")
	return cmd
}

// readToken reads the token from standard input, so that neither the shell history nor the process list contains it.
func (a *app) readToken(ctx context.Context, wanted bool) (string, error) {
	if !wanted {
		return "", nil
	}
	if a.Asks {
		return "",
			errors.New(
				"a typed token stays visible on the screen: write the token to a private file and use --token-stdin < " +
					"FILE, or --token-file")
	}
	line, err := a.ReadLine(ctx)
	if err != nil {
		return "", err
	}
	if line == "" {
		return "", errors.New("there is no token on standard input: write it there, such as with < file")
	}
	return line, contexts.CheckToken(line)
}

func (f *contextFlags) apply(c *contexts.Context, apis, dns []string, token string) error {
	if len(apis) > 0 {
		c.Nodes = nil
		for _, text := range apis {
			c.Nodes = append(c.Nodes, contexts.Node{API: text})
		}
	}
	if err := cmdline.SetDNSAddresses(c, dns); err != nil {
		return err
	}
	for _, path := range []struct{ given, into *string }{
		{f.ca, &c.CA}, {f.cert, &c.ClientCert}, {f.key, &c.ClientKey}, {f.tokenFile, &c.TokenFile},
	} {
		if path.given == nil {
			continue
		}
		*path.into = *path.given
		if *path.given != "" { // an absolute path is valid in any working directory
			var err error
			if *path.into, err = filepath.Abs(*path.given); err != nil {
				return err
			}
		}
	}
	if f.serverName != nil {
		c.ServerName = *f.serverName
	}
	if f.tokenFile != nil {
		c.Token = ""
	}
	if token != "" {
		c.Token, c.TokenFile = token, ""
	}
	return nil
}
