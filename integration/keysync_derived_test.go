package integration_test

import (
	"context"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// fields joins values with their lengths in front, as nodes do for what they prove.
func fields(values ...[]byte) (all []byte) {
	for _, v := range values {
		all = append(binary.BigEndian.AppendUint32(all, uint32(len(v))), v...)
	}
	return all
}

// derivedSecret is what nodes use for key_sync.secret where none is set: whoever has the gossip key and all tokens can compute it.
func derivedSecret(t *testing.T, gossipKey string, tokens map[string]string) []byte {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(gossipKey)
	if err != nil {
		t.Fatal(err)
	}
	values := [][]byte{key}
	for _, service := range slices.Sorted(maps.Keys(tokens)) {
		values = append(values, []byte(service), []byte(tokens[service]))
	}
	secret, err := hkdf.Key(sha256.New, fields(values...), []byte("gslb key sync v1"), "of the gossip key and all tokens", sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// askForKeys asks a node for its signing keys as another node does, proving a secret. It returns the status and what was sealed.
func askForKeys(t *testing.T, n *harness.Node, secret []byte) (status int, sealed string) {
	t.Helper()
	ask := func(authorization string) (*http.Response, api.DNSSECKeys) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.API.String()+"/api/v1/dnssec/keys", nil)
		if err != nil {
			t.Fatal(err)
		}
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var keys api.DNSSECKeys
		_ = json.Unmarshal(body, &keys) // a refusal is another document
		return resp, keys
	}
	first, _ := ask("")
	text, ours := strings.CutPrefix(first.Header.Get("WWW-Authenticate"), api.KeySyncScheme+` nonce="`)
	nonce, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(text, `"`))
	if !ours || err != nil {
		t.Fatalf("no nonce: %q", first.Header.Get("WWW-Authenticate"))
	}
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name, point := []byte("ow-99"), private.PublicKey().Bytes()
	mac := hmac.New(sha256.New, secret)
	mac.Write(fields([]byte("gslb key sync v1"), []byte("request"), []byte(http.MethodGet), []byte("/api/v1/dnssec/keys"), name, point, nonce))
	proof := []string{"v1"}
	for _, part := range [][]byte{name, point, nonce, mac.Sum(nil)} {
		proof = append(proof, base64.RawURLEncoding.EncodeToString(part))
	}
	resp, keys := ask(api.KeySyncScheme + " " + strings.Join(proof, "."))
	return resp.StatusCode, keys.Sealed
}

// With one service its agent has all that the nodes' secret would be derived from. It gets no key, the node says so, and serves.
func TestKeySync_WithOneServiceAnAgentGetsNoKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 1)
	n := s.Nodes[0]
	delete(n.File.Overwatch.AgentTokens, testbed.OtherName)
	n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
		Peers: []string{"http://192.0.2.1:8080"}, PollInterval: syncPoll, Timeout: n.File.Overwatch.Validation.CheckTimeout,
	}
	s.StartAll(t)
	if status, sealed := askForKeys(t, n, derivedSecret(t, s.GossipKey, n.File.Overwatch.AgentTokens)); status != http.StatusUnauthorized || sealed != "" {
		t.Errorf("the holder of the only token is answered %d and given %d octets of sealed keys", status, len(sealed))
	}
	status, err := n.Client.DNSSECStatus(t.Context())
	if err != nil || status.Sync.OffReason == nil || len(status.Keys) == 0 || testbed.Metric(t, n, "gslb_dnssec_sync_off") != 1 {
		t.Errorf("the node does not say that it exchanges no keys: %+v, %v", status.Sync, err)
	}
	ds, err := n.Client.DSRecords(t.Context())
	if err != nil || ds.Warning == nil || len(ds.DSRecords) == 0 {
		t.Errorf("nothing warns of publishing a record of one node: %+v, %v", ds, err)
	}
	if text := scrape(t, n.Prom.String()); !strings.Contains(text, `gslb_overwatch_status{status="degraded"} 1`) {
		t.Error("the node is not degraded")
	}
}

// With two services what is derived is a secret until an agent has proved both, and then no more, even when its pin is deleted.
func TestKeySync_AnAgentThatProvesAllServicesEndsTheExchange(t *testing.T) {
	t.Parallel()
	s := startSite(t, 1, 1)
	n := s.Nodes[0]
	secret := derivedSecret(t, s.GossipKey, n.File.Overwatch.AgentTokens)
	if status, sealed := askForKeys(t, n, secret); status != http.StatusOK || sealed == "" {
		t.Fatalf("another node is answered %d", status)
	}
	all := s.JoinAgent(t, "agent-all", s.Backends[0])
	second := all.File.Agent.Backends[0]
	second.Service = testbed.OtherName
	all.File.Agent.Backends = append(all.File.Agent.Backends, second)
	all.File.Agent.Identity.ServiceTokens = maps.Clone(n.File.Overwatch.AgentTokens)
	testbed.Start(t, all)
	refused := func(when string) {
		t.Helper()
		testbed.Until(t, testbed.StartBound, "no key to be given "+when, func(context.Context) error {
			if _, sealed := askForKeys(t, n, secret); sealed != "" {
				return errors.New("it is given")
			}
			return nil
		})
	}
	refused("once an agent has proved both services")
	if err := all.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Client.Unpin(t.Context(), "agent-all"); err != nil {
		t.Fatal(err)
	}
	stopNode(t, n)
	s.startNodes(t, n)
	refused("after its pin was deleted and the node started again")
}
