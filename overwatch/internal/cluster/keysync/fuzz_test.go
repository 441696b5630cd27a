package keysync // inside: it uses parseAnswer and parseMessage

import (
	"bytes"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
)

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"enabled":true,"keys":[],"sealed":"AAAA"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if sealed, err := parseAnswer(text); err == nil && sealed == "" {
			t.Error("nothing is sealed")
		}
	})
}

// FuzzParseMessage parses messages of a peer with the secret. After any message, the zone keeps a key that signs.
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
