package hints_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/cluster/hints"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

const secret = "a secret of the nodes, in more than 32 characters"

// network delivers requests to nodes by the host of their URL, as httpapi does. A node that is not in the network is
// down.
type network struct {
	mu       sync.Mutex
	nodes    map[string]answerer
	requests int
	latency  time.Duration              // of a request and its answer, virtual
	cut      func(from, to string) bool // nil: none
}

// answerer is an Exchange.
type answerer interface {
	Challenge() string
	Answer(where, backends, authorization string) (sealed string, err error)
}

// via is the network of a node.
type via struct {
	*network
	from string
}

// RoundTrip implements http.RoundTripper.
func (v via) RoundTrip(r *http.Request) (*http.Response, error) {
	if v.cut != nil && v.cut(v.from, r.URL.Host) {
		return nil, errors.New("no route")
	}
	time.Sleep(v.latency)
	return v.network.RoundTrip(r)
}

// RoundTrip implements http.RoundTripper.
func (w *network) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	n := w.nodes[r.URL.Host]
	w.requests++
	w.mu.Unlock()
	if n == nil {
		return nil, errors.New("down")
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{
		"Content-Type": {"application/json"}, "Www-Authenticate": {n.Challenge()}}}
	var body any = api.ReplicationHints{}
	if proof := r.Header.Get("Authorization"); proof != "" {
		sealed, err := n.Answer(r.URL.RequestURI(), r.URL.Query().Get("backends"), proof)
		if body = (api.ReplicationHints{Sealed: sealed}); err != nil {
			resp.StatusCode, body = http.StatusUnauthorized, api.ErrorBody{Error: err.Error()}
		}
	}
	text, err := json.Marshal(body)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// node is an Exchange with the checks that it started. It knows the backends with a port below 60000. Its
// own checks of backends with a port of at least 50000 fail.
type node struct {
	*hints.Exchange
	figures *prometheus.Registry

	mu      sync.Mutex
	checked map[registry.ID]int
}

func (n *node) checks(id registry.ID) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.checked[id]
}

func (n *node) totalChecks() (total int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, count := range n.checked {
		total += count
	}
	return total
}

// count returns the value of gslb_overwatch_hints_total.
func (n *node) count(t *testing.T, outcome string) int {
	t.Helper()
	families, err := n.figures.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families[0].GetMetric() {
		if m.GetLabel()[0].GetValue() == outcome {
			return int(m.GetCounter().GetValue())
		}
	}
	t.Fatalf("no outcome %s", outcome)
	return 0
}

// start runs a node whose peers are the hosts.
func start(t *testing.T, w *network, id, secret string, hosts ...string) *node {
	t.Helper()
	n := &node{figures: prometheus.NewPedanticRegistry(), checked: map[registry.ID]int{}}
	n.Exchange = startWith(t, hints.Options{NodeID: id, Settings: hints.Settings{Secret: []byte(secret)}, Transport: w,
		Peers: func() (list []replication.Reachable) {
			for _, host := range hosts {
				list = append(list, replication.Reachable{Node: host, URL: "http://" + host})
			}
			return list
		},
		Backend: func(id registry.ID) *registry.Backend {
			switch {
			case id.Port >= 60000:
				return nil
			case id.Port >= 50000:
				return &registry.Backend{ID: id, OwnCheck: registry.OwnCheck{Failures: 1}}
			}
			return &registry.Backend{ID: id}
		},
		Check: func(id registry.ID) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.checked[id]++
		},
		Votes:      noVotes,
		Registerer: n.figures})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[id] = n
	return n
}

func noVotes(context.Context, []registry.NodeVote) error { return nil }

// startWith runs an Exchange until the end of the test.
func startWith(t *testing.T, o hints.Options) *hints.Exchange {
	t.Helper()
	o.Logger = zerolog.Nop()
	e, err := hints.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return e
}

func newNetwork() *network { return &network{nodes: map[string]answerer{}} }

func backend(port int) registry.ID {
	return registry.ID{Service: "app.example.org", Address: netip.MustParseAddr("2001:db8::1"), Port: uint16(port)}
}

// A hint reaches all peers, which check the backend once in hintGap. The sender does not check it.
func TestHint_MakesAllPeersCheckTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		a := start(t, w, "a", secret, "b", "c", "d")
		b, c := start(t, w, "b", secret), start(t, w, "c", secret)
		stranger := start(t, w, "d", "another secret, of more than 32 characters")
		a.Hint(backend(80))
		synctest.Wait()
		a.Hint(backend(80))
		synctest.Wait()
		if b.checks(backend(80)) != 1 || c.checks(backend(80)) != 1 || a.totalChecks()+stranger.totalChecks() > 0 {
			t.Errorf("checks: a %v, b %v, c %v, d %v", a.checked, b.checked, c.checked, stranger.checked)
		}
		time.Sleep(time.Second)
		a.Hint(backend(80))
		synctest.Wait()
		if b.checks(backend(80)) != 2 {
			t.Errorf("after a second: %v", b.checked)
		}
		for outcome, want := range map[string]int{"sent": 6, "failed": 3, "received": 0, "dropped": 0} {
			if got := a.count(t, outcome); got != want {
				t.Errorf("a: %s is %d, want %d", outcome, got, want)
			}
		}
		if received, dropped := b.count(t, "received"), b.count(t, "dropped"); received != 3 || dropped != 1 {
			t.Errorf("b: received %d, dropped %d", received, dropped)
		}
	})
}

// A node ignores hints about unknown backends, about backends that it finds failing itself, and hints of itself.
func TestHint_OfUnknownAndFailingBackendsHasNoEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		a := start(t, w, "a", secret, "b", "a")
		b := start(t, w, "b", secret)
		a.Hint(backend(60000))
		a.Hint(backend(50000))
		a.Hint(backend(80))
		synctest.Wait()
		if b.checks(backend(60000))+b.checks(backend(50000)) != 0 || b.checks(backend(80)) != 1 || a.totalChecks() != 0 {
			t.Errorf("checks: a %v, b %v", a.checked, b.checked)
		}
	})
}

// A mass failure causes few requests. The sender drops hints above the rate, and so does the receiver for a peer
// without a limit.
func TestHint_IsBoundedInBothDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		a := start(t, w, "a", secret, "c")
		c := start(t, w, "c", secret)
		for port := 1; port <= 3000; port++ {
			a.Hint(backend(port))
		}
		synctest.Wait()
		if got := c.totalChecks(); got != 1000 {
			t.Errorf("%d backends are checked", got)
		}
		if dropped := a.count(t, "dropped"); dropped != 2000 {
			t.Errorf("a dropped %d", dropped)
		}
		if w.requests > 50 {
			t.Errorf("%d requests for a burst", w.requests)
		}
		twin := start(t, w, "a", secret, "c") // the id of a, with a full burst
		for port := 3001; port <= 4000; port++ {
			twin.Hint(backend(port))
		}
		synctest.Wait()
		if got := c.totalChecks(); got != 1000 {
			t.Errorf("%d backends are checked after a second burst of one node", got)
		}
		time.Sleep(time.Second)
		twin.Hint(backend(5000))
		synctest.Wait()
		if c.checks(backend(5000)) != 1 {
			t.Error("after a second the node still ignores the peer")
		}
	})
}

// The holder of the secret can state any node ids. All ids together start at most twice the checks of a node. Many ids
// do not exclude a peer later.
func TestHint_IsBoundedForManyStatedIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		c := start(t, w, "c", secret)
		port := 0
		for i := range 300 {
			stated := start(t, w, fmt.Sprintf("stated%d", i), secret, "c")
			for range 8 {
				port++
				stated.Hint(backend(port))
			}
		}
		synctest.Wait()
		if got := c.totalChecks(); got != 2000 {
			t.Errorf("%d backends are checked in a burst of all ids", got)
		}
		time.Sleep(time.Second)
		peer := start(t, w, "peer", secret, "c")
		peer.Hint(backend(5000))
		synctest.Wait()
		if c.checks(backend(5000)) != 1 {
			t.Error("after many ids the node ignores a peer")
		}
	})
}

// A peer that is down or hangs neither blocks the sender nor delays the hints to other peers.
func TestHint_DoesNotWaitForADeadPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		a := start(t, w, "a", secret, "down", "b")
		b := start(t, w, "b", secret)
		for port := 1; port <= 200; port++ {
			a.Hint(backend(port))
		}
		synctest.Wait()
		if got, failed := b.totalChecks(), a.count(t, "failed"); got != 200 || failed != 200 {
			t.Errorf("%d checks, %d failed hints", got, failed)
		}
	})
}

// A reload replaces the secret, even of the running sender.
func TestReconfigure_ReplacesTheSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		a, b := start(t, w, "a", secret, "b"), start(t, w, "b", "")
		a.Hint(backend(80))
		synctest.Wait()
		if b.totalChecks() != 0 {
			t.Error("a node without a secret accepts hints")
		}
		b.Reconfigure(hints.Settings{Secret: []byte("new")})
		a.Reconfigure(hints.Settings{Secret: []byte("new")})
		synctest.Wait()
		a.Hint(backend(81))
		synctest.Wait()
		if b.checks(backend(81)) != 1 {
			t.Error("the new secret has no effect")
		}
	})
}

func TestNew_RequiresItsOptions(t *testing.T) {
	if _, err := hints.New(hints.Options{}); err == nil {
		t.Error("no error without options")
	}
}

func TestMetrics_HaveHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, newNetwork(), "a", secret)
		if problems, err := testutil.GatherAndLint(n.figures); err != nil || len(problems) > 0 {
			t.Error(fmt.Sprint(problems), err)
		}
	})
}
