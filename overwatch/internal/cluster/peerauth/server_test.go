package peerauth // inside: it changes requests before their proofs are verified

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAuthenticate_RejectsRequestsWithoutAValidProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := NewServer()
		newValid := func() *request {
			nonce, err := parseChallenge(server.Challenge())
			if err != nil {
				t.Fatal(err)
			}
			return &request{path: testPath, node: "b", point: bytes.Repeat([]byte{9}, pointSize), nonce: nonce}
		}
		expired := newValid()
		time.Sleep(nonceLife + time.Second)
		foreign, used := newValid(), newValid()
		foreign.nonce = newNonces(1).issue()
		authenticated, err := server.Authenticate([][]byte{[]byte("another secret"), testSecret}, testPath,
			used.authorization(testSecret))
		if err != nil || authenticated.Node() != "b" {
			t.Fatalf("%+v, %v", authenticated, err)
		}
		valid := newValid()
		header := valid.authorization(testSecret)
		other, moved := *valid, *valid
		other.node, moved.path = "c", "/another/path"
		proofOf := func(h string) string { return h[strings.LastIndex(h, "."):] }
		withProof := func(r *request, header string) string {
			h := r.authorization(testSecret)
			return strings.TrimSuffix(h, proofOf(h)) + proofOf(header)
		}
		for name, c := range map[string]struct{ header, want string }{
			"nonce of another process": {foreign.authorization(testSecret), "ask for another"},
			"expired nonce":            {expired.authorization(testSecret), "too old"},
			"used nonce":               {used.authorization(testSecret), "was used before"},
			"another secret":           {newValid().authorization([]byte("x")), "is not by the secret of this node"},
			"proof of another node":    {withProof(&other, header), "must be the same on all nodes"},
			"proof of another path":    {moved.authorization(testSecret), "must be the same on all nodes"},
			"another version":          {strings.Replace(header, " v1.", " v2.", 1), `the version is "v2"`},
			"another form":             {"Gslb-Key-Sync v1.x", "of the form Gslb-Key-Sync v1"},
		} {
			if a, err := server.Authenticate([][]byte{testSecret}, testPath, c.header); err == nil || a != nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// With a public key of low order, every peer could compute the key of the answer.
func TestSeal_RejectsAPublicKeyOfLowOrder(t *testing.T) {
	r := &request{path: testPath, node: "b", point: make([]byte, pointSize), nonce: make([]byte, nonceSize)}
	if sealed, err := r.seal(testSecret, []byte("answer")); err == nil || sealed != "" {
		t.Errorf("%q, %v", sealed, err)
	}
}

func TestNonces_BoundUsedNonces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const maxUsed = 100
		n := newNonces(maxUsed)
		for i := range maxUsed {
			if err := n.markUsed(n.issue()); err != nil {
				t.Fatal(i, err)
			}
		}
		if err := n.markUsed(n.issue()); err == nil {
			t.Errorf("%d nonces are stored", len(n.used))
		}
		time.Sleep(2 * nonceLife)
		if err := n.markUsed(n.issue()); err != nil || len(n.used) != 1 {
			t.Errorf("%d nonces are stored after their life: %v", len(n.used), err)
		}
	})
}
