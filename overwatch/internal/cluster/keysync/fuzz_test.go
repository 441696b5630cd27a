package keysync // inside: it uses challenge, nonceSize and pointSize

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
)

func FuzzParseProof(f *testing.F) {
	r := request{node: "ow-1", point: make([]byte, pointSize), nonce: make([]byte, nonceSize)}
	f.Add(r.prove(theSecret.keys[0]))
	f.Fuzz(func(t *testing.T, header string) {
		r, proof, err := parseProof(header)
		if err == nil && (len(r.point) != pointSize || len(r.nonce) != nonceSize || len(proof) != proofSize || r.node == "") {
			t.Errorf("%+v, %x", r, proof)
		}
	})
}

func FuzzParseChallenge(f *testing.F) {
	f.Add(challenge(make([]byte, nonceSize)))
	f.Fuzz(func(t *testing.T, header string) {
		if nonce, err := parseChallenge(header); err == nil && challenge(nonce) != header {
			t.Errorf("%q is read as %x", header, nonce)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"enabled":true,"keys":[],"sealed":"AAAA"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if sealed, err := parseAnswer(text); err == nil && sealed == "" {
			t.Error("nothing is sealed")
		}
	})
}

func FuzzOpen(f *testing.F) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	r := request{node: "ow-1", point: private.PublicKey().Bytes(), nonce: make([]byte, nonceSize)}
	good, err := r.seal(theSecret.keys[0], &message{Node: "ow-2"})
	if err != nil {
		f.Fatal(err)
	}
	if m, err := r.open(theSecret.keys[0], private, good); err != nil || m.Node != "ow-2" {
		f.Fatal(m, err)
	}
	f.Add(good[:len(good)-4])
	f.Fuzz(func(t *testing.T, sealed string) {
		if m, err := r.open(theSecret.keys[0], private, sealed); err == nil {
			t.Errorf("%q opens: %+v", sealed, m)
		}
	})
}

// FuzzParseMessage takes messages of a peer that has the secret: whatever it sends, the zone keeps a key that signs.
func FuzzParseMessage(f *testing.F) {
	zones, err := dnssec.Open(dnssec.Options{Dir: f.TempDir(), NodeID: "a", Now: time.Now,
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := zones.Signer(apex); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(
		`{"node_id":"x","instance":"y","holding":{"keys":[{"zone":"gslb.test.","key_tag":1,"flags":257,"algorithm":13,` +
			`"public_key":"AAAA","private_key":"AAAA","created":"2026-01-01T00:00:00Z","origin_node":"x"}],` +
			`"withdrawn":[{"zone":"gslb.test.","public_key":"AAAA"}]}}`))
	f.Fuzz(func(t *testing.T, plain []byte) {
		m, err := parseMessage(plain)
		if err != nil {
			if len(plain) > 8 && bytes.Contains([]byte(err.Error()), plain) {
				t.Error("the error quotes what was sealed")
			}
			return
		}
		offer, err := zones.Check(m.Holding)
		if err != nil {
			return
		}
		if _, err := zones.Merge([]dnssec.Offer{offer}, dnssec.Complete); err != nil {
			t.Error(err)
		}
		if s, err := zones.Signer(apex); err != nil || len(s.DS()) == 0 {
			t.Error("nothing signs", err)
		}
	})
}
