package report

import (
	"cmp"
	"slices"
	"sync"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// strangers are the overwatch nodes with another certificate than the pinned certificate. Heartbeats to the other nodes
// list them. A node that has verified the certificate with the secret of the nodes introduces it in its Ack. Any
// goroutine may use it.
type strangers struct {
	mu    sync.Mutex
	nodes map[string]stranger // by configured address
}

// stranger is the certificate in a node's Hello, and the link to that node.
type stranger struct {
	shown wire.NodeCertificate
	link  *link
}

// introduction is a certificate that another node has introduced.
type introduction struct {
	node wire.NodeCertificate
	by   string // id of the introducing node
}

// add records the certificate in a node's Hello.
func (r *strangers) add(l *link, shown wire.NodeCertificate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nodes == nil {
		r.nodes = make(map[string]stranger)
	}
	r.nodes[l.address] = stranger{shown, l}
}

// remove deletes the node at an address.
func (r *strangers) remove(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, address)
}

// list returns the rejected nodes except the node at address without, at most wire.MaxRejected.
func (r *strangers) list(without string) (list []wire.NodeCertificate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for address, one := range r.nodes {
		if address != without && len(list) < wire.MaxRejected && !slices.Contains(list, one.shown) {
			list = append(list, one.shown)
		}
	}
	return list
}

// introduce passes an introduction by a node to the links of the nodes that have shown exactly this certificate.
func (r *strangers) introduce(introduced wire.NodeCertificate, by string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.nodes {
		if one.shown == introduced {
			one.link.introduced.Store(&introduction{node: introduced, by: by})
			one.link.wakeUp()
		}
	}
}

// reject records that the node has another certificate than the pinned certificate. A node with another id is another
// node at this address, and no node can introduce it. The id is unknown only with a pin of version 0.9.0.
func (l *link) reject(node *identity.Certificate, hello *wire.Hello) {
	known := cmp.Or(l.pins.node(l.address), l.status.read().NodeID)
	if known == "" || known == hello.NodeID {
		l.strangers.add(l, wire.NodeCertificate{NodeID: hello.NodeID, KeyID: node.KeyID})
	}
}

// introducedBy handles the introductions in an Ack, which the pinned certificate of the session's node has sealed.
func (l *link) introducedBy(ack *wire.Ack) {
	for _, one := range ack.Introduced {
		if one.NodeID != l.session.hello.NodeID && one.KeyID != l.session.node.KeyID {
			l.strangers.introduce(one, l.session.hello.NodeID)
		}
	}
}

// acceptIntroduction replaces the pin of this link's node by the certificate that another node has introduced. It
// reports whether it replaced the pin.
func (l *link) acceptIntroduction(in *introduction) bool {
	if err := l.pins.replace(l.address, in.node, in.by); err != nil {
		l.logger.Error().Err(err).Msg("the new certificate of the overwatch node cannot be pinned")
		return false
	}
	l.strangers.remove(l.address)
	l.logger.Warn().Str("fingerprint", identity.KeyID(in.node.KeyID).Fingerprint()).Str("introduced_by", in.by).
		Msg("the overwatch node has a new certificate, which another overwatch node has introduced: it is pinned now")
	return true
}
