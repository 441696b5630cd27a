package gossip

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// roleLine is the first line of an overwatch node's NodeMeta. Agents have no NodeMeta.
const roleLine = "gslb overwatch"

// maxMembers is the maximum number of listed overwatch nodes.
const maxMembers = 32

// delegate implements the delegates of memberlist. Its methods do not block.
type delegate struct {
	node *Node
}

// NodeMeta describes this node to other overwatch nodes.
func (d *delegate) NodeMeta(limit int) []byte {
	meta := strings.Join([]string{roleLine, d.node.options.Region, d.node.options.Version}, "\n")
	return []byte(meta[:min(len(meta), limit)])
}

// parseMeta parses another node's NodeMeta.
func parseMeta(meta []byte) (region, version string, ok bool) {
	lines := strings.Split(string(meta), "\n")
	if len(lines) != 3 || lines[0] != roleLine {
		return "", "", false
	}
	return lines[1], lines[2], true
}

// NotifyMsg is never called: the transport removes user messages from packets and streams.
func (d *delegate) NotifyMsg([]byte) {}

// GetBroadcasts returns nil, since nodes do not broadcast.
func (d *delegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState returns nil, since other nodes read NodeMeta.
func (d *delegate) LocalState(bool) []byte { return nil }

// MergeRemoteState ignores the state of other nodes.
func (d *delegate) MergeRemoteState([]byte, bool) {}

// NotifyAlive decides whether a node becomes a member. It rejects agents, invalid addresses, and nodes above
// maxMembers. Without configured seeds, it also rejects all nodes except authenticated peers at their authenticated
// addresses: this node sends probes to each member, so a sender must not choose the addresses.
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
	if !d.node.members.hasRoomFor(peer.Name) {
		return fmt.Errorf("there are %d members already", maxMembers)
	}
	return nil
}

// AckPayload returns this process's boot nonce for the answer to a ping.
func (d *delegate) AckPayload() []byte { return d.node.options.Boot[:] }

// NotifyPingComplete records the answer of another overwatch node to a ping.
func (d *delegate) NotifyPingComplete(other *memberlist.Node, rtt time.Duration, _ []byte) {
	d.node.members.recordPing(other.Name, rtt, time.Now())
}

// NotifyJoin adds a member.
func (d *delegate) NotifyJoin(n *memberlist.Node) { d.node.members.addMember(n, time.Now()) }

// NotifyUpdate replaces the NodeMeta of a member.
func (d *delegate) NotifyUpdate(n *memberlist.Node) { d.node.members.updateMember(n) }

// NotifyLeave records that memberlist treats a member as dead.
func (d *delegate) NotifyLeave(n *memberlist.Node) { d.node.members.markDead(n.Name) }
