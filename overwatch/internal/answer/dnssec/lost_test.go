package dnssec // inside: it uses asideEnding, privateEnding and publicEnding

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Fault 16.
func TestOpen_LostKeysAreNoSilentNewKey(t *testing.T) {
	a, b := apart(t)
	lost := a.only(t)
	b.ask(t, a)
	for _, ending := range []string{publicEnding, privateEnding} {
		if err := os.Remove(filepath.Join(a.dir, lost.FileName()+ending)); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, a.dir)
	again.time = a.time
	again.SetExpected([]string{apex})
	if got := again.keyring.Lost(apex); !slices.Equal(got, []uint16{lost.Tag()}) ||
		!slices.Equal(again.Missing(), []string{apex}) {
		t.Errorf("lost %v, missing %v", got, again.Missing())
	}
	again.ask(t, b)
	if !slices.Contains(again.tags(), lost.Tag()) {
		t.Error("the peer's copy was not imported")
	}
	// Without a peer's copy, the node creates a key; it still imports a later copy.
	for _, k := range again.Keys() {
		for _, ending := range []string{publicEnding, privateEnding} {
			if err := os.Remove(filepath.Join(a.dir, k.FileName()+ending)); err != nil {
				t.Fatal(err)
			}
		}
	}
	alone := open(t, a.dir)
	alone.time = a.time
	alone.signer(t)
	fresh := alone.only(t)
	if a.KeysLost() || !alone.KeysLost() {
		t.Errorf("keys lost: %v where none were, %v where they were", a.KeysLost(), alone.KeysLost())
	}
	if x, y := a.lostMetric(t), alone.lostMetric(t); x != 0 || y != 1 {
		t.Errorf("gslb_dnssec_keys_lost is %v where none were, %v where they were", x, y)
	}
	alone = alone.restart(t)
	if !alone.KeysLost() {
		t.Error("a restart forgot that the keys were lost")
	}
	if got := alone.lostMetric(t); got != 1 {
		t.Errorf("gslb_dnssec_keys_lost is %v after a restart", got)
	}
	if later := alone.keyring.lostSince(apex, alone.now()); later {
		t.Error("the loss counts for ever")
	}
	alone.ask(t, b)
	if alone.KeysLost() {
		t.Error("the keys are lost although a copy came back")
	}
	if got := alone.lostMetric(t); got != 0 {
		t.Errorf("gslb_dnssec_keys_lost is %v although a copy came back", got)
	}
	if tags := alone.tags(); len(tags) != 3 || !slices.Contains(tags, lost.Tag()) || !slices.Contains(tags, fresh.Tag()) {
		t.Errorf("keys %v", tags)
	}
}

// Fault 16.
func TestMerge_APeersCopyMendsDamagedFiles(t *testing.T) {
	a, b := apart(t)
	key := a.only(t)
	b.ask(t, a)
	path := filepath.Join(a.dir, key.FileName()+privateEnding)
	for name, damage := range map[string]func() error{
		"truncated": func() error { return os.Truncate(path, 20) },
		"empty":     func() error { return os.Truncate(path, 0) },
		"missing":   func() error { return os.Remove(path) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		again := open(t, a.dir)
		again.time = a.time
		again.SetExpected([]string{apex})
		if again.Damage() == nil || len(again.Missing()) != 1 {
			t.Fatalf("%s: no damage", name)
		}
		again.ask(t, b)
		if err := again.Damage(); err != nil || !slices.Contains(again.tags(), key.Tag()) {
			t.Errorf("%s: keys %v, damage %v", name, again.tags(), err)
		}
		if _, err := os.Stat(path + asideEnding); err != nil && name != "missing" {
			t.Errorf("%s: %v", name, err)
		}
		if got := open(t, a.dir); got.Damage() != nil {
			t.Errorf("%s: damaged after the restart", name)
		}
	}
}

func TestRecord_ADamagedOneIsMadeAgain(t *testing.T) {
	a, _ := apart(t)
	key := a.only(t)
	for _, content := range []string{"", "{", `{"keys":3}`, strings.Repeat(" ", maxRecord+1)} {
		if err := os.WriteFile(recordPath(a.dir, apex), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(t, a.dir)
		again.signer(t)
		again.want(t, content, key)
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(
		`{"keys":[{"key_tag":1,"public_key":"AAAA","published":"2026-01-01T00:00:00Z","withdrawn":"2026-01-01T00:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if r, err := parseRecord(content); err == nil && len(r.Entries) > maxWithdrawn+MaxKeys {
			t.Error("more than is kept")
		}
	})
}

// lostMetric returns gslb_dnssec_keys_lost of the zone.
func (w *world) lostMetric(t *testing.T) float64 {
	t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "gslb_dnssec_keys_lost" && len(f.GetMetric()) == 1 &&
			f.GetMetric()[0].GetLabel()[0].GetValue() == apex {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no gslb_dnssec_keys_lost of the zone")
	return 0
}
