package store // inside: it uses bucketPins, copyName and fileName

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// filled creates a closed store with pins on several pages, and a copy with one pin less.
func filled(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	putPins(t, s, 59)
	if err := s.copyIfChanged(); err != nil {
		t.Fatal(err)
	}
	if err := s.PutPin(testPin("the last")); err != nil {
		t.Fatal(err)
	}
	<-s.changed // so that closing makes no copy
	closed(t, s)
	return dir
}

// Fault 15.
func TestOpen_DamagedFileIsSetAsideAndTheCopyTakesItsPlace(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"truncated to nothing":      truncate(0),
		"truncated in the header":   truncate(100),
		"truncated in the metas":    truncate(5000),
		"truncated in the data":     truncate(4*4096 + 77),
		"truncated by a page":       truncate(-1),
		"garbage":                   overwrite(0, bytes.Repeat([]byte("garbage\n"), 5000)),
		"text":                      overwrite(0, bytes.Repeat([]byte("mode: overwatch\n"), 800)),
		"both metas zeroed":         overwrite(0, make([]byte, 8192)),
		"all data pages zeroed":     overwrite(8192, make([]byte, 12<<12)),
		"all pages of another kind": overwrite(8192, bytes.Repeat([]byte{0x10}, 12<<12)),
		"missing":                   func(t *testing.T, path string) { remove(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t)
			path := filepath.Join(dir, fileName)
			damage(t, path)
			s := open(t, dir)
			if n := len(loadPins(t, s)); n != 59 {
				t.Errorf("%d pins, the copy has 59", n)
			}
			for _, want := range []string{path, "copy of", "took its place"} {
				if !strings.Contains(s.Recovered(), want) {
					t.Errorf("%q does not say %q", s.Recovered(), want)
				}
			}
			if name != "missing" && len(asides(t, dir)) != 1 {
				t.Errorf("set aside: %v", asides(t, dir))
			}
			putPins(t, s, 1)
			closed(t, s)
			if again := open(t, dir); again.Recovered() != "" {
				t.Errorf("not healed: %s", again.Recovered())
			}
		})
	}
}

// Fault 15.
func TestOpen_DamagedFileAndCopyStartEmptyRatherThanFail(t *testing.T) {
	for name, copyDamage := range map[string]func(t *testing.T, path string){
		"copy damaged": overwrite(8192, make([]byte, 12<<12)),
		"copy missing": func(t *testing.T, path string) { remove(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t)
			truncate(9000)(t, filepath.Join(dir, fileName))
			copyDamage(t, filepath.Join(dir, copyName))
			s := open(t, dir)
			if n := len(loadPins(t, s)); n != 0 {
				t.Errorf("%d pins", n)
			}
			if !strings.Contains(s.Recovered(), "the store is empty now") {
				t.Errorf("recovered: %q", s.Recovered())
			}
			putPins(t, s, 1)
		})
	}
}

// Fault 15.
func TestOpen_MissingFileWithDamagedCopyStartsEmptyAndSaysSo(t *testing.T) {
	dir := filled(t)
	remove(t, filepath.Join(dir, fileName))
	truncate(9000)(t, filepath.Join(dir, copyName))
	s := open(t, dir)
	if !strings.Contains(s.Recovered(), "the store is empty now") || len(asides(t, dir)) != 1 {
		t.Errorf("recovered: %q, set aside: %v", s.Recovered(), asides(t, dir))
	}
}

// Fault 15.
func TestOpen_OneDamagedMetaIsNoLossUnlessTheCopyIsNewer(t *testing.T) {
	for meta := range 2 {
		t.Run(fmt.Sprint(meta), func(t *testing.T) {
			dir := filled(t)
			overwrite(int64(meta)*4096+40, []byte{0xff, 0xff})(t, filepath.Join(dir, fileName))
			s := open(t, dir)
			if n := len(loadPins(t, s)); n < 59 {
				t.Errorf("%d pins", n)
			}
			if s.Recovered() == "" {
				t.Error("nothing is said of the damage")
			}
		})
	}
}

// For every change of an octet, verify finds the change or the change has no effect.
//
// Fault 15.
func TestVerify_FindsEveryChangeThatMatters(t *testing.T) {
	dir := filled(t)
	sound, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	want := contents(t, sound)
	random := rand.New(rand.NewPCG(1, 2))
	found, step := 0, 5 // every field of every structure is hit; all octets take 8 s
	if testing.Short() {
		step = 53
	}
	for i := 0; i < len(sound); i += step {
		changed := bytes.Clone(sound)
		changed[i] ^= 1 << random.IntN(8)
		outcome, err := verify(bytes.NewReader(changed), int64(len(changed)))
		if err != nil || outcome.behind {
			found++
			continue
		}
		if got := contents(t, changed); got != want {
			t.Fatalf("octet %d: contents changed and nobody noticed", i)
		}
	}
	t.Logf("%d changes were found, the others made no difference", found)
}

// bbolt can open and read every file that verify accepts, with the content that verify reads.
//
// Fault 15.
func TestOpen_WhatPassesIsReadAsStored(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, fileName)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		changed := bytes.Clone(sound)
		for range 1 + random.IntN(3) {
			changed[random.IntN(len(changed))] ^= byte(1 + random.IntN(255))
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(loadPins(t, s)); n != 60 && s.Recovered() == "" {
			t.Errorf("%d pins of 60, and nothing is said of it", n)
		}
		closed(t, s)
		remove(t, filepath.Join(dir, fileName))
	}
}

// contents returns the whole content of a file.
func contents(t testing.TB, file []byte) string {
	t.Helper()
	r := bytes.NewReader(file)
	m, _, err := readMetas(r, r.Size())
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	w := walk{r: r, meta: m, seen: make(map[uint64]struct{})}
	err = w.tree(m.root, func(name []byte, _ uint32, value []byte) error {
		return w.bucket(value, func(key []byte, _ uint32, value []byte) error {
			fmt.Fprintf(&all, "%q %q %q\n", name, key, value)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// FuzzVerify changes a small valid file: patch is a list of two octets of position and one of value. With mend, the
// meta pages get correct checksums again, which is impossible by accident. bbolt must not crash on a file that verify
// accepts.
func FuzzVerify(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, fileName)
	small := smallFile(f, path)
	f.Add([]byte{}, false)
	f.Add([]byte{0x08, 0x00, 0x01}, true)
	for at := 0; at < len(small); at += 64 {
		f.Add([]byte{byte(at >> 8), byte(at), 0x7f, byte(at >> 8), byte(at + 1), 0x01}, true)
	}
	f.Fuzz(func(t *testing.T, patch []byte, mend bool) {
		file := bytes.Clone(small)
		for ; len(patch) >= 3; patch = patch[3:] {
			file[(int(patch[0])<<8|int(patch[1]))%len(file)] = patch[2]
		}
		if mend {
			mendMeta(file[pageHeaderSize:])
			mendMeta(file[minPageSize+pageHeaderSize:])
		}
		if _, err := verify(bytes.NewReader(file), int64(len(file))); err != nil {
			if !errors.Is(err, errDamaged) {
				t.Errorf("unexpected kind of error: %v", err)
			}
			return
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := openBolt(path)
		if err != nil {
			t.Fatalf("verify lets pass what bbolt refuses: %v", err)
		}
		defer db.Close()
		s := &Store{db: db, path: path}
		if _, err := s.LoadPins(); err != nil {
			t.Errorf("verify lets pass what cannot be read: %v", err)
		}
		if err := s.update(func(w *writer) { w.putRecord(bucketPins, []byte("new"), []byte("{}")) }); err != nil {
			t.Errorf("verify lets pass what cannot be written: %v", err)
		}
	})
}

// smallFile creates a valid file with pages of 1 KiB.
func smallFile(t testing.TB, path string) []byte {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: minPageSize, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{db: db, path: path, changed: make(chan struct{}, 1)}
	if err := s.fill(db); err != nil {
		t.Fatal(err)
	}
	putPins(t, s, 8)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file[:min(len(file), 1<<16)]
}

func mendMeta(b []byte) {
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	binary.NativeEndian.PutUint64(b[metaSize-8:], sum.Sum64())
}

// verify reads a database with many pages, including branch pages, like a small one.
//
// Fault 15.
func TestVerify_LargeFile(t *testing.T) {
	dir, records := t.TempDir(), 20000
	if testing.Short() {
		records = 3000
	}
	s := open(t, dir)
	for range 3 {
		if err := s.update(func(w *writer) {
			for i := range records {
				w.putRecord(bucketStatuses, fmt.Appendf(nil, "%d", i*7919%records), make([]byte, 100))
			}
			w.putRecord(bucketPins, []byte("long"), make([]byte, 30000)) // needs several pages in a row
		}); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	start := time.Now()
	if _, err := inspect(s.path); err != nil {
		t.Fatal(err)
	}
	t.Logf("verified %d records in %s", records, time.Since(start))
}

func truncate(size int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if size < 0 {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := readMetas(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			size = int64(m.end-1) * int64(m.pageSize)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
}

func overwrite(at int64, with []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt(with, at); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func asides(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.damaged-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
