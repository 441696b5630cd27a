package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// syncedPeer is the result of a node's key request to a peer.
type syncedPeer struct {
	Node string `json:"node"`
	api.DNSSECPeerSync
}

func (a *app) dnssecSyncCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sync",
		Short: "Fetch signing keys from all peers now",
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.dnssecSync(cmd.Context()) },
	}
}

func (a *app) dnssecSync(ctx context.Context) error {
	replies, err := fleet.AskAll(ctx, a.Fleet, fleet.Asking+" for keys", fleet.Call((*api.Client).SyncDNSSEC))
	if err != nil {
		return err
	}
	if len(replies) == 1 && replies[0].Err != nil {
		return replies[0].Err
	}
	list := []syncedPeer{}
	failed := 0
	for _, r := range replies {
		if r.Err != nil {
			_, sentence := fleet.Explain(r.Err)
			r.Value.Peers = []api.DNSSECPeerSync{{Error: &sentence}}
		}
		for _, peer := range r.Value.Peers {
			list = append(list, syncedPeer{r.Node, peer})
			if !peer.OK {
				failed++
			}
		}
	}
	if err := a.Print(list, a.Table(syncTable(list))); err != nil {
		return err
	}
	if failed > 0 {
		return &fleet.Error{Code: fleet.Degraded, Message: fmt.Sprintf("%d of %s failed: no key of these peers was "+
			"accepted",
			failed,
			render.Count(len(list), "exchange", "exchanges"))}
	}
	return nil
}

func syncTable(list []syncedPeer) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "NODE"}, {Name: "PEER"}, {Name: "WELL"},
		{Name: "NEW KEYS", Right: true}, {Name: "REASON"}}}
	for _, p := range list {
		t.Add(render.C(p.Node), orNone(p.Peer), render.C(render.YesNo(p.OK)), number(p.Imported), problemCell(p.Error))
	}
	return t
}
