package dnssec // inside: it uses privateEnding, publicEnding and recordPath

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// another creates a key with an unused tag.
func (w *world) another(t *testing.T) *Key {
	t.Helper()
	for {
		k := mustGenerate(t, start)
		if _, err := os.Stat(filepath.Join(w.dir, k.FileName()+privateEnding)); err != nil {
			return k
		}
	}
}

// put writes the files of a key, as an operator's tool does.
func (w *world) put(t *testing.T, k *Key) {
	t.Helper()
	private, err := k.privateText()
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(w.dir, k.FileName())
	for path, content := range map[string][]byte{base + privateEnding: private, base + publicEnding: k.publicText()} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// drop removes files of a key.
func (w *world) drop(t *testing.T, k *Key, endings ...string) {
	t.Helper()
	for _, ending := range endings {
		if err := os.Remove(filepath.Join(w.dir, k.FileName()+ending)); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) reread(t *testing.T) *Signer {
	t.Helper()
	before := w.signer(t)
	altered, err := w.ReloadKeys()
	if err != nil {
		t.Fatal(err)
	}
	now := w.signer(t)
	if altered != (now != before) {
		t.Errorf("it says %t of whether the keys are others, and the signer is another one: %t", altered, now != before)
	}
	return now
}

// A reload and a start treat changed key files equally: a new key signs in addition to the old key, a deleted key is
// withdrawn permanently, and changed times take effect.
func TestReread_TakesKeysThatCameAndWithdrawsThoseThatWent(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	first := w.signer(t)
	if w.reread(t) != first {
		t.Error("nothing changed, and there is another signer, whose signatures all have to be made")
	}
	older, second := first.active[0], w.another(t)
	w.put(t, second)
	both := w.reread(t)
	if len(both.keys) != 2 || len(both.active) != 2 || !both.signsWith(older) {
		t.Fatalf("with a second key %d are published and %d sign, and the first is another one: %v", len(both.keys),
			len(both.active), !both.signsWith(older))
	}

	w.time = w.time.Add(2 * DefaultKeyTTL)
	older.inactive = w.time.Add(-time.Minute)
	w.put(t, older)
	older.inactive = time.Time{}
	if s := w.reread(t); len(s.keys) != 2 || len(s.active) != 1 || s.active[0].Tag() != second.Tag() {
		t.Errorf("with the first retired by its file, %d are published and %d sign", len(s.keys), len(s.active))
	}

	w.drop(t, older, publicEnding, privateEnding)
	if s := w.reread(t); len(s.keys) != 1 || s.keys[0].Tag() != second.Tag() {
		t.Errorf("after the first was taken away %d are published", len(s.keys))
	}
	if !w.keyring.recordOf(apex).withdrawn(older.public) ||
		!open(t, w.dir).keyring.recordOf(apex).withdrawn(older.public) {
		t.Error("it would come back from another node")
	}
	w.put(t, older)
	if s := w.reread(t); len(s.keys) != 2 {
		t.Errorf("its files came back, and %d are published", len(s.keys))
	}
}

// A reload returns the error that a start would return, and all keys and records stay unchanged.
func TestReread_WhatCannotBeUsedIsToldByNameAndChangesNothing(t *testing.T) {
	t.Parallel()
	for what, damage := range map[string]func(t *testing.T, w *world, k *Key) (file string){
		"a half that is missing": func(t *testing.T, w *world, k *Key) string {
			w.drop(t, k, publicEnding)
			return k.FileName() + publicEnding
		},
		"a file that others can read": func(t *testing.T, w *world, k *Key) string {
			if err := os.Chmod(filepath.Join(w.dir, k.FileName()+privateEnding), 0o644); err != nil {
				t.Fatal(err)
			}
			return k.FileName() + privateEnding
		},
		"a file that is cut off": func(t *testing.T, w *world, k *Key) string {
			if err := os.Truncate(filepath.Join(w.dir, k.FileName()+privateEnding), 60); err != nil {
				t.Fatal(err)
			}
			return k.FileName() + privateEnding
		},
		"too many keys": func(t *testing.T, w *world, _ *Key) string {
			for range MaxKeys - 1 {
				w.put(t, w.another(t))
			}
			return apex
		},
	} {
		w := open(t, t.TempDir())
		first := w.signer(t).active[0]
		second := w.another(t)
		w.put(t, second)
		both := w.reread(t)
		w.drop(t, first, publicEnding, privateEnding) // otherwise withdrawn
		if what == "too many keys" {
			w.put(t, first)
		}
		record, err := os.ReadFile(recordPath(w.dir, apex))
		if err != nil {
			t.Fatal(err)
		}
		file := damage(t, w, second)
		if _, err := w.ReloadKeys(); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", what, err)
		}
		if w.signer(t) != both {
			t.Errorf("%s: the keys changed", what)
		}
		if now, err := os.ReadFile(recordPath(w.dir, apex)); err != nil || !slices.Equal(now, record) {
			t.Errorf("%s: the record changed to %s (%v)", what, now, err)
		}
	}
}

// If all key files were deleted, the zone retains its keys. It does not become unsigned or create a key.
func TestReread_AZoneWhoseFilesAreAllGoneKeepsItsKeys(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	first := w.signer(t)
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if w.reread(t) != first {
			t.Error("another signer")
		}
	}
	if !slices.Equal(w.keyring.Lost(apex), nil) || w.KeysLost() {
		t.Error("the keys that it has are told as lost")
	}
	w.put(t, first.active[0])
	if w.reread(t) != first {
		t.Error("another signer after the files came back")
	}
}

// A retired key signs until its successor has been published for the TTL of DNSKEY records. A reload does not change
// this time.
func TestReread_ARetiredKeySignsUntilTheNextIsKnown(t *testing.T) {
	t.Parallel()
	w := open(t, t.TempDir())
	retired := *w.signer(t).active[0]
	w.put(t, w.another(t))
	retired.inactive = start
	w.put(t, &retired)
	if s := w.reread(t); len(s.keys) != 2 || len(s.active) != 2 {
		t.Errorf("at once %d are published and %d sign", len(s.keys), len(s.active))
	}
	w.time = w.time.Add(DefaultKeyTTL)
	if s := w.reread(t); len(s.active) != 1 || s.active[0].Tag() == retired.Tag() {
		t.Errorf("after a TTL %d sign", len(s.active))
	}
}
