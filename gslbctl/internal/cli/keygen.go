package cli

import (
	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/pair"
)

// freshSecret is the output of keygen.
type freshSecret struct {
	Key   string `json:"key,omitempty"`
	Token string `json:"token,omitempty"`
}

func (a *app) keygenCommand() *cobra.Command {
	kind := func(use, short string, fresh func() freshSecret) *cobra.Command {
		return cmdline.Reading(&cobra.Command{Use: use, Short: short, RunE: func(*cobra.Command, []string) error {
			secret := fresh()
			return a.Print(secret, func() string { return secret.Key + secret.Token + "\n" })
		}})
	}
	return cmdline.Menu("keygen", "Generate a gossip key or a service token",
		"keygen generates secrets on this machine. It sends no request.",
		kind("gossip", "Generate a gossip encryption key: 32 random bytes in base64",
			func() freshSecret { return freshSecret{Key: pair.GossipKey()} }),
		kind("token", "Generate a service token: 52 random letters and digits",
			func() freshSecret { return freshSecret{Token: pair.Token()} }))
}
