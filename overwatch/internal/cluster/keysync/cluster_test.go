package keysync // inside: it uses maxAnswer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/logging/logtest"
)

const apex = "gslb.test."

// network delivers the requests between the nodes of a test, and records them.
type network struct {
	t *testing.T

	mu      sync.Mutex
	hosts   map[string]http.Handler
	cut     map[string]bool          // nodes without connection to other nodes
	late    map[string]time.Duration // delay of the answers of a node
	closed  map[string]time.Time     // time until which a node refuses connections
	timeout time.Duration            // of nodes that are opened
	rolls   bool                     // opened nodes roll their keys, with shortTTL
	carried []carried
}

type carried struct {
	request *http.Request
	answer  []byte
}

func newNetwork(t *testing.T) *network {
	return &network{t: t, hosts: make(map[string]http.Handler), cut: make(map[string]bool),
		late: make(map[string]time.Duration), closed: make(map[string]time.Time), timeout: 30 * time.Second}
}

func (n *network) isolate(name string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[name] = cut
}

// delay makes a node answer late.
func (n *network) delay(name string, late time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.late[name] = late
}

// refuse makes nodes refuse connections until a time.
func (n *network) refuse(until time.Time, names ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		n.closed[name] = until
	}
}

func (n *network) put(name string, h http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[name] = h
}

// link is the connection of one node to the network.
type link struct {
	*network
	from string
}

func (l link) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	h, apart, late := l.hosts[r.URL.Host], l.cut[l.from] || l.cut[r.URL.Host], l.late[r.URL.Host]
	closed := time.Now().Before(l.closed[r.URL.Host])
	l.mu.Unlock()
	switch {
	case apart: // packets are dropped
		<-r.Context().Done()
		return nil, r.Context().Err()
	case h == nil || closed:
		return nil, fmt.Errorf("dialing: %w", syscall.ECONNREFUSED)
	}
	// There is no timer without a delay: if two goroutines of a bubble both find an expired timer, they run it under one
	// context of the race detector, which then crashes the process (Go 1.26).
	if late > 0 {
		select {
		case <-time.After(late):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	resp := w.Result()
	if w.Body.Len() <= maxAnswer { // a longer answer of a hostile node is not recorded
		l.mu.Lock()
		l.carried = append(l.carried, carried{r, bytes.Clone(w.Body.Bytes())})
		l.mu.Unlock()
	}
	return resp, nil
}

// node contains the keys of a node and their synchronization, without DNS answers.
type node struct {
	*Sync
	net   *network
	name  string
	dir   string
	zones *dnssec.Zones
	stop  func()
	log   *logtest.Buffer
}

var theSecret = Secret{keys: [][]byte{[]byte("0123456789abcdef0123456789abcdef")}}

// start starts a node like the program: the node requests missing keys, publishes, and continues to query its peers.
func (n *network) start(name, dir string, peers ...string) *node {
	n.t.Helper()
	node, err := n.open(name, dir, peers...)
	if err != nil {
		n.t.Fatal(err)
	}
	node.run()
	return node
}

// open creates a node without running it, and may fail. start creates and runs a node.
func (n *network) open(name, dir string, peers ...string) (*node, error) {
	return n.openWith(name, dir, theSecret, peers...)
}

func (n *network) openWith(name, dir string, secret Secret, peers ...string) (*node, error) {
	node := &node{net: n, name: name, dir: dir, log: new(logtest.Buffer)}
	logger := zerolog.New(node.log)
	var err error
	if node.zones, err = dnssec.Open(dnssec.Options{Dir: dir, NodeID: name, Now: time.Now,
		KeyTTL: keyTTLOf(n.rolls), Registerer: prometheus.NewRegistry(), Logger: logger}); err != nil {
		return nil, err
	}
	node.zones.SetExpected([]string{apex})
	settings := Settings{PollInterval: time.Hour, Timeout: n.timeout, Secret: secret}
	for _, peer := range peers {
		settings.Peers = append(settings.Peers, "http://"+peer)
	}
	port, longest := uint16(53), (func() time.Duration)(nil)
	if n.rolls {
		port, longest = 0, func() time.Duration { return shortTTL }
		settings.Roll = config.Rollover{Margin: shortTTL, ParentServers: []string{"127.0.0.1:1"}} // it refuses questions
	}
	node.Sync, err = New(Options{
		NodeID: name, Settings: settings, Zones: node.zones, LongestTTL: longest,
		Holders: OpenHolders(filepath.Join(dir, "token-holders.json")),
		Apply:   node.publish, Audit: func(audit.Change) error { return nil },
		About:     func() About { return About{Region: "of " + name, Port: port, Gossip: gossipOf(name)} },
		Transport: link{n, name}, Registerer: prometheus.NewRegistry(), Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	node.Bootstrap(n.t.Context())
	return node, node.zones.Damage()
}

// shortTTL is the TTL of all records and the margin of nodes that change keys.
const shortTTL = 10 * time.Second

func keyTTLOf(rolls bool) time.Duration {
	if rolls {
		return shortTTL
	}
	return 0 // the default
}

// gossipOf returns the gossip address of a node whose name is one letter.
func gossipOf(name string) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, name[0]}), 7946)
}

func (n *node) run() {
	if err := n.publish(n.net.t.Context()); err != nil {
		n.net.t.Fatal(err)
	}
	n.net.put(n.name, n)
	ctx, cancel := context.WithCancel(n.net.t.Context())
	done := make(chan error)
	go func() { done <- n.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		n.net.put(n.name, nil)
	})
	n.net.put(n.name, n)
}

func (n *node) publish(context.Context) error {
	_, err := n.zones.Signer(apex)
	return err
}

// ServeHTTP handles GET /api/v1/dnssec/keys like package httpapi.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("WWW-Authenticate", n.Challenge())
	list := api.DNSSECKeys{Enabled: true}
	if proof := r.Header.Get("Authorization"); proof != "" {
		var err error
		if list.Sealed, err = n.Seal(proof); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(api.ErrorBody{Error: err.Error()})
			return
		}
	}
	_ = json.NewEncoder(w).Encode(list)
}

// tags returns the tags of the keys that a node publishes.
func (n *node) tags() (tags []uint16) {
	for _, k := range n.zones.Keys() {
		tags = append(tags, k.Tag())
	}
	return tags
}

// signers returns the tags of the keys that sign.
func (n *node) signers() (tags []uint16) {
	for _, k := range n.zones.Keys() {
		if k.Signing {
			tags = append(tags, k.Tag())
		}
	}
	return tags
}

// alike fails unless all nodes publish the same keys, with the given number of keys.
func alike(t *testing.T, count int, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		if !slices.Equal(n.tags(), nodes[0].tags()) || len(n.tags()) != count {
			t.Errorf("%s publishes %v, %s %v; want the same %d", n.name, n.tags(), nodes[0].name, nodes[0].tags(), count)
		}
	}
}

// validator is a validating resolver: it knows the DS records of the parent, and caches a DNSKEY RRset for its TTL. It
// sends each query to any node, as resolvers do.
type validator struct {
	t     *testing.T
	nodes func() []*node // that answer

	mu    sync.Mutex
	ds    []uint16 // key tags represent keys and records
	keys  []uint16
	until time.Time
	count int
}

const keyTTL = time.Hour

// watch sends queries at intervals until the test ends.
func (v *validator) watch(ctx context.Context, pace time.Duration) {
	for ctx.Err() == nil {
		v.look()
		select {
		case <-time.After(pace):
		case <-ctx.Done():
		}
	}
}

func (v *validator) look() {
	v.mu.Lock()
	defer v.mu.Unlock()
	nodes := v.nodes()
	if len(nodes) == 0 || len(v.ds) == 0 {
		return
	}
	pick := func() *node { return nodes[rand.IntN(len(nodes))] }
	if !time.Now().Before(v.until) {
		n := pick()
		if !meet(n.signers(), v.ds) {
			v.t.Errorf("%s: %s publishes keys %v, none of which both signs and has a DS record %v", time.Now(), n.name, n.tags(),
				v.ds)
			return
		}
		v.keys, v.until = n.tags(), time.Now().Add(keyTTL)
	}
	if n := pick(); !meet(n.signers(), v.keys) {
		v.t.Errorf("%s: %s signs with %v, the DNSKEY records in the cache are %v", time.Now(), n.name, n.signers(), v.keys)
	}
	v.count++
}

func meet(a, b []uint16) bool {
	return slices.ContainsFunc(a, func(tag uint16) bool { return slices.Contains(b, tag) })
}

// test runs a test in virtual time.
func test(t *testing.T, f func(t *testing.T, n *network)) {
	synctest.Test(t, func(t *testing.T) { f(t, newNetwork(t)) })
}

// secretBytes returns the private keys of a node in all forms that unencrypted data could contain.
func secretBytes(t *testing.T, n *node) [][]byte {
	t.Helper()
	h, err := n.zones.Export()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, k := range h.Keys {
		text, err := json.Marshal(k.Private)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k.Private, bytes.Trim(text, `"`))
	}
	return all
}
