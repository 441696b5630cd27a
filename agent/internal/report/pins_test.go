package report // inside: it uses errNotKept, errOtherCertificate and openPins

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

func TestPins_TheFirstCertificateStays(t *testing.T) {
	dir := t.TempDir()
	p, err := openPins(dir)
	if err != nil {
		t.Fatal(err)
	}
	first, second := identity.KeyID{1}, identity.KeyID{2}
	if err := p.check("ow:7946", first, "ow-1"); err != nil {
		t.Fatal(err)
	}
	if p, err = openPins(dir); err != nil { // another process
		t.Fatal(err)
	}
	if err := p.check("ow:7946", first, "ow-1"); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "overwatch_pins", "ow:7946")
	if err := p.check("ow:7946", second, "ow-1"); !errors.Is(err, errOtherCertificate) ||
		!strings.Contains(err.Error(), "delete "+file) {
		t.Errorf("another certificate: %v", err)
	}
	if err := p.check("[::1]:7946", second, "ow-1"); err != nil {
		t.Errorf("another node: %v", err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := p.check("ow:7946", second, "ow-1"); err != nil {
		t.Errorf("after the file was deleted: %v", err)
	}
}

// The pin stores the id of the node. A pin of version 0.9.0 has none and gets it with the next Hello.
func TestPins_StoreTheNodeID(t *testing.T) {
	p, err := openPins(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, key := filepath.Join(p.dir, "ow:7946"), identity.KeyID{1}
	if err := os.WriteFile(file, []byte("# pinned by 0.9.0\n"+key.Fingerprint()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := func(id string) {
		t.Helper()
		text, err := os.ReadFile(file)
		if got := p.node("ow:7946"); got != id || err != nil || strings.Count(string(text), "\n") > 4 {
			t.Errorf("node %q, want %q, in %q (%v)", got, id, text, err)
		}
	}
	want("")
	for _, shown := range []struct {
		key      identity.KeyID
		id, want string
	}{{identity.KeyID{2}, "ow-9", ""}, {key, "ow-1", "ow-1"}, {key, "ow-2", "ow-2"}, {identity.KeyID{2}, "ow-9", "ow-2"}} {
		_ = p.check("ow:7946", shown.key, shown.id)
		want(shown.want)
	}
	if err := p.replace("ow:7946", wire.NodeCertificate{NodeID: "ow-3", KeyID: [32]byte{3}}, "ow-4"); err != nil {
		t.Fatal(err)
	}
	want("ow-3")
	if err := p.check("ow:7946", identity.KeyID{3}, "no\nid"); err != nil {
		t.Error(err)
	}
	want("")
}

func TestPins_ADamagedFileIsNoReasonToPinAnew(t *testing.T) {
	p, err := openPins(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	good := identity.KeyID{1}.Fingerprint()
	for _, text := range []string{"", "# only a comment\n", good[:20], good + "0", "sha256:zz" + good[9:],
		strings.Repeat("#\n", 2000) + good} {
		file := filepath.Join(p.dir, "ow:7946")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.check("ow:7946", identity.KeyID{1}, "ow-1"); err == nil || !strings.Contains(err.Error(), "damaged") ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestPins_WhatCannotBeStoredHoldsForTheProcess(t *testing.T) {
	dir := t.TempDir()
	p, err := openPins(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(p.dir); err != nil { // nothing can be written there now, not even by root
		t.Fatal(err)
	}
	if err := p.check("ow:7946", identity.KeyID{1}, "ow-1"); !errors.Is(err, errNotKept) {
		t.Errorf("first use: %v", err)
	}
	if err := p.check("ow:7946", identity.KeyID{2}, "ow-1"); !errors.Is(err, errOtherCertificate) {
		t.Errorf("another certificate: %v", err)
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := p.check("ow:7946", identity.KeyID{1}, "ow-1"); err != nil {
		t.Errorf("after the directory is back: %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "ow:7946")); err != nil {
		t.Error(err)
	}
}

func FuzzReadPin(f *testing.F) {
	f.Add([]byte("# comment\n" + identity.KeyID{1}.Fingerprint() + "\n"))
	f.Add([]byte("sha256:"))
	file := filepath.Join(f.TempDir(), "pin")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		key, _, err := readPin(file)
		if err == nil && !strings.Contains(strings.ToLower(string(text)), key.Fingerprint()) {
			t.Errorf("%q was read as %s", text, key.Fingerprint())
		}
	})
}
