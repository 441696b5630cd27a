package httpapi // inside: it shares world_test.go

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/shared/api"
)

// signingKeys returns Options.SigningKeys with prepared keys.
func signingKeys(keys ...dnssec.KeyState) func() []dnssec.KeyState {
	return func() []dnssec.KeyState { return keys }
}

func TestDNSSEC_TellsKeysAndWhatTheParentNeeds(t *testing.T) {
	key, err := dnssec.Generate(dnssec.ECDSAP256SHA256, "gslb.test", "node-1", time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	next, err := dnssec.Generate(dnssec.ECDSAP256SHA256, "gslb.test", "node-2", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) {
		o.SigningKeys = signingKeys(dnssec.KeyState{Key: key, State: dnssec.Active, Signing: true, Offered: true},
			dnssec.KeyState{Key: next, State: dnssec.Published})
	})
	status, err := w.client.DNSSECStatus(t.Context())
	if err != nil || !status.Enabled || len(status.Keys) != 2 || !status.Keys[0].Active || status.Keys[1].Active ||
		status.Keys[0].AgeSeconds < 3600 || status.Keys[0].KeyTag != int(key.Tag()) || status.Sync.Enabled {
		t.Errorf("status %+v, %v", status, err)
	}
	ds, err := w.client.DSRecords(t.Context())
	want := strings.Fields("gslb.test. IN DS " + strings.Join(strings.Fields(key.DS(0).String())[4:], " "))
	if err != nil || len(ds.DSRecords) != 1 || !slices.EqualFunc(strings.Fields(ds.DSRecords[0].DSRecord), want,
		strings.EqualFold) {
		t.Errorf("DS %+v, want %v (%v)", ds, want, err)
	}
	keys, err := w.client.DNSSECKeys(t.Context())
	if err != nil || len(keys.Keys) != 2 || keys.Keys[0].PublicKey != key.PublicKey() ||
		keys.Keys[0].OriginNode != "node-1" ||
		keys.Keys[0].State != api.KeyActive || keys.Keys[1].State != api.KeyPublished {
		t.Errorf("keys %+v, %v", keys, err)
	}
}

func TestDNSSEC_TellsTheKeysOfARollApart(t *testing.T) {
	key, err := dnssec.Generate(dnssec.ECDSAP256SHA256, "gslb.test", "node-1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) {
		o.SigningKeys = signingKeys(
			dnssec.KeyState{Key: key, State: dnssec.Active, Signing: true, Incoming: true},
			dnssec.KeyState{Key: key, State: dnssec.Active, Signing: true},
			dnssec.KeyState{Key: key, State: dnssec.Active, Signing: true, Retiring: true},
			dnssec.KeyState{Key: key, State: dnssec.Retired, Retiring: true},
			dnssec.KeyState{Key: key, State: dnssec.Published},
		)
	})
	want := []api.KeyStage{api.StageIncoming, api.StageActive, api.StageRetiring, api.StageRetired, api.StagePublished}
	status, err := w.client.DNSSECStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := w.client.DNSSECKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, stage := range want {
		if status.Keys[i].Stage != stage || keys.Keys[i].Stage != stage {
			t.Errorf("the status says %q, the list %q, want %q", status.Keys[i].Stage, keys.Keys[i].Stage, stage)
		}
	}
	if keys.Keys[0].State != api.KeyActive || !status.Keys[0].Active {
		t.Errorf("the new key signs: %+v, %+v", keys.Keys[0], status.Keys[0])
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

// keySync is a KeySync with prepared answers.
type keySync struct {
	status api.DNSSECSyncState
	done   api.DNSSECSync
	err    error
	apart  bool
	rolls  []dnssec.RollState
	forced bool
	parent dnssec.Parent
}

func (k *keySync) Rolls() []dnssec.RollState { return k.rolls }

func (k *keySync) BeginRoll(_ context.Context, apex string, o dnssec.RollOptions) (dnssec.RollState, error) {
	state := dnssec.RollState{Zone: apex}
	state.Emergency = o.Emergency
	return state, k.err
}

func (k *keySync) PreviewRoll(_ context.Context, apex string, _ dnssec.RollOptions) (dnssec.RollState, error) {
	return dnssec.RollState{Zone: apex, Schedule: []roll.UpcomingStage{{Stage: roll.Alone, WaitsFor: "the parent"}}}, k.err
}

func (k *keySync) CancelRoll(_ context.Context, apex string) (dnssec.RollState, error) {
	return dnssec.RollState{Zone: apex}, k.err
}

func (k *keySync) ConfirmDS(_ context.Context, apex string) (dnssec.RollState, error) {
	return dnssec.RollState{Zone: apex}, k.err
}

func (k *keySync) ForceRoll(_ context.Context, apex string, preview bool) (dnssec.RollState, []roll.Peer, error) {
	state := dnssec.RollState{Zone: apex}
	state.Goal, state.Stage = roll.ToUnsigned, roll.Offered
	k.forced = k.forced || !preview
	return state, []roll.Peer{{Name: "http://b", Why: "nothing listens there"}}, k.err
}

func (k *keySync) BeginTransition(_ context.Context, apex string, way roll.Goal) (dnssec.RollState, error) {
	state := dnssec.RollState{Zone: apex}
	state.Goal, state.Stage = way, roll.Offered
	return state, k.err
}

func (k *keySync) PreviewTransition(_ context.Context, apex string, way roll.Goal) (dnssec.RollState, error) {
	state := dnssec.RollState{Zone: apex, Schedule: []roll.UpcomingStage{{Stage: roll.Alone, WaitsFor: "the parent"}}}
	state.Goal = way
	return state, k.err
}

func (k *keySync) Parent(context.Context, string) (dnssec.Parent, bool, error) {
	return k.parent, true, k.err
}

func (k *keySync) Apart() bool { return k.apart }

func (k *keySync) Challenge() string { return api.KeySyncScheme + ` nonce="n"` }

func (k *keySync) Seal(authorization string) (string, error) {
	if authorization != api.KeySyncScheme+" good" {
		return "", errors.New("the proof is wrong")
	}
	return "sealed keys", nil
}

func (k *keySync) Status() api.DNSSECSyncState { return k.status }

func (k *keySync) About(string) (keysync.About, time.Time) { return keysync.About{}, time.Time{} }

func (k *keySync) Sync(context.Context) (api.DNSSECSync, error) { return k.done, k.err }

func TestDNSSEC_KeysAreSealedForWhoProvesItselfAndPublicForOthers(t *testing.T) {
	key, err := dnssec.Generate(dnssec.ECDSAP256SHA256, "gslb.test", "node-1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) {
		o.KeySync = &keySync{}
		o.SigningKeys = signingKeys(dnssec.KeyState{Key: key, State: dnssec.Active, Signing: true, Provisional: true})
	})
	for name, c := range map[string]struct {
		header, body string
		status       int
	}{
		"nothing":       {"", key.PublicKey(), 200},
		"another token": {"Bearer x", key.PublicKey(), 200},
		"a good proof":  {api.KeySyncScheme + " good", `"sealed":"sealed keys"`, 200},
		"a bad proof":   {api.KeySyncScheme + " bad", `{"error":"the proof is wrong"`, 401},
	} {
		req, err := http.NewRequest("GET", w.base+"/api/v1/dnssec/keys", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			req.Header.Set("Authorization", c.header)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(body), c.body) ||
			resp.Header.Get("WWW-Authenticate") != `Gslb-Key-Sync nonce="n"` {
			t.Errorf("%s: %d %v %s %v", name, resp.StatusCode, resp.Header, body, err)
		}
	}
	if ds, err := w.client.DSRecords(t.Context()); err != nil || len(ds.DSRecords) != 0 {
		t.Errorf("the parent is told of a provisional key: %+v, %v", ds, err)
	}
}

func TestDNSSEC_SyncAsksThePeersAndIsAudited(t *testing.T) {
	reason := "nothing listens there"
	sync := &keySync{done: api.DNSSECSync{Peers: []api.DNSSECPeerSync{{Peer: "http://b", Error: &reason}}}}
	w := newWorld(t, func(o *Options) { o.SigningKeys, o.KeySync = signingKeys(), sync })
	w.wantError("no peers", w.send("POST", "/api/v1/dnssec/sync", ""), 400, "overwatch.dnssec.key_sync.peers")
	sync.status = api.DNSSECSyncState{Enabled: true, PeerCount: 1, Peers: []api.DNSSECPeer{{Peer: "http://b"}}}
	done, err := w.client.SyncDNSSEC(t.Context())
	if err != nil || done.Synced || len(done.Peers) != 1 || *done.Peers[0].Error != reason {
		t.Errorf("%+v, %v", done, err)
	}
	if status, err := w.client.DNSSECStatus(t.Context()); err != nil || !status.Sync.Enabled ||
		len(status.Sync.Peers) != 1 {
		t.Errorf("%+v, %v", status, err)
	}
	log := w.send("GET", "/api/v1/audit-logs?actions=sync", "")
	if !strings.Contains(log.body, `"resource":"dnssec"`) || !strings.Contains(log.body, "nothing listens there") {
		t.Error(log.body)
	}
	off := newWorld(t)
	off.wantError("unsigned", off.send("POST", "/api/v1/dnssec/sync", ""), 400, "does not sign")
}

// GET /dnssec/parent lists each DS record of the parent's servers once, and names a failure.
func TestDNSSEC_ParentDS(t *testing.T) {
	ds := &dns.DS{KeyTag: 7, Algorithm: 13, DigestType: 2, Digest: "ab"}
	sync := &keySync{parent: dnssec.Parent{DS: []*dns.DS{ds, ds}, Why: "a server is silent"}}
	w := newWorld(t, func(o *Options) { o.SigningKeys, o.KeySync = signingKeys(), sync })
	got, err := w.client.ParentDS(t.Context(), "example.com")
	if err != nil || len(got.DSRecords) != 1 || got.DSRecords[0].DSRecord != "example.com. IN DS 7 13 2 AB" ||
		!got.Configured || got.Problem == nil || *got.Problem != sync.parent.Why {
		t.Errorf("%+v, %v", got, err)
	}
	sync.err = dnssec.ErrNotSigned
	w.wantError("another zone", w.send("GET", "/api/v1/dnssec/parent/other.test", ""), 404,
		"does not serve a signed zone of that name")
}

// take_over is a part of an emergency change.
func TestDNSSEC_TakeOverRequiresEmergency(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.SigningKeys, o.KeySync = signingKeys(), &keySync{} })
	w.wantError("alone", w.send("POST", "/api/v1/dnssec/rollover", `{"zone":"example.com","take_over":true}`), 400,
		"set emergency to true")
	begin := api.RollCreate{Zone: "example.com", Emergency: true, TakeOver: true}
	if state, err := w.client.BeginRoll(t.Context(), begin); err != nil || !state.Emergency {
		t.Errorf("%+v, %v", state, err)
	}
}

// A request makes a zone unsigned and is in the audit log. dry_run changes nothing. The parent must have no DS record.
func TestDNSSEC_AZoneGoesUnsigned(t *testing.T) {
	sync := &keySync{}
	w := newWorld(t, func(o *Options) { o.SigningKeys, o.KeySync = signingKeys(), sync })
	for way, begin := range map[api.RollWay]func(context.Context, string) (api.Roll, error){
		api.RollToUnsigned: w.client.UnsignZone, api.RollToSigned: w.client.SignZone} {
		if r, err := w.client.PreviewWay(t.Context(), "example.com", way); err != nil || r.Way != way ||
			len(r.Schedule) != 1 {
			t.Errorf("%s, dry run: %+v, %v", way, r, err)
		}
		if r, err := begin(t.Context(), "example.com"); err != nil || r.Way != way || r.Stage != api.RollOffered {
			t.Errorf("%s: %+v, %v", way, r, err)
		}
	}
	log := w.send("GET", "/api/v1/audit-logs?actions=unsign,sign", "").body
	if strings.Count(log, `"action":"unsign"`) != 1 || strings.Count(log, `"action":"sign"`) != 1 {
		t.Error(log)
	}
	sync.err = dnssec.ErrUnsigned
	w.wantError("twice", w.send("POST", "/api/v1/dnssec/rollover/example.com/unsign", ""), 409, "dnssec sign signs it")
	gone := dnssec.RollState{Zone: "example.com."}
	gone.Goal, gone.Stage = roll.ToUnsigned, roll.Alone
	sync.rolls = []dnssec.RollState{gone}
	if ds, err := w.client.DSRecords(t.Context()); err != nil || len(ds.NoDS) != 1 || ds.NoDS[0] != "example.com." {
		t.Errorf("%+v, %v", ds, err)
	}
	if list, err := w.client.Rolls(t.Context()); err != nil || list.Rolls[0].Stage != api.RollUnsigned {
		t.Errorf("%+v, %v", list, err)
	}
	sync.err = nil
	for _, preview := range []bool{true, false} {
		f, err := w.client.ForceRoll(t.Context(), "example.com", preview)
		if err != nil || len(f.Without) != 1 || f.Without[0].Peer != "http://b" || !strings.Contains(f.Risk, "refuse") ||
			f.Stage != api.RollOffered || sync.forced == preview {
			t.Errorf("forced, preview %t: %+v, %v", preview, f, err)
		}
	}
	if log := w.send("GET", "/api/v1/audit-logs?actions=force", "").body; strings.Count(log,
		"nothing listens there") != 1 {
		t.Error(log)
	}
	off := newWorld(t)
	off.wantError("not signing", off.send("POST", "/api/v1/dnssec/rollover/a.example/unsign?dry_run=true", ""), 400,
		"does not sign")
}

func TestDNSSEC_KeysThatAreNotExchangedAreTold(t *testing.T) {
	reason := "overwatch.dnssec.key_sync.secret is not set"
	sync := &keySync{status: api.DNSSECSyncState{Enabled: true, PeerCount: 1, OffReason: &reason,
		Peers: []api.DNSSECPeer{{Peer: "http://b"}}}}
	w := newWorld(t, func(o *Options) { o.SigningKeys, o.KeySync = signingKeys(), sync })
	w.wantError("exchange is off", w.send("POST", "/api/v1/dnssec/sync", ""), 409, reason)
	if ds, err := w.client.DSRecords(t.Context()); err != nil || ds.Warning != nil {
		t.Errorf("nodes with the same keys: %v, %v", ds.Warning, err)
	}
	sync.apart = true
	if ds, err := w.client.DSRecords(t.Context()); err != nil || ds.Warning == nil ||
		!strings.Contains(*ds.Warning, "key_sync.secret") {
		t.Errorf("nodes with different keys: %v, %v", ds.Warning, err)
	}
}
