package report // inside: it uses contactError, link and newLink

import (
	"bytes"
	"cmp"
	"context"
	"encoding"
	"errors"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/wire"
)

const (
	testService = "app.example.com"
	testToken   = "0123456789abcdef0123456789abcdef"
	oneWay      = 10 * time.Millisecond // between a fake node and its agent, unless the node says otherwise
)

var gossipKey = bytes.Repeat([]byte{7}, frame.KeySize)

func testIdentity(t testing.TB, name string) *identity.Identity {
	t.Helper()
	dir := t.TempDir()
	id, _, err := identity.LoadOrCreate(filepath.Join(dir, "crt"), filepath.Join(dir, "key"), name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// received is a message that reached a fake node.
type received struct {
	sealed identity.Sealed
	stream bool
	at     time.Time
}

func (r received) kind() wire.Type { return wire.Type(r.sealed.Type) }

// fakeNode is an overwatch node in memory, and the peer that connects to it. By default it acknowledges all messages
// that are sealed for its boot nonce.
type fakeNode struct {
	mu       sync.Mutex
	id       *identity.Identity
	nonce    identity.Nonce
	half     *identity.Exchange
	share    *identity.Share // in its Hello; nil: that of half
	session  *identity.Session
	oneWay   time.Duration
	down     bool // nothing gets through
	noUDP    bool
	noTCP    bool
	lossy    func(message []byte) bool // datagrams that get lost
	decide   func(r received) encoding.BinaryMarshaler
	silent   bool // takes everything, answers nothing but pings
	messages []received
	hellos   int
	answered *link
	seen     *identity.Nonce // in the newest answer to a ping
	greeting func(identity.Envelope) identity.Envelope
	greetAs  string // its id; empty: ow-1
}

func newFakeNode(t testing.TB) *fakeNode {
	return &fakeNode{id: testIdentity(t, "ow-1"), nonce: identity.NewNonce(), half: identity.NewExchange(), oneWay: oneWay}
}

var errRefused = &contactError{reasonUnreachable, errors.New("connection refused")}

func (n *fakeNode) hello(context.Context) ([]byte, error) {
	time.Sleep(2 * n.oneWay)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hellos++
	if n.down || n.noTCP {
		return nil, errRefused
	}
	return n.greet(), nil
}

// greet seals the node's Hello.
func (n *fakeNode) greet() []byte {
	hello := &wire.Hello{NodeID: cmp.Or(n.greetAs, "ow-1"), Version: "1", BootNonce: n.nonce, Certificate: n.id.DER}
	if hello.Share = n.half.Share(); n.share != nil {
		hello.Share = *n.share
	}
	payload, _ := hello.MarshalBinary()
	e := identity.Envelope{Major: wire.Major, Type: uint8(wire.TypeHello), BootNonce: n.nonce, Seq: 1, Payload: payload}
	if n.greeting != nil {
		e = n.greeting(e)
	}
	return n.id.Seal(identity.NodeToAgent, e)
}

func (n *fakeNode) ping() (time.Duration, error) {
	n.mu.Lock()
	blocked, nonce := n.down || n.noUDP, n.nonce
	n.mu.Unlock()
	if blocked {
		time.Sleep(pingTime)
		return 0, errors.New("no response")
	}
	time.Sleep(2 * n.oneWay)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen = &nonce
	return 2 * n.oneWay, nil
}

func (n *fakeNode) boot() (identity.Nonce, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		return identity.Nonce{}, false
	}
	return *n.seen, true
}

func (n *fakeNode) datagram(message []byte) error {
	n.mu.Lock()
	lost := n.down || n.noUDP || n.lossy != nil && n.lossy(message)
	n.mu.Unlock()
	if !lost {
		n.take(message, false)
	}
	return nil
}

func (n *fakeNode) stream(message []byte) error {
	time.Sleep(3 * n.oneWay)
	n.mu.Lock()
	down := n.down || n.noTCP
	n.mu.Unlock()
	if down {
		return errors.New("connection refused")
	}
	n.take(message, true)
	return nil
}

func (n *fakeNode) close() {}

func (n *fakeNode) take(message []byte, stream bool) {
	sealed, err := identity.Parse(message)
	if err != nil {
		panic(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	r := received{sealed, stream, time.Now()}
	n.messages = append(n.messages, r)
	if n.silent || n.noUDP || sealed.InSession() && !sealed.Authentic(identity.AgentToNode, n.session) {
		return
	}
	var m encoding.BinaryMarshaler
	switch {
	case sealed.BootNonce != n.nonce:
		m = &wire.Reject{AckedType: r.kind(), AckedSeq: sealed.Seq, AckedKey: sealed.KeyID, Code: wire.CodeBootNonce}
	case n.decide != nil:
		m = n.decide(r)
	default:
		m = r.ack()
	}
	if m == nil {
		return
	}
	if r.kind() == wire.TypeEnrol {
		n.agree(&sealed)
	}
	answer := n.seal(m, sealed.Epoch)
	if sealed.InSession() {
		answer = n.inSession(r, m)
	}
	to := n.answered
	time.AfterFunc(n.oneWay, func() { to.queueAnswer(answer) })
}

// agree creates the session that an Enrol requests.
func (n *fakeNode) agree(enrol *identity.Sealed) {
	var m wire.Enrol
	if err := m.UnmarshalBinary(enrol.Payload); err != nil {
		panic(err)
	}
	var err error
	n.session, err = n.half.Agree(identity.Pairing{
		Agent: enrol.KeyID, Node: n.id.KeyID, Boot: n.nonce, Epoch: enrol.Epoch, AgentShare: m.Share,
		NodeShare: n.half.Share(),
	})
	if err != nil {
		panic(err)
	}
}

// inSession seals an answer with the session, as nodes seal Acks to messages of the session. Nodes sign a Reject.
func (n *fakeNode) inSession(r received, m encoding.BinaryMarshaler) []byte {
	if _, ok := m.(*wire.Ack); !ok {
		return n.seal(m, r.sealed.Epoch)
	}
	payload, err := m.MarshalBinary()
	if err != nil {
		panic(err)
	}
	return n.session.Seal(identity.NodeToAgent, identity.Envelope{Major: wire.Major, Type: uint8(wire.TypeAck),
		Payload: payload})
}

func (r received) ack(refused ...wire.RefusedClaim) *wire.Ack {
	return &wire.Ack{AckedType: r.kind(), AckedSeq: r.sealed.Seq, Services: []string{testService}, Refused: refused}
}

func (r received) reject(code wire.RejectCode) *wire.Reject {
	return &wire.Reject{AckedType: r.kind(), AckedSeq: r.sealed.Seq, AckedKey: r.sealed.KeyID, Code: code,
		Service: testService, Detail: "because"}
}

func (n *fakeNode) seal(m encoding.BinaryMarshaler, epoch uint64) []byte {
	payload, err := m.MarshalBinary()
	if err != nil {
		panic(err)
	}
	kind := wire.TypeAck
	if _, ok := m.(*wire.Reject); ok {
		kind = wire.TypeReject
	}
	return n.id.Seal(identity.NodeToAgent, identity.Envelope{Major: wire.Major, Type: uint8(kind), BootNonce: n.nonce,
		Epoch: epoch, Payload: payload})
}

// set changes the state of the node.
func (n *fakeNode) set(f func(*fakeNode)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n)
}

// restart gives the node another process id.
func (n *fakeNode) restart() {
	n.set(func(n *fakeNode) { n.nonce, n.down = identity.NewNonce(), false })
}

// got returns the messages of one type that the node has received since a time.
func (n *fakeNode) got(kind wire.Type, since time.Time) (out []received) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.messages {
		if r.kind() == kind && !r.at.Before(since) {
			out = append(out, r)
		}
	}
	return out
}

func (n *fakeNode) greeted() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hellos
}

// testLink is a link to a fake node, running.
type testLink struct {
	*link
	node *fakeNode
	stop func()
	logs *logtest.Buffer
}

func testOptions(t testing.TB) Options {
	id := testIdentity(t, "a1")
	return Options{
		Nodes: []string{"ow.example.com:7946"}, Keys: [][]byte{gossipKey}, Identity: id, Epoch: 77,
		Region: "eu", Version: "1",
		DataDir: t.TempDir(), Tokens: map[string]string{testService: testToken}, Interval: 10 * time.Second,
		MissedThreshold: 3,
		State:           func() []wire.Backend { return []wire.Backend{testBackend()} }, Registerer: prometheus.NewRegistry(),
		Logger: zerolog.Nop(),
	}
}

func testBackend() wire.Backend {
	return wire.Backend{
		Service: testService, Address: netip.MustParseAddr("192.0.2.10"), Port: 8080, Weight: 100, Claim: wire.ClaimHealthy,
		Check: wire.Check{Type: "tcp", IntervalMillis: 5000, TimeoutMillis: 2000, FailureThreshold: 3, SuccessThreshold: 2},
	}
}

// startLink runs a link inside a synctest bubble. The caller must call stop.
func startLink(t *testing.T, n *fakeNode) *testLink {
	t.Helper()
	return startLinkWith(t, n, func(*Options) {})
}

// startLinkWith is startLink with other options.
func startLinkWith(t *testing.T, n *fakeNode, change func(*Options)) *testLink {
	t.Helper()
	o := testOptions(t)
	change(&o)
	logs := &logtest.Buffer{}
	o.Logger = zerolog.New(logs)
	if err := o.complete(); err != nil {
		t.Fatal(err)
	}
	pins, err := openPins(o.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(newSelf(o), o.Nodes[0], pins, newMetrics(o.Registerer))
	l.peer, n.answered = n, l
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.run(ctx)
		l.close()
	}()
	return &testLink{l, n, sync.OnceFunc(func() { cancel(); <-ended }), logs}
}

// count returns the value of a counter or gauge of the link's node.
func (l *testLink) count(t testing.TB, name, label string) float64 {
	t.Helper()
	families, err := l.options.Registerer.(*prometheus.Registry).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			last := m.GetLabel()[len(m.GetLabel())-1].GetValue()
			first := m.GetLabel()[0].GetValue()
			if f.GetName() == name && (label == "" || last == label || first == label) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s %q", name, label)
	return 0
}

// after advances the virtual time of a synctest bubble by d, and waits until its other goroutines are blocked.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
