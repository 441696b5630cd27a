package dnssec // inside: it uses backdated, metrics and privateEnding

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
)

// world contains Zones in a directory, with a test clock.
type world struct {
	*Zones
	dir      string
	time     time.Time
	registry *prometheus.Registry
}

func open(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{dir: dir, time: start, registry: prometheus.NewRegistry()}
	z, err := Open(Options{Dir: dir, NodeID: "node1", Now: func() time.Time { return w.time }, Registerer: w.registry,
		Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	w.Zones = z
	return w
}

func (w *world) signer(t *testing.T) *Signer {
	t.Helper()
	s, err := w.Signer(apex)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestZones_KeepTheKeyOverARestart(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir).signer(t)
	second := open(t, dir).signer(t)
	if first.active[0].Tag() != second.active[0].Tag() || first.active[0].PublicKey() != second.active[0].PublicKey() {
		t.Error("another key signs after a restart")
	}
}

func TestZones_MakeANewKeyWhereTheFilesWereDeleted(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir).signer(t)
	for _, ending := range []string{publicEnding, privateEnding} {
		if err := os.Remove(filepath.Join(dir, first.active[0].FileName()+ending)); err != nil {
			t.Fatal(err)
		}
	}
	if second := open(t, dir).signer(t); second.active[0].PublicKey() == first.active[0].PublicKey() {
		t.Error("the deleted key signs")
	}
}

func TestZones_PublishASecondKeyAndSignWithBothWhileBothAreActive(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir)
	older := w.signer(t).active[0]
	other := mustGenerate(t, start.Add(time.Hour))
	other.activate = start.Add(48 * time.Hour)
	if err := w.keyring.Add(other, start, false); err != nil {
		t.Fatal(err)
	}
	w = open(t, dir)
	s := w.signer(t)
	if n := count(s.Records(), dns.TypeDNSKEY); n != 2 {
		t.Errorf("%d DNSKEY records, want 2", n)
	}
	if n := count(s.Records(), dns.TypeCDS) + count(s.Records(), dns.TypeCDNSKEY); n != 2 {
		t.Errorf("%d CDS and CDNSKEY records, want those of the key that signs", n)
	}
	if len(s.active) != 1 || s.active[0].Tag() != older.Tag() || w.SigningKeysChanged() {
		t.Fatalf("a key signs before its time")
	}
	w.time = start.Add(49 * time.Hour)
	if !w.SigningKeysChanged() {
		t.Fatal("a key that has become active went unnoticed")
	}
	next := w.signer(t)
	records, _, err := next.Sign(zone.RRset{Owner: wire(t, "app.gslb.test."), Type: dns.TypeA, TTL: 30,
		RData: [][]byte{{192, 0, 2, 1}}})
	if err != nil || len(records) != 2 || len(next.DS()) != 2 {
		t.Errorf("%d signatures, %d DS (%v), want 2 of each", len(records), len(next.DS()), err)
	}
	if w.SigningKeysChanged() || w.signer(t) != next {
		t.Error("the signer of the same keys is another one")
	}
}

func count(records []dns.RR, rtype uint16) (n int) {
	for _, rr := range records {
		if rr.Header().Rrtype == rtype {
			n++
		}
	}
	return n
}

func TestKeys_TellWhatEachDoes(t *testing.T) {
	w := open(t, t.TempDir())
	w.signer(t)
	retired := mustGenerate(t, start.Add(-time.Hour))
	retired.inactive = start
	if err := w.keyring.Add(retired, start, false); err != nil {
		t.Fatal(err)
	}
	if w.SigningKeysChanged(); len(w.Keys()) != 2 {
		t.Fatalf("keys %v", w.Keys())
	}
	if w.signer(t); !w.Keys()[0].Signing {
		t.Error("a retired key ceased to sign before the one after it was published for a TTL")
	}
	if w.time = start.Add(time.Hour); !w.SigningKeysChanged() {
		t.Error("that the TTL is over went unnoticed")
	}
	w.signer(t)
	for i, want := range []State{Retired, Active} {
		if got := w.Keys()[i]; got.State != want || got.Signing != (want == Active) {
			t.Errorf("key %d: %s, signing %t", i, got.State, got.Signing)
		}
	}
	w.SetServed(nil)
	if len(w.Keys()) != 0 {
		t.Error("keys of a zone that is not served are listed")
	}
}

func TestSign_ValidForFourteenDaysAndRenewedFromTheSeventh(t *testing.T) {
	w := open(t, t.TempDir())
	s := w.signer(t)
	renewals := make(map[time.Time]bool)
	for i := range byte(50) {
		records, renew, err := s.Sign(zone.RRset{Owner: wire(t, "app.gslb.test."), Type: dns.TypeA, TTL: 30,
			RData: [][]byte{{192, 0, 2, i}}})
		if err != nil {
			t.Fatal(err)
		}
		sig := unpackSignature(t, "app.gslb.test.", 30, records[0])
		from, to := time.Unix(int64(sig.Inception), 0), time.Unix(int64(sig.Expiration), 0)
		if !from.Equal(start.Add(-backdated)) || to.Sub(from) != 14*24*time.Hour {
			t.Fatalf("valid from %v to %v", from, to)
		}
		if age := renew.Sub(from); age < 7*24*time.Hour || age >= 8*24*time.Hour {
			t.Fatalf("renewed after %v", age)
		}
		renewals[renew] = true
	}
	if len(renewals) < 40 {
		t.Errorf("50 signatures are renewed at %d moments only", len(renewals))
	}
}

// Fault 11.
func TestClock_JumpsThatVoidSignaturesAreNoticed(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		moves []time.Duration
		want  bool
	}{
		"time passes":               {[]time.Duration{5 * time.Second, time.Minute, 12 * time.Hour}, false},
		"an hour forward":           {[]time.Duration{time.Hour}, false},
		"an hour back":              {[]time.Duration{-time.Hour}, false},
		"13 hours back":             {[]time.Duration{-13 * time.Hour}, true},
		"back in small steps":       {[]time.Duration{-5 * time.Hour, -5 * time.Hour, -3 * time.Hour}, true},
		"two days forward":          {[]time.Duration{2 * day}, false},
		"and back again":            {[]time.Duration{2 * day, -2 * day}, true},
		"400 days forward":          {[]time.Duration{400 * day}, true},
		"10 years back":             {[]time.Duration{-3650 * day}, true},
		"a small correction":        {[]time.Duration{-time.Second}, false},
		"and only once for a jump":  {[]time.Duration{-13 * time.Hour, time.Second}, false},
		"forward and back the same": {[]time.Duration{400 * day, -400 * day}, true},
	} {
		var watch clock
		now := start
		watch.check(now)
		var jumped bool
		for _, move := range c.moves {
			now = now.Add(move)
			jumped = watch.check(now)
		}
		if jumped != c.want {
			t.Errorf("%s: jumped %t, want %t", name, jumped, c.want)
		}
	}
}

// Fault 11.
func TestCheckClock_AJumpVoidsEverySignature(t *testing.T) {
	w := open(t, t.TempDir())
	s := w.signer(t)
	before := s.Epoch()
	if w.time = start.Add(time.Minute); w.CheckClock() || s.Epoch() != before {
		t.Error("a minute voided signatures")
	}
	if w.time = start.Add(-13 * time.Hour); !w.CheckClock() || s.Epoch() == before {
		t.Error("signatures of the future go on")
	}
}

// The clock of the node jumps several times, by hours or days. Signatures from before and after a jump are valid
// according to the node's clock. After jumps of up to 11 hours, they are also valid for hours according to the clock of
// a validator without a jump.
//
// Fault 11.
func TestCheckClock_BothClocksBelieveWhatIsSignedAroundAJump(t *testing.T) {
	const margin = time.Hour
	set := zone.RRset{Owner: wire(t, "app.gslb.test."), Type: dns.TypeA, TTL: 30, RData: [][]byte{{192, 0, 2, 1}}}
	for _, jumps := range [][]time.Duration{
		{time.Hour}, {-time.Hour}, {11 * time.Hour}, {-11 * time.Hour}, {time.Hour, -time.Hour}, {-time.Hour, time.Hour},
		{11 * time.Hour, -11 * time.Hour},
		{5 * time.Hour, 5 * time.Hour, -10 * time.Hour, -time.Hour}, {-5 * time.Hour, -5 * time.Hour, 11 * time.Hour},
		{14 * time.Hour}, {-14 * time.Hour}, {2 * 24 * time.Hour, -2 * 24 * time.Hour}, {300 * 24 * time.Hour},
		{300 * 24 * time.Hour, -300 * 24 * time.Hour},
	} {
		w := open(t, t.TempDir())
		s := w.signer(t)
		var sig *dns.RRSIG
		var epoch uint32
		off := time.Duration(0) // difference between the node's clock and the validator's clock
		look := func() {
			t.Helper()
			if sig == nil || epoch != s.Epoch() {
				records, _, err := s.Sign(set)
				if err != nil {
					t.Fatal(err)
				}
				sig, epoch = unpackSignature(t, "app.gslb.test.", 30, records[0]), s.Epoch()
			}
			clocks := []time.Time{w.time}
			if off.Abs() <= 11*time.Hour {
				clocks = append(clocks, w.time.Add(-off))
			}
			for _, now := range clocks {
				if !sig.ValidityPeriod(now.Add(-margin)) || !sig.ValidityPeriod(now.Add(margin)) {
					t.Errorf("%v: by a clock at %v a signature from %d to %d", jumps, now, sig.Inception, sig.Expiration)
				}
			}
		}
		look()
		for _, jump := range jumps {
			w.time = w.time.Add(time.Second + jump)
			off += jump
			w.CheckClock()
			look()    // signatures from before the jump
			sig = nil // signatures from after the jump
			look()
		}
	}
}

// Fault 16.
func TestOpen_NamesADamagedFile(t *testing.T) {
	dir := t.TempDir()
	key := open(t, dir).signer(t).active[0]
	path := filepath.Join(dir, key.FileName()+privateEnding)
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	z, err := Open(Options{Dir: dir, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if err := z.Damage(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("damage %v", err)
	}
}

func TestSigner_FailsWithoutAPlaceForTheKey(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "keys"))
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Signer(apex); err == nil || !strings.Contains(err.Error(), apex) {
		t.Errorf("error %v", err)
	}
}

func TestSigner_WhatCannotBeSignedIsCountedAndNothingIsReturned(t *testing.T) {
	w := open(t, t.TempDir())
	s := w.signer(t)
	broken := *s.active[0]
	broken.private = brokenSecret{broken.private}
	s.active = append([]*Key{s.active[0]}, &broken)
	set := zone.RRset{Owner: s.name, Type: dns.TypeA, TTL: 60, RData: [][]byte{{192, 0, 2, 1}}}
	if records, _, err := s.Sign(set); err == nil || records != nil {
		t.Errorf("it signs: %v", records)
	}
	if !w.Failing() {
		t.Error("a failure of this moment is not told")
	}
	if failures, made := testutil.ToFloat64(w.metrics.failures), testutil.ToFloat64(w.metrics.signatures); failures != 1 ||
		made != 0 {
		t.Errorf("%v failures and %v signatures are counted, want 1 and 0", failures, made)
	}
}

// brokenSecret cannot sign.
type brokenSecret struct{ secret }

func (brokenSecret) sign([]byte) ([]byte, error) { return nil, errSignature }
