package cmdline

import (
	"time"

	"github.com/spf13/cobra"
)

// waitForPeers is the name of the flag that makes a change wait for peers.
const waitForPeers = "wait-for-peers"

// defaultPeerWait bounds the wait for peers without --timeout.
const defaultPeerWait = 30 * time.Second

// WaitForPeersFlag adds --wait-for-peers to a command whose change nodes replicate.
func WaitForPeersFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(waitForPeers, false, "wait until all peers of the node have the change, at most "+
		defaultPeerWait.String()+" or --timeout; exit code 4 if a peer lacks it then")
}

// readPeerWait sets PeerWait from --wait-for-peers and --timeout.
func (a *App) readPeerWait(cmd *cobra.Command) {
	if wait, err := cmd.Flags().GetBool(waitForPeers); err != nil || !wait {
		return
	}
	a.PeerWait = defaultPeerWait
	if cmd.Flags().Changed("timeout") {
		a.PeerWait = a.Timeout
	}
}
