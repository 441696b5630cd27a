package replication_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	shared "gslb.internal/shared/settings"
)

// network delivers requests to nodes by the host of their URL. A node that is not in the network is down.
type network struct {
	mu    sync.Mutex
	nodes map[string]*node
	tap   func(*http.Request) // receives every request; optional
	page  int                 // octets of objects in one answer; 0: few
	mute  string              // host of a node that does not answer

	describe func(id string, o *replication.Options) // changes the options of a node; nil: nothing
}

// hang makes a node accept requests without answers.
func (w *network) hang(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute = host
}

func (w *network) set(host string, n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[host] = n
}

// RoundTrip implements http.RoundTripper as httpapi answers.
func (w *network) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	n, tap, mute := w.nodes[r.URL.Host], w.tap, w.mute == r.URL.Host
	w.mu.Unlock()
	if mute {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if n == nil {
		return nil, errors.New("down")
	}
	if tap != nil {
		tap(r)
	}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{
		"Content-Type": {"application/json"}, "Www-Authenticate": {n.r.Challenge()}}}
	var body any = api.ReplicationObjects{}
	if proof := r.Header.Get("Authorization"); proof != "" {
		query := r.URL.Query()
		since, _ := strconv.ParseUint(query.Get("since"), 10, 64)
		has, _ := strconv.ParseUint(cmp.Or(query.Get("has"), query.Get("since")), 10, 64)
		sealed, err := n.r.Answer(r.Context(), replication.Question{Target: r.URL.RequestURI(), Since: since, Has: has,
			Instance: query.Get("instance"), Hold: query.Get("hold") == "true"}, proof)
		if body = (api.ReplicationObjects{Sealed: sealed}); err != nil {
			resp.StatusCode, body = http.StatusUnauthorized, api.ErrorBody{Error: err.Error()}
		}
	}
	text, err := json.Marshal(body)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, err
}

// node contains the store of a node and its received changes.
type node struct {
	t     *testing.T
	id    string
	store *store.Store
	r     *replication.Replication
	stop  func()

	mu       sync.Mutex
	followed map[replica.Key]int
	audited  []audit.Change
	refuse   map[replica.Key]error
	entered  func() // called after a change is stored and before it is applied; optional
}

const secret = "a secret of the nodes, in more than 32 characters"

// settings returns the settings of a node whose peers are all nodes of a cluster of three, including the node itself.
func settings(secret string) replication.Settings {
	var c config.Config
	c.Overwatch.Replication.Enabled = true
	c.Overwatch.DNSSEC.KeySync.Secret = shared.Secret(secret)
	c.Overwatch.DNSSEC.KeySync.Peers = []string{"http://a", "http://b", "http://c"}
	return replication.SettingsOf(&c)
}

func start(t *testing.T, w *network, id, dir string, s replication.Settings) *node {
	t.Helper()
	return startOn(t, w, dir, w, store.Options{NodeID: id}, s)
}

// startOn starts a node that sends requests over a transport, with other options of its store.
func startOn(t *testing.T, w *network, dir string, over http.RoundTripper, o store.Options,
	s replication.Settings) *node {
	t.Helper()
	id := o.NodeID
	n := &node{t: t, id: id, followed: make(map[replica.Key]int), refuse: make(map[replica.Key]error)}
	var err error
	if n.store, err = store.Open(dir, o); err != nil {
		t.Fatal(err)
	}
	options := replication.Options{NodeID: id, Settings: s, Store: n.store, Follow: n.follow,
		LeftOut: func() []replica.Key { return nil }, Audit: n.audit, Transport: over, PageSize: cmp.Or(w.page, 4<<10),
		Registerer: prometheus.NewPedanticRegistry(), Logger: zerolog.Nop()}
	if w.describe != nil {
		w.describe(id, &options)
	}
	if n.r, err = replication.New(options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.r.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		w.set(id, nil)
		cancel()
		if err := errors.Join(<-ended, n.store.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(n.stop)
	w.set(id, n)
	return n
}

func (n *node) follow(_ context.Context, keys []replica.Key) map[replica.Key]error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.entered != nil {
		n.entered()
	}
	refused := make(map[replica.Key]error)
	for _, key := range keys {
		n.followed[key]++
		if n.refuse[key] != nil {
			refused[key] = n.refuse[key]
		}
	}
	return refused
}

func (n *node) audit(c audit.Change) store.Entry {
	return func(last uint64, _ []byte) (uint64, []byte, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.audited = append(n.audited, c)
		text, err := json.Marshal(c.Before)
		return last + 1, text, err
	}
}

func (n *node) put(name, description string) {
	n.t.Helper()
	var b store.Batch
	b.PutObject(store.KindDomain, &model.Domain{Name: name, Description: description,
		Meta: model.Meta{UpdatedAt: time.Now()}})
	if err := n.store.Write(&b); err != nil {
		n.t.Fatal(err)
	}
}

// putServer stores a decision of the node about a server whose check has a header.
func (n *node) putServer(header string) {
	n.t.Helper()
	spec := check.Spec{Type: check.HTTP, Path: "/", Detail: check.Detail{Headers: header}.Details()}
	if err := n.store.PutServer(model.Server{Service: "app.example", Address: netip.MustParseAddr("192.0.2.1"),
		Port:        80,
		HealthCheck: model.HealthCheckOf(spec)}); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) remove(name string) {
	n.t.Helper()
	var b store.Batch
	b.Delete(store.KindDomain, name)
	if err := n.store.Write(&b); err != nil {
		n.t.Fatal(err)
	}
}

// putRecord stores a DNS record with a TTL and an end; a zero end is no end.
func (n *node) putRecord(key replica.Key, ttl int, ends time.Time) {
	n.t.Helper()
	part := strings.SplitN(key.Name, " ", 3)
	var b store.Batch
	b.PutObject(key.Kind, &model.Record{Name: part[0], Type: part[1], Data: part[2], TTL: ttl, ExpiresAt: ends,
		Meta: model.Meta{UpdatedAt: time.Now()}})
	if err := n.store.Write(&b); err != nil {
		n.t.Fatal(err)
	}
}

// recorded reports whether the node has a domain, or a record that has not expired.
func (n *node) recorded(key replica.Key) (found bool) {
	_ = n.store.LoadDefinitions(func(kind, name string, _ []byte) error {
		found = found || kind == key.Kind && name == key.Name
		return nil
	})
	return found
}

// removeObject stores the deletion of an object.
func (n *node) removeObject(key replica.Key) {
	n.t.Helper()
	var b store.Batch
	b.Delete(key.Kind, key.Name)
	if err := n.store.Write(&b); err != nil {
		n.t.Fatal(err)
	}
}

func domain(name string) replica.Key { return replica.Key{Kind: store.KindDomain, Name: name} }

// until waits for a condition. On a busy machine it waits longer and does not fail.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// alike waits until nodes store the same objects, and each knows that the others store them.
func alike(t *testing.T, nodes ...*node) {
	t.Helper()
	until(t, "all nodes to hold the same", func() bool {
		for _, n := range nodes {
			if n.store.Replicas().Digest != nodes[0].store.Replicas().Digest || n.store.Replicas().Joining {
				return false
			}
			behind := 0
			for _, p := range n.r.Status().Peers {
				behind += p.Behind
			}
			if behind > 0 && len(nodes) == 3 {
				return false
			}
		}
		return true
	})
}

func cluster(t *testing.T) (w *network, nodes []*node, dirs map[string]string) {
	t.Helper()
	return clusterOn(t, &network{nodes: make(map[string]*node)})
}

func clusterOn(t *testing.T, w *network) (_ *network, nodes []*node, dirs map[string]string) {
	t.Helper()
	dirs = make(map[string]string)
	for _, id := range []string{"a", "b", "c"} {
		dirs[id] = t.TempDir()
		nodes = append(nodes, start(t, w, id, dirs[id], settings(secret)))
	}
	return w, nodes, dirs
}

func TestReplication_ADecisionIsStoredAndInForceOnEveryNode(t *testing.T) {
	w, nodes, dirs := cluster(t)
	a, b, c := nodes[0], nodes[1], nodes[2]
	a.put("one.example", "")
	b.put("two.example", "")
	alike(t, nodes...)
	for _, n := range nodes {
		if found := n.store.Replicas().Objects; found != 2 {
			t.Errorf("%s has %d objects", n.id, found)
		}
		for _, p := range n.r.Status().Peers {
			if !p.Connected || p.NodeID == "" || p.NodeID == n.id || p.Error != nil {
				t.Errorf("%s tells of a peer %+v", n.id, p)
			}
		}
		if peers := len(n.r.Status().Peers); peers != 2 {
			t.Errorf("%s tells of %d peers", n.id, peers)
		}
	}
	c.stop()
	a.remove("one.example")
	b.put("three.example", "")
	until(t, "the status to tell that a node is down", func() bool {
		for _, p := range a.r.Status().Peers {
			if p.NodeID == "c" {
				return !p.Connected && p.Error != nil && p.Behind > 0
			}
		}
		return false
	})
	c = start(t, w, "c", dirs["c"], settings(secret))
	alike(t, a, b, c)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.followed[domain("one.example")] == 0 || c.followed[domain("three.example")] == 0 ||
		c.store.Replicas().Tombstones != 1 {
		t.Errorf("put into force on the node that was down: %v", c.followed)
	}
}

func TestReplication_WhatIsOvertakenIsInTheAuditLogOfItsNode(t *testing.T) {
	w, nodes, dirs := cluster(t)
	a, b, c := nodes[0], nodes[1], nodes[2]
	a.put("app.example", "first")
	alike(t, nodes...)
	c.stop()
	a.put("app.example", "by a")
	a.putServer("X-By: a s3cret")
	b.stop() // so that only c has a later change
	a.stop()
	c = start(t, w, "c", dirs["c"], settings(secret))
	c.put("app.example", "by c")
	c.putServer("X-By: another s3cret")
	a = start(t, w, "a", dirs["a"], settings(secret))
	b = start(t, w, "b", dirs["b"], settings(secret))
	alike(t, a, b, c)
	until(t, "the audit log to have what was overtaken", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.audited) > 1
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	entry, server := a.audited[0], a.audited[1]
	if entry.Resource == store.KindServer {
		entry, server = server, entry
	}
	text, err := json.Marshal([]any{server.Before, server.After})
	if err != nil || server.Resource != store.KindServer || strings.Count(string(text), `"X-By":"[redacted]"`) != 2 ||
		strings.Contains(string(text), "s3cret") {
		t.Errorf("the entry of the server is %+v: %s, %v", server, text, err)
	}
	if before, after := entry.Before.(json.RawMessage), entry.After.(json.RawMessage); entry.Actor != "c" ||
		entry.Action != api.AuditSync || entry.ResourceID != "app.example" || !strings.Contains(string(before),
		"by a") ||
		!strings.Contains(string(after), "by c") {
		t.Errorf("the entry is %+v", entry)
	}
}

func TestReplication_ALargeStateGoesInPages(t *testing.T) {
	w, nodes, _ := cluster(t)
	a, c := nodes[0], nodes[2]
	alike(t, nodes...)
	c.stop()
	for i := range 9 {
		a.put("d"+strconv.Itoa(i)+".example", strings.Repeat("x", 1<<10))
	}
	pages := 0
	w.mu.Lock()
	w.tap = func(r *http.Request) {
		query := r.URL.Query()
		if r.URL.Host == "a" && r.Header.Get("Authorization") != "" && query.Get("hold") == "false" {
			w.mu.Lock()
			defer w.mu.Unlock()
			if pages++; query.Get("since") != "0" && query.Get("has") == "" {
				t.Error("the pages before one count as stored")
			}
		}
	}
	w.mu.Unlock()
	c = start(t, w, "c", t.TempDir(), settings(secret))
	alike(t, a, nodes[1], c)
	w.mu.Lock()
	defer w.mu.Unlock()
	if pages < 3 || c.store.Replicas().Objects != 9 {
		t.Errorf("%d objects in %d answers", c.store.Replicas().Objects, pages)
	}
}

func TestReplication_WhatHasNoEffectIsListed(t *testing.T) {
	_, nodes, _ := cluster(t)
	a, b := nodes[0], nodes[1]
	b.mu.Lock()
	b.refuse[domain("app.example")] = errors.New("no zone of it here")
	b.mu.Unlock()
	a.put("app.example", "")
	until(t, "it to be listed", func() bool { return len(b.r.Status().Refused) == 1 })
	if one := b.r.Status().Refused[0]; one.Name != "app.example" || one.Reason != "no zone of it here" {
		t.Errorf("listed: %+v", one)
	}
	const want = "domain app.example, changed on a: no zone of it here"
	if said := b.r.Trouble(); len(said) != 1 || !strings.Contains(said[0], want) {
		t.Errorf("the condition says %q", said)
	}
	b.mu.Lock()
	delete(b.refuse, domain("app.example"))
	b.mu.Unlock()
	a.put("app.example", "again")
	until(t, "it to have an effect", func() bool { return len(b.r.Status().Refused) == 0 })
}

// An attacker without the secret, including an attacker who repeats recorded messages, reads and changes nothing.
func TestReplication_OnlyTheSecretOpens(t *testing.T) {
	w, nodes, _ := cluster(t)
	a := nodes[0]
	a.put("app.example", "")
	alike(t, nodes...)
	stranger := start(t, w, "d", t.TempDir(), settings("another secret than that of all others"))
	stranger.put("theirs.example", "")
	until(t, "the stranger to be refused", func() bool {
		peers := stranger.r.Status().Peers
		return len(peers) == 3 && peers[0].Error != nil && strings.Contains(*peers[0].Error, "the secret of this node")
	})
	if stranger.store.Replicas().Objects != 1 || a.store.Replicas().Objects != 1 {
		t.Errorf("the stranger has %+v, the node %+v", stranger.store.Objects(), a.store.Objects())
	}
	client := &peerauth.Client{Node: "b", Peer: "http://a", Secret: settings(secret).Secret,
		HTTP: &http.Client{Transport: w}, MaxBody: 1 << 20}
	var seen []*http.Request
	w.mu.Lock()
	w.tap = func(r *http.Request) {
		if strings.Contains(r.URL.RawQuery, "instance=tap") && r.Header.Get("Authorization") != "" {
			seen = append(seen, r)
		}
	}
	w.mu.Unlock()
	if _, err := client.Get(t.Context(), replication.Path+"?since=0&instance=tap&hold=false"); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"since=0&instance=tap&hold=false", "since=1&instance=tap&hold=false"} {
		again := seen[0].Clone(t.Context())
		again.URL.RawQuery = query
		resp, err := w.RoundTrip(again)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a repeated request with %s: %+v, %v", query, resp, err)
		}
	}
}

func TestSettings_WhatIsMissingIsNamed(t *testing.T) {
	for want, change := range map[string]func(*replication.Settings){
		"replication.enabled is false": func(s *replication.Settings) { s.Enabled = false },
		"key_sync.secret is not set":   func(s *replication.Settings) { s.Secret = nil },
		"name no other node":           func(s *replication.Settings) { s.Peers = nil },
	} {
		s := settings(secret)
		if err := s.Off(); err != nil {
			t.Fatal(err)
		}
		if change(&s); s.Off() == nil || !strings.Contains(s.Off().Error(), want) {
			t.Errorf("%v instead of %q", s.Off(), want)
		}
	}
	withoutSecret := settings(secret)
	withoutSecret.Secret = nil
	n := start(t, &network{nodes: make(map[string]*node)}, "a", t.TempDir(), withoutSecret)
	if said := n.r.Trouble(); len(said) != 1 || !strings.Contains(said[0], "key_sync.secret is not set") {
		t.Errorf("the condition says %q", said)
	}
	n.r.Reconfigure(replication.Settings{})
	if said := n.r.Trouble(); said != nil {
		t.Errorf("switched off, and the condition says %q", said)
	}
	var c config.Config // tokens alone do not define the secret of replication
	if s := replication.SettingsOf(&c); s.Secret != nil {
		t.Error("a secret follows from nothing")
	}
}
