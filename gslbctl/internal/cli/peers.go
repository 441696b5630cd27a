package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
)

// localChanges are the commands whose changes nodes do not replicate: changes of this machine, of every node of the
// command line, or of keys, which have a replication of their own.
func localChanges() []string {
	return []string{"backends validate", "brakes release", "config reload", "context delete", "context set",
		"context use", "dnssec restore", "dnssec roll", "dnssec sign", "dnssec sync", "dnssec unsign", "external-dns",
		"init", "notifications test", "preferences set", "tokens create", "tokens rotate"}
}

// addWaitForPeers adds --wait-for-peers to each command below cmd whose changes nodes replicate.
func addWaitForPeers(a *cmdline.App, cmd *cobra.Command) {
	effect := cmd.Annotations[cmdline.Effect]
	if (effect == cmdline.Changes || effect == cmdline.Destroys) &&
		!slices.Contains(localChanges(), strings.TrimPrefix(cmd.CommandPath(), "gslbctl ")) {
		a.WaitForPeersFlag(cmd)
	}
	for _, child := range cmd.Commands() {
		addWaitForPeers(a, child)
	}
}
