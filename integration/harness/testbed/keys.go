package testbed

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
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// SyncPoll is the interval of the key exchange in these tests: the shortest allowed interval.
const SyncPoll = time.Second

// KeyBound is the promised time until all nodes have the same keys: the ten seconds in which a node without keys polls,
// the time in which a key is provisional, a retry, and a margin for a busy machine.
const KeyBound = 60 * time.Second

// KeyTags returns the tags of the keys that a node publishes for ZoneName.
func KeyTags(ctx context.Context, n *harness.Node) ([]int, error) {
	list, err := n.Client.DNSSECKeys(ctx)
	var tags []int
	for _, k := range list.Keys {
		if k.Zone == ZoneName+"." {
			tags = append(tags, k.KeyTag)
		}
	}
	return tags, err
}

// KeyFilesOf lists the private key files of a node for ZoneName, at least one.
func KeyFilesOf(t *testing.T, n *harness.Node) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.File.DataDir, "dnssec", "K"+ZoneName+".+*.private"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

// AskNode queries a node over "udp" or "tcp", with EDNS: room is the UDP size, do the DO bit. A timeout fails the test.
func AskNode(t *testing.T, n *harness.Node, network, name string, rtype, room uint16, do bool) *dns.Msg {
	t.Helper()
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), rtype)
	q.AuthenticatedData = true // requests AD; an authoritative server must not set AD
	q.SetEdns0(room, do)
	reply, _, err := (&dns.Client{Net: network, Timeout: Patience}).ExchangeContext(t.Context(), q, n.DNS.String())
	if err != nil {
		t.Fatalf("%s %s over %s: %v", name, dns.Type(rtype), network, err)
	}
	return reply
}

// DerivedSecret returns the secret of nodes without key_sync.secret. It is computed from the gossip key and all tokens.
func DerivedSecret(t *testing.T, gossipKey string, tokens map[string]string) []byte {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(gossipKey)
	if err != nil {
		t.Fatal(err)
	}
	values := [][]byte{key}
	for _, service := range slices.Sorted(maps.Keys(tokens)) {
		values = append(values, []byte(service), []byte(tokens[service]))
	}
	secret, err := hkdf.Key(sha256.New, fields(values...), []byte("gslb key sync v1"), "of the gossip key and all tokens",
		sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// AskForKeys requests the signing keys of a node like a peer, with proof of a secret. It returns the HTTP status and
// the sealed keys.
func AskForKeys(t *testing.T, n *harness.Node, secret []byte) (status int, sealed string) {
	t.Helper()
	ask := func(authorization string) (status int, challenge string, keys api.DNSSECKeys) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.API.String()+"/api/v1/dnssec/keys",
			nil)
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
		_ = json.Unmarshal(body, &keys) // a rejection has another format
		return resp.StatusCode, resp.Header.Get("WWW-Authenticate"), keys
	}
	_, challenge, _ := ask("")
	text, ours := strings.CutPrefix(challenge, api.KeySyncScheme+` nonce="`)
	nonce, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(text, `"`))
	if !ours || err != nil {
		t.Fatalf("no nonce: %q", challenge)
	}
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name, point := []byte("ow-99"), private.PublicKey().Bytes()
	mac := hmac.New(sha256.New, secret)
	mac.Write(fields([]byte("gslb key sync v1"), []byte("request"), []byte(http.MethodGet), []byte("/api/v1/dnssec/keys"),
		name, point, nonce))
	proof := []string{"v1"}
	for _, part := range [][]byte{name, point, nonce, mac.Sum(nil)} {
		proof = append(proof, base64.RawURLEncoding.EncodeToString(part))
	}
	status, _, keys := ask(api.KeySyncScheme + " " + strings.Join(proof, "."))
	return status, keys.Sealed
}

// fields joins values, each with its length as a prefix, as in the proofs of nodes.
func fields(values ...[]byte) (all []byte) {
	for _, v := range values {
		all = append(binary.BigEndian.AppendUint32(all, uint32(len(v))), v...)
	}
	return all
}
