package report // inside: it shares fake_test.go

import (
	"bytes"
	"encoding"
	"io"
	"log"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// patience is the timeout of operations that take milliseconds on the sockets of an idle machine.
const patience = 30 * time.Second

// socketNode is an overwatch node with an unguarded memberlist on a real socket. It acknowledges all messages that are
// sealed for it, at the source of the pings.
type socketNode struct {
	*memberlist.NetTransport
	t     testing.TB
	id    *identity.Identity
	nonce identity.Nonce
	list  *memberlist.Memberlist
	addr  string

	mu       sync.Mutex
	pinger   string // the newest address that pinged
	messages []received
}

// startNode starts a node with its own address.
func startNode(t testing.TB, key []byte) *socketNode {
	t.Helper()
	return startNodeAs(t, testIdentity(t, "ow-1"), key, "127.0.0.1:0")
}

// startNodeAs starts another process of a node.
func startNodeAs(t testing.TB, id *identity.Identity, key []byte, bind string) *socketNode {
	t.Helper()
	n := &socketNode{t: t, id: id, nonce: identity.NewNonce()}
	n.start(key, bind)
	t.Cleanup(n.stop)
	return n
}

func (n *socketNode) start(key []byte, bind string) {
	n.t.Helper()
	host, port, err := net.SplitHostPort(bind)
	if err != nil {
		n.t.Fatal(err)
	}
	number, _ := strconv.Atoi(port)
	quiet := log.New(io.Discard, "", 0)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 16 { // until UDP and TCP are both free
		n.NetTransport, err = memberlist.NewNetTransport(&memberlist.NetTransportConfig{BindAddrs: []string{host},
			BindPort: number, Logger: quiet})
		if err == nil {
			break
		}
		<-tick.C
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.addr = net.JoinHostPort(host, strconv.Itoa(n.GetAutoBindPort()))
	c := memberlist.DefaultLANConfig()
	c.Name, c.Label, c.SecretKey, c.Transport = "ow-1", wire.Label, key, n
	c.Delegate, c.Ping = n, n
	c.EnableCompression, c.Logger = false, quiet
	if n.list, err = memberlist.Create(c); err != nil {
		n.t.Fatal(err)
	}
}

func (n *socketNode) stop() { n.list.Shutdown() }

// WriteToAddress records the source of the agent's pings.
func (n *socketNode) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	if a.Name != "" {
		n.mu.Lock()
		n.pinger = a.Addr
		n.mu.Unlock()
	}
	return n.NetTransport.WriteToAddress(b, a)
}

func (n *socketNode) NodeMeta(int) []byte             { return nil }
func (n *socketNode) GetBroadcasts(int, int) [][]byte { return nil }
func (n *socketNode) MergeRemoteState([]byte, bool)   {}
func (n *socketNode) AckPayload() []byte              { return n.nonce[:] }
func (n *socketNode) LocalState(bool) []byte {
	return (&fakeNode{id: n.id, nonce: n.nonce, half: identity.NewExchange()}).greet()
}
func (n *socketNode) NotifyPingComplete(*memberlist.Node, time.Duration, []byte) {}
func (n *socketNode) NotifyMsg(b []byte) {
	sealed, err := identity.Parse(bytes.Clone(b))
	if err != nil {
		n.t.Error(err)
		return
	}
	r := received{sealed: sealed, at: time.Now()}
	n.mu.Lock()
	to := n.pinger
	n.messages = append(n.messages, r)
	n.mu.Unlock()
	var answer encoding.BinaryMarshaler = r.ack()
	if sealed.BootNonce != n.nonce {
		answer = r.reject(wire.CodeBootNonce)
	}
	if to != "" {
		n.list.SendToAddress(memberlist.Address{Addr: to}, (&fakeNode{id: n.id, nonce: n.nonce}).seal(answer, sealed.Epoch))
	}
}

// count returns the number of received messages of a type.
func (n *socketNode) count(kind wire.Type) (c int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.messages {
		if r.kind() == kind {
			c++
		}
	}
	return c
}

// eventually polls until the condition is true, because real sockets connect cause and effect.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		<-tick.C
	}
}
