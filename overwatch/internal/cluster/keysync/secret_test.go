package keysync // inside: it uses maxHolders

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// configured returns a configuration with a secret, if not empty, and a token for each service.
func configured(secret string, tokens ...string) *config.Config {
	c := &config.Config{}
	c.Overwatch.Gossip.EncryptionKey = settings.Secret("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	c.Overwatch.DNSSEC.KeySync.Secret = settings.Secret(secret)
	c.Overwatch.AgentTokens = map[string]settings.Secret{}
	for i, token := range tokens {
		c.Overwatch.AgentTokens[string(rune('a'+i))+".test"] = settings.Secret(token)
	}
	return c
}

func TestSecret_IsUsableOnlyIfNoAgentCanComputeIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token-holders.json")
	h := OpenHolders(path)
	usable := func(name string, c *config.Config, reason string) {
		t.Helper()
		keys, err := SecretOf(c).Keys(h)
		if reason == "" && (err != nil || len(keys) == 0) ||
			reason != "" && (err == nil || keys != nil || !strings.Contains(err.Error(), reason)) {
			t.Errorf("%s: %d keys, %v; want %q", name, len(keys), err, reason)
		}
	}
	two := configured("", "one", "two")
	usable("none", &config.Config{}, "at least two different tokens")
	usable("one service", configured("", "one"), "at least two different tokens")
	usable("one token for two", configured("", "one", "one"), "at least two different tokens")
	usable("one service and a secret", configured("a secret of the nodes", "one"), "")
	usable("two services", two, "")
	if _, err := (Secret{}).Keys(h); err == nil {
		t.Error("the zero value is used")
	}

	set, _ := trust.TokenSetOf(two.Tokens())
	for range 2 {
		if err := h.Note(set, "edge-1"); err != nil {
			t.Fatal(err)
		}
	}
	usable("an agent with both", two, "agent edge-1 has proved all services")
	usable("an agent with both, and a secret", configured("a secret of the nodes", "one", "two"), "")
	usable("another token since", configured("", "one", "three"), "")
	h = OpenHolders(path)
	usable("after a restart", two, "edge-1")

	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h = OpenHolders(path)
	usable("a file that cannot be read", configured("", "one", "three"), "it is unknown")
	usable("a file that cannot be read, and a secret", configured("a secret of the nodes", "one"), "")
}

func TestHolders_AreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token-holders.json")
	h := OpenHolders(path)
	for i := range maxHolders + 5 {
		if err := h.Note(trust.TokenSet{byte(i)}, "edge-1"); err != nil {
			t.Fatal(err)
		}
	}
	last, err := OpenHolders(path).holderOf(trust.TokenSet{maxHolders + 4})
	if n := len(OpenHolders(path).known); n != maxHolders || last == "" || err != nil {
		t.Errorf("%d sets are kept, the last is of %q: %v", n, last, err)
	}
}

// lateAgent returns the derived secret of nodes without a configured secret, and the set of tokens that it is derived
// from.
func lateAgent() (Secret, trust.TokenSet) {
	c := configured("", "one", "two")
	set, _ := trust.TokenSetOf(c.Tokens())
	return SecretOf(c), set
}

func TestSync_AnAgentThatProvesAllServicesEndsTheExchangeUntilASecretIsSet(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a, b := n.start("a", t.TempDir()), n.start("b", t.TempDir())
		secret, set := lateAgent()
		for _, x := range []*node{a, b} {
			s := x.settings.Get()
			s.Secret, s.Peers = secret, []string{"http://a", "http://b"}
			x.Reconfigure(s)
		}
		time.Sleep(2 * time.Hour) // nodes also repeat requests to a node that lacked the secret before
		alike(t, 2, a, b)
		if a.Off() != nil || a.Status().OffReason != nil {
			t.Fatal("two services, and nobody has proved both: ", a.Off())
		}
		if err := b.o.Holders.Note(set, "edge-1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if b.Status().OffReason == nil || !strings.Contains(b.log.String(), "edge-1") ||
			!strings.Contains(b.log.String(), "not exchanged") {
			t.Errorf("b does not say that it exchanges no keys: %+v", b.Status())
		}
		if done, err := a.Sync.Sync(t.Context()); err != nil || done.Synced ||
			!strings.Contains(*done.Peers[1].Error, "exchanges no signing keys") ||
			strings.Contains(*done.Peers[1].Error, "edge-1") {
			t.Errorf("a is given keys by b, or told who is the reason: %+v, %v", done, err)
		}
		before := len(n.carried)
		if done, err := b.Sync.Sync(t.Context()); err != nil || done.Synced || len(n.carried) != before {
			t.Errorf("b asks: %+v, %v", done, err)
		}
		if b.Apart() {
			t.Error("the keys of b are those of a, and it says that they may not be")
		}
		for _, x := range []*node{a, b} {
			s := x.settings.Get()
			s.Secret = theSecret
			x.Reconfigure(s)
		}
		time.Sleep(time.Second)
		if done, err := b.Sync.Sync(t.Context()); err != nil || !done.Synced || b.Off() != nil {
			t.Errorf("with a secret: %+v, %v", done, err)
		}
		stopAll(a, b)
	})
}

func TestSync_NodesWithoutAUsableSecretMakeTheirOwnKeysAndSaySo(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		began := time.Now()
		a, b := n.startUnproved("a"), n.startUnproved("b")
		if took := time.Since(began); took > time.Second {
			t.Errorf("they asked for %s", took)
		}
		if len(n.carried) > 0 || !a.Apart() || !b.Apart() {
			t.Errorf("%d requests; apart: %v, %v", len(n.carried), a.Apart(), b.Apart())
		}
		if tags := a.told(); len(tags) != 1 {
			t.Errorf("the parent is told of %v", tags)
		}
		a.stop() // and is started again, with its key
		again := n.startUnprovedIn("a", a.dir)
		if !again.Apart() {
			t.Error("after a restart it does not know that its key is its own")
		}
		for _, x := range []*node{again, b} {
			s := x.settings.Get()
			s.Secret = theSecret
			x.Reconfigure(s)
		}
		time.Sleep(time.Minute)
		alike(t, 2, again, b)
		if again.Apart() || again.zones.MadeApart() || b.zones.MadeApart() {
			t.Error("the keys are the same, and the nodes still say that they may differ")
		}
		stopAll(again, b)
	})
}

// startUnproved starts a node with a peer and a single service, and without a secret.
func (n *network) startUnproved(name string) *node { return n.startUnprovedIn(name, n.t.TempDir()) }

func (n *network) startUnprovedIn(name, dir string) *node {
	n.t.Helper()
	x, err := n.openWith(name, dir, SecretOf(configured("", "one")), "a", "b")
	if err != nil {
		n.t.Fatal(err)
	}
	x.run()
	return x
}
