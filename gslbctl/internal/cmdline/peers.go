package cmdline

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
)

// waitForPeers is the name of the flag that makes a change wait for peers.
const waitForPeers = "wait-for-peers"

// defaultPeerWait bounds the wait for peers if the flag has no value.
const defaultPeerWait = 30 * time.Second

// WaitForPeersFlag adds --wait-for-peers to a command whose change nodes replicate.
func (a *App) WaitForPeersFlag(cmd *cobra.Command) {
	SpanVar(cmd.Flags(), &a.PeerWait, waitForPeers, 0,
		"wait until all peers of the node have the change, at most this long; exit code 4 if a peer lacks it then")
	cmd.Flags().Lookup(waitForPeers).NoOptDefVal = render.Span(defaultPeerWait)
}

// checkPeerWait returns an error if --wait-for-peers has a value that is no wait.
func (a *App) checkPeerWait(cmd *cobra.Command) error {
	if flag := cmd.Flags().Lookup(waitForPeers); flag != nil && flag.Changed && a.PeerWait <= 0 {
		return fmt.Errorf("--%s is %s: it must be above zero, such as 30s", waitForPeers, a.PeerWait)
	}
	return nil
}
