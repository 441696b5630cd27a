package faults_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// damages are the ways to damage the content of a file, by name.
var damages = map[string]func(content []byte) []byte{
	"truncated":   func(content []byte) []byte { return content[:len(content)/3] },
	"empty":       func([]byte) []byte { return nil },
	"garbage":     func(content []byte) []byte { _, _ = rand.Read(content); return content },
	"bit-flipped": func(content []byte) []byte { flip(content); return content },
}

// flip changes a bit of every 61st octet.
func flip(content []byte) {
	for i := 0; i < len(content); i += 61 {
		content[i] ^= 1 << (i % 8)
	}
}

// spoil replaces the content of a file.
func spoil(t *testing.T, path string, damage func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, damage(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// After any damage of its store, a killed node answers within a second of its start as before. It uses the verified
// copy: pins, names of the API and agent reports. It renames the damaged file and reports this in log and metric. The
// following start is normal. Without a copy it starts with an empty store, and reports this.
//
// Fault 15: The store is truncated, damaged, empty, locked or read-only. The node starts with the verified copy, or
// reports the path.
func TestStore_ADamagedOneIsSetAsideAndTheCopyAnswers(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	store := filepath.Join(n.File.DataDir, "gslb.db")
	pins := s.Pins(t, n)
	testbed.Saved() // what agents said; with what comes now it is copied
	if _, err := n.Client.CreateDomain(t.Context(),
		api.DomainChange{"name": testbed.CreatedName, "regions": []string{"eu"}}); err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, testbed.StartBound, "the copy to have it all", func(context.Context) error {
		content, err := os.ReadFile(store + ".copy")
		if err == nil && !bytes.Contains(content, []byte(testbed.CreatedName)) {
			err = errors.New("it is of before")
		}
		return err
	})
	aside := func() int {
		files, err := filepath.Glob(store + ".damaged-*")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	restart := func(what string, damage func()) time.Time {
		t.Helper()
		testbed.Kill(t, n)
		damage()
		s.Story.Event("the store is %s", what)
		started := time.Now()
		testbed.Start(t, n)
		return started
	}
	for _, what := range slices.Sorted(maps.Keys(damages)) {
		before := aside()
		started := restart(what, func() { spoil(t, store, damages[what]) })
		s.AnswersAgain(t, n, started)
		if r := testbed.Exchange(t, "udp", n, testbed.CreatedName, dns.TypeA); r.Rcode == dns.RcodeNameError {
			t.Errorf("%s: the name that the API created is gone", what)
		}
		s.Ready(t, n)
		if now := s.Pins(t, n); !maps.Equal(now, pins) {
			t.Errorf("%s: pins %v, before %v", what, now, pins)
		}
		if recovered := testbed.Metric(t, n, "gslb_store_recovered"); recovered != 1 || aside() != before+1 {
			t.Errorf("%s: gslb_store_recovered is %v, and %d files were set aside", what, recovered, aside()-before)
		}
		testbed.Tells(t, n.Unit, store, "copy", "took its place")
	}
	s.AnswersAgain(t, n, restart("whole", func() {}))
	s.Ready(t, n)
	if recovered := testbed.Metric(t, n, "gslb_store_recovered"); recovered != 0 {
		t.Errorf("it was healed, and gslb_store_recovered is %v", recovered)
	}

	began := restart("damaged, and its copy too", func() {
		spoil(t, store, damages["garbage"])
		spoil(t, store+".copy", damages["truncated"])
	})
	s.Ready(t, n)
	for _, b := range s.Backends {
		s.Status(t, n, b, testbed.ReconnectBound, testbed.WantSound)
		s.Answered(t, n, b.At.Addr(), began, 5*time.Second)
	}
	if recovered := testbed.Metric(t, n, "gslb_store_recovered"); recovered != 1 {
		t.Errorf("without store and copy gslb_store_recovered is %v", recovered)
	}
	if now := s.Pins(t, n); !maps.Equal(now, pins) {
		t.Errorf("the agents came back as %v, they were %v", now, pins)
	}
}

// A node that cannot write its store exits with an error that contains the path, and does not change existing data.
//
// Fault 15.
func TestStartup_AReadOnlyStoreIsToldByItsPath(t *testing.T) {
	if os.Geteuid() != 0 {
		testbed.Missing(t, "a disk of its own needs root")
	}
	disk := testbed.SmallDisk(t)
	s := testbed.NewSite(t, 1, 0)
	n := s.Nodes[0]
	n.File.DataDir = filepath.Join(disk, "data")
	testbed.Start(t, n)
	s.Ready(t, n)
	testbed.Stop(t, n)
	before := contents(t, n.File.DataDir)
	if output, err := exec.Command("mount", "-o", "remount,ro", disk).CombinedOutput(); err != nil {
		testbed.Missing(t, fmt.Sprintf("mounting it read-only: %v: %s", err, output))
	}
	ends(t, s, n, n.Unit, n.File.DataDir, "read-only")
	if now := contents(t, n.File.DataDir); !maps.Equal(now, before) {
		t.Errorf("there is %q, before there was %q", slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(before)))
	}
}

// contents returns the content of each file below a directory, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Without a peer: after any damage of a key's files, a running node continues with its current key, even after a
// reload, and its signatures are valid. The next start fails with the name of the damaged file. It creates no key and
// changes no file. With the restored files, the node works as before.
//
// Fault 16: A file of a signing key is damaged or missing. A node never creates a new key without a report.
func TestDNSSEC_ADamagedKeyStopsTheStartByName(t *testing.T) {
	t.Parallel()
	signing, n := signed.Site(t, "nsec")
	s := signing
	ds := signed.DS(t, n)
	secure := signed.Unbound(t, n, ds.DSRecord)
	public, private := "", ""
	for _, file := range signed.KeyFiles(t, n, testbed.ZoneName) {
		if strings.HasSuffix(file, ".private") {
			private = file
		} else {
			public = file
		}
	}
	dir := filepath.Dir(public)
	whole := contents(t, dir)
	if public == "" || private == "" || len(whole) < 4 {
		t.Fatalf("files of two zones' keys: %q", slices.Sorted(maps.Keys(whole)))
	}
	for _, c := range []struct {
		what, file string
		damage     func(path string) error
	}{
		{"half of it is missing", public, os.Remove},
		{"the other half is missing", private, os.Remove},
		{"is empty", private, func(path string) error { return os.Truncate(path, 0) }},
		{"is empty too", public, func(path string) error { return os.Truncate(path, 0) }},
		{"is cut off", private, func(path string) error { return os.Truncate(path, 60) }},
		{"is cut off too", public, func(path string) error { return os.Truncate(path, 60) }},
		{"can be read by others", private, func(path string) error { return os.Chmod(path, 0o644) }},
		{"has other bits", private, func(path string) error { spoil(t, path, damages["bit-flipped"]); return nil }},
		{"has other bits too", public, func(path string) error { spoil(t, path, damages["bit-flipped"]); return nil }},
	} {
		s.Story.Event("%s: %s", filepath.Base(c.file), c.what)
		if err := c.damage(c.file); err != nil {
			t.Fatal(err)
		}
		damaged := contents(t, dir)
		if n.Running() {
			testbed.HangUp(t, n)
			if _, err := secure.Ask(testbed.AppName, dns.TypeSOA); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			testbed.Stop(t, n)
		}
		started := time.Now()
		ends(t, s, n, n.Unit)
		if !slices.ContainsFunc(n.Output(), func(l harness.Line) bool {
			return l.At.After(started) &&
				strings.Contains(l.Text, c.file)
		}) {
			t.Errorf("%s: nothing that it says names %s", c.what, c.file)
		}
		if now := contents(t, dir); !maps.Equal(now, damaged) {
			t.Errorf("%s: the start changed files: %q", c.what, slices.Sorted(maps.Keys(now)))
		}
		for path, content := range whole {
			if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.StartNodes(t, n)
	if now := signed.DS(t, n); now != ds {
		t.Errorf("the DS is %v, it was %v", now, ds)
	}
	if _, err := secure.Ask(testbed.AppName, dns.TypeSOA); err != nil {
		t.Error(err)
	}
}
