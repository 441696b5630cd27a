package cli

import (
	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/pair"
)

// freshSecret is the output of keygen.
type freshSecret struct {
	Key   string `json:"key,omitempty"`
	Token string `json:"token,omitempty"`
}

func (a *app) keygenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "keygen", Short: "Make a fresh gossip key or service token", Args: cobra.NoArgs,
		Long: "keygen makes secrets on this machine. It asks no node and changes nothing.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	for _, kind := range []struct {
		use, short string
		make       func() freshSecret
	}{
		{"gossip", "Print a fresh key for encryption_key: 32 random bytes in base64",
			func() freshSecret { return freshSecret{Key: pair.GossipKey()} }},
		{"token", "Print a fresh service token: 52 random letters and digits",
			func() freshSecret { return freshSecret{Token: pair.Token()} }},
	} {
		cmd.AddCommand(&cobra.Command{Use: kind.use, Short: kind.short, Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				secret := kind.make()
				return a.print(secret, func() string { return secret.Key + secret.Token + "\n" })
			}})
	}
	return cmd
}
