package gossip

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// roleLine is the first line of an overwatch node's NodeMeta. Agents have none.
const roleLine = "gslb overwatch"

// maxMembers bounds the overwatch nodes that are listed.
const maxMembers = 32

// delegate implements memberlist's delegates. None of its methods blocks.
type delegate struct {
	node *Node
}

// NodeMeta describes this node to other overwatch nodes, which show it.
func (d *delegate) NodeMeta(limit int) []byte {
	meta := strings.Join([]string{roleLine, d.node.options.Region, d.node.options.Version}, "\n")
	return []byte(meta[:min(len(meta), limit)])
}

// parseMeta reads another node's NodeMeta.
func parseMeta(meta []byte) (region, version string, ok bool) {
	lines := strings.Split(string(meta), "\n")
	if len(lines) != 3 || lines[0] != roleLine {
		return "", "", false
	}
	return lines[1], lines[2], true
}

// NotifyMsg is never called: the transport takes user messages out of the packets and streams.
func (d *delegate) NotifyMsg([]byte) {}

// GetBroadcasts returns nothing: nodes broadcast nothing of their own.
func (d *delegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState returns nothing: only overwatch nodes ask for it, and they read NodeMeta.
func (d *delegate) LocalState(bool) []byte { return nil }

// MergeRemoteState ignores the state of other nodes.
func (d *delegate) MergeRemoteState([]byte, bool) {}

// NotifyAlive decides who may become a member. It refuses agents, addresses that no host can have, and more than
// maxMembers nodes. Without configured seeds it also refuses every node but a proved peer at the address that the peer
// proved: this node probes each member, and must not be made to send to addresses that others choose.
func (d *delegate) NotifyAlive(peer *memberlist.Node) error {
	if peer.Name == d.node.options.NodeID {
		return nil
	}
	addr, ok := netip.AddrFromSlice(peer.Addr)
	if at := netip.AddrPortFrom(addr.Unmap(), peer.Port); len(d.node.options.Seeds) == 0 &&
		d.node.options.Peers()[peer.Name] != at {
		return errors.New("no seeds are configured, and no peer has proved that it is " + peer.Name + " at " + at.String())
	}
	if _, _, ok := parseMeta(peer.Meta); !ok {
		return errors.New("not an overwatch node")
	}
	if !ok || addr.IsUnspecified() || addr.IsMulticast() || peer.Port == 0 {
		return fmt.Errorf("%s is not the address of a node", peer.Addr)
	}
	if !d.node.members.admits(peer.Name) {
		return fmt.Errorf("there are %d members already", maxMembers)
	}
	return nil
}

// AckPayload returns this process's boot nonce for the answer to a ping.
func (d *delegate) AckPayload() []byte { return d.node.options.Boot[:] }

// NotifyPingComplete notes that another overwatch node has answered a ping.
func (d *delegate) NotifyPingComplete(other *memberlist.Node, rtt time.Duration, _ []byte) {
	d.node.members.answered(other.Name, rtt, time.Now())
}

// NotifyJoin notes a new member.
func (d *delegate) NotifyJoin(n *memberlist.Node) { d.node.members.joined(n, time.Now()) }

// NotifyUpdate notes the new NodeMeta of a member.
func (d *delegate) NotifyUpdate(n *memberlist.Node) { d.node.members.updated(n) }

// NotifyLeave notes that memberlist calls a member dead.
func (d *delegate) NotifyLeave(n *memberlist.Node) { d.node.members.left(n.Name) }
