package keysync // inside: it uses message and maxAnswer

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/shared/api"
)

// liar is a peer with the secret. Its function say changes each message before it is sent.
type liar struct {
	server *peerauth.Server
	say    func(*message)
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("WWW-Authenticate", l.server.Challenge())
	list := api.DNSSECKeys{Enabled: true}
	if proof := r.Header.Get("Authorization"); proof != "" {
		request, err := l.server.Authenticate(theSecret.keys, path, proof)
		if err == nil {
			m := &message{Node: "liar", Instance: "x"}
			l.say(m)
			var plain []byte
			if plain, err = json.Marshal(m); err == nil {
				list.Sealed, err = request.Seal(plain)
			}
		}
		if err != nil {
			panic(err)
		}
	}
	_ = json.NewEncoder(w).Encode(list)
}

// stranger creates a key that no node has requested.
func stranger(t *testing.T, zone string, now time.Time) dnssec.Portable {
	t.Helper()
	dir := t.TempDir()
	ring, _, err := dnssec.OpenKeyring(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	k, err := dnssec.Generate(dnssec.ECDSAP256SHA256, zone, "liar", now)
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Add(k, now, false); err != nil {
		t.Fatal(err)
	}
	n := newNetwork(t)
	node, err := n.open("x", dir)
	if err != nil {
		t.Fatal(err)
	}
	node.zones.SetExpected([]string{zone})
	h, err := node.zones.Export()
	if err != nil {
		t.Fatal(err)
	}
	return h.Keys[0]
}

func answering(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("WWW-Authenticate", peerauth.NewServer().Challenge())
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// After an invalid answer of a peer, the status contains the reason, and keys and answers stay unchanged.
//
// Fault 31: A peer sends invalid keys. The status has the reason, and keys and answers do not change.
func TestRow31_WhateverAPeerAnswersKeysStayAndTheStatusSaysWhy(t *testing.T) {
	changed := func(change func(*dnssec.Portable)) func(*testing.T) http.Handler {
		return func(t *testing.T) http.Handler {
			p := stranger(t, apex, time.Now())
			change(&p)
			return &liar{peerauth.NewServer(), func(m *message) { m.Holding.Keys = []dnssec.Portable{p} }}
		}
	}
	fixed := func(h http.Handler) func(*testing.T) http.Handler { return func(*testing.T) http.Handler { return h } }
	for want, peer := range map[string]func(*testing.T) http.Handler{
		`it answers 500 Internal Server Error`: fixed(answering(500, "text/html", "<h1>oops</h1>")),
		`it answers 403: "10.0.0.1 is not in api`: fixed(answering(403, "application/json",
			`{"error":"10.0.0.1 is not in api.allowed_networks"}`)),
		`is "text/html" and not JSON`: fixed(answering(200, "text/html", "<h1>hello</h1>")),
		`it answers 302 Found`:        fixed(http.RedirectHandler("http://a/", http.StatusFound)),
		`cannot be read as JSON`:      fixed(answering(200, "application/json", "\x00garbage")),
		`has no keys for this node`:   fixed(answering(200, "application/json", `{"enabled":true}`)),
		`it does not sign`:            fixed(answering(200, "application/json", `{"enabled":false}`)),
		`is not sealed for this request`: fixed(answering(200, "application/json",
			`{"enabled":true,"sealed":"AAAA"}`)),
		`is larger than 1048576 bytes`: fixed(answering(200, "application/json",
			strings.Repeat(" ", maxAnswer+1))),
		`no complete answer within 30s`: fixed(
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })),
		`it gives no nonce`: fixed(
			http.HandlerFunc(func(w http.ResponseWriter,
				_ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
			})),
		`private key that does not belong to its`: changed(
			func(p *dnssec.Portable) { p.Public = stranger(t, apex, time.Now()).Public }),
		`has the key tag`: changed(func(p *dnssec.Portable) { p.Tag++ }),
		`which is in the future`: changed(
			func(p *dnssec.Portable) { p.Created = time.Now().Add(6 * time.Minute) }),
		`has the algorithm 16`:          changed(func(p *dnssec.Portable) { p.Algorithm = 16 }),
		`is not a private key of P-256`: changed(func(p *dnssec.Portable) { p.Private = p.Private[1:] }),
		`has more than 3 keys`: func(t *testing.T) http.Handler {
			p := stranger(t, apex, time.Now())
			return &liar{peerauth.NewServer(), func(m *message) { m.Holding.Keys = []dnssec.Portable{p, p, p, p} }}
		},
	} {
		t.Run(want, func(t *testing.T) {
			test(t, func(t *testing.T, n *network) {
				nodes := startTogether(n, "a", "b")
				time.Sleep(time.Minute)
				before := nodes[0].tags()
				n.put("liar", peer(t))
				settings := nodes[0].settings.Get()
				settings.Peers = append(slices.Clone(settings.Peers), "http://liar")
				nodes[0].Reconfigure(settings)
				time.Sleep(time.Minute)
				st := nodes[0].Status()
				if st.Peers[1].Error == nil || !strings.Contains(*st.Peers[1].Error, want) || st.Peers[1].OK {
					t.Errorf("the status of the liar is %+v, want %q", st.Peers[1], want)
					if st.Peers[1].Error != nil {
						t.Error(*st.Peers[1].Error)
					}
				}
				if !st.Peers[0].OK || st.LastSyncError == nil || !strings.HasPrefix(*st.LastSyncError, "http://liar: ") {
					t.Errorf("the status is %+v", st)
				}
				if !slices.Equal(nodes[0].tags(), before) {
					t.Errorf("keys %v, before %v", nodes[0].tags(), before)
				}
				stopAll(nodes...)
			})
		})
	}
}

func TestSync_KeysOfZonesThatAreNotServedHereAreLeftOut(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		foreign := stranger(t, "bank.example.", time.Now())
		n.put("liar", &liar{peerauth.NewServer(), func(m *message) { m.Holding.Keys = []dnssec.Portable{foreign} }})
		a := n.start("a", t.TempDir(), "liar")
		time.Sleep(time.Minute)
		if st := a.Status().Peers[0]; !st.OK || st.Ignored != 1 || st.Imported != 0 || len(a.tags()) != 1 {
			t.Errorf("%+v, keys %v", st, a.tags())
		}
		a.stop()
	})
}

// replay repeats recorded messages of another node.
type replay struct {
	issued string
	answer []byte
}

func (p *replay) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("WWW-Authenticate", p.issued)
	_, _ = w.Write(p.answer)
}

// A recording of the network traffic is useless: it contains no private key, every node refuses a repeated request, and
// no node accepts a repeated answer. Without the secret, the API returns only public keys.
func TestSync_ARecordingYieldsNoPrivateKeyAndCannotBeRepeated(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		time.Sleep(3 * time.Hour)
		proven := 0
		n.mu.Lock()
		recorded := slices.Clone(n.carried)
		n.mu.Unlock()
		for _, c := range recorded {
			for _, private := range secretBytes(t, nodes[0]) {
				if bytes.Contains(c.answer, private) {
					t.Fatal("a private key crossed in the clear")
				}
			}
			if c.request.Header.Get("Authorization") == "" {
				if bytes.Contains(c.answer, []byte("sealed")) {
					t.Fatal("sealed keys for who proved nothing")
				}
				continue
			}
			proven++
			for _, node := range nodes {
				w := httptest.NewRecorder()
				node.ServeHTTP(w, c.request)
				if w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "sealed") {
					t.Fatalf("%s answers a repeated request: %d %s", node.name, w.Code, w.Body)
				}
			}
			n.put("replay", &replay{nodes[1].Challenge(), c.answer})
			settings := nodes[0].settings.Get()
			settings.Peers = []string{"http://replay"}
			if outcomes := nodes[0].askAll(t.Context(), &settings, theSecret.keys[0]); outcomes[0].err == nil ||
				!strings.Contains(outcomes[0].err.Error(), "not sealed for this request") {
				t.Fatalf("a repeated answer: %v", outcomes[0].err)
			}
		}
		if proven < 6 {
			t.Errorf("%d requests were recorded", proven)
		}
		stopAll(nodes...)
	})
}

func TestSync_AnotherSecretIsNamed(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a, b := n.start("a", t.TempDir()), n.start("b", t.TempDir())
		settings := a.settings.Get()
		settings.Peers, settings.Secret = []string{"http://b"}, Secret{keys: [][]byte{[]byte("another secret")}}
		a.Reconfigure(settings)
		time.Sleep(time.Second)
		if st := a.Status().Peers[0]; st.Error == nil ||
			!strings.Contains(*st.Error, "overwatch.dnssec.key_sync.secret must be the same on all nodes") {
			t.Errorf("%+v", st)
		}
		// During a change of the secret, a node also accepts the previous secret.
		theirs := b.settings.Get()
		theirs.Secret.keys = append(slices.Clone(theirs.Secret.keys), settings.Secret.keys[0])
		b.Reconfigure(theirs)
		if done, err := a.Sync.Sync(t.Context()); err != nil || !done.Synced {
			t.Errorf("%+v, %v", done, err)
		}
		stopAll(a, b)
	})
}
