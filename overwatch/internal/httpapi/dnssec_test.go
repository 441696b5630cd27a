package httpapi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/dnssec"
	"gslb.internal/shared/api"
)

// signingKeys is SigningKeys with prepared keys.
type signingKeys []dnssec.KeyState

func (k signingKeys) Keys() []dnssec.KeyState { return k }

func TestDNSSEC_TellsKeysAndWhatTheParentNeeds(t *testing.T) {
	key, err := dnssec.Generate("gslb.test", "node-1", time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	next, err := dnssec.Generate("gslb.test", "node-2", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) {
		o.SigningKeys = signingKeys{{Key: key, State: dnssec.Active, Signing: true}, {Key: next, State: dnssec.Published}}
	})
	status, err := w.client.DNSSECStatus(t.Context())
	if err != nil || !status.Enabled || len(status.Keys) != 2 || !status.Keys[0].Active || status.Keys[1].Active ||
		status.Keys[0].AgeSeconds < 3600 || status.Keys[0].KeyTag != int(key.Tag()) || status.Sync.Enabled {
		t.Errorf("status %+v, %v", status, err)
	}
	ds, err := w.client.DSRecords(t.Context())
	want := strings.Fields("gslb.test. IN DS " + strings.Join(strings.Fields(key.DS(0).String())[4:], " "))
	if err != nil || len(ds.DSRecords) != 1 || !slices.EqualFunc(strings.Fields(ds.DSRecords[0].DSRecord), want, strings.EqualFold) {
		t.Errorf("DS %+v, want %v (%v)", ds, want, err)
	}
	keys, err := w.client.DNSSECKeys(t.Context())
	if err != nil || len(keys.Keys) != 2 || keys.Keys[0].PublicKey != key.PublicKey() || keys.Keys[0].OriginNode != "node-1" ||
		keys.Keys[0].State != api.KeyActive || keys.Keys[1].State != api.KeyPublished {
		t.Errorf("keys %+v, %v", keys, err)
	}
}

func TestDNSSEC_SaysThatAnswersAreNotSigned(t *testing.T) {
	w := newWorld(t)
	status, err := w.client.DNSSECStatus(t.Context())
	if err != nil || status.Enabled || len(status.Keys) != 0 {
		t.Errorf("status %+v, %v", status, err)
	}
	if ds, err := w.client.DSRecords(t.Context()); err != nil || ds.Enabled || len(ds.DSRecords) != 0 {
		t.Errorf("DS %+v, %v", ds, err)
	}
}
