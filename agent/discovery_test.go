package agent // inside: no program shows what is read and not yet reported

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/shared/settings"
)

// finder is a discovery of the files in one directory.
type finder struct {
	*discovery
	t   *testing.T
	dir string
	log *bytes.Buffer
}

func newFinder(t *testing.T, dir string) *finder {
	c := config.Default()
	c.Agent.Identity.Region, c.Agent.DrainTime = "eu", 30*time.Second
	c.Agent.Identity.ServiceTokens = map[string]settings.Secret{"app.example.com": "token"}
	check := config.HealthCheck{}
	settings.SetDefaults(&check)
	check.Type = "tcp"
	settings.Inspect(func(r *settings.Report) { check.Validate(r, "health_check") })
	c.Agent.BackendsFrom = []config.BackendsFrom{{
		File: filepath.Join(dir, "*.yaml"), Service: "app.example.com", HealthCheck: &check,
	}}
	log := &bytes.Buffer{}
	f := &finder{newDiscovery(config.Resolver{}, zerolog.New(log)), t, dir, log}
	f.setConfig(c)
	return f
}

// write replaces a file atomically, as tools do.
func (f *finder) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		f.t.Fatal(err)
	}
}

// twice reads the directory twice, which is required to accept or remove a file.
func (f *finder) twice() { f.readChanged(false); f.readChanged(false) }

// want checks the last octets of the addresses, and the number of draining addresses.
func (f *finder) want(octets string, draining int) {
	f.t.Helper()
	all, drained := f.allBackends()
	var got []string
	for _, b := range all {
		a := b.Address.As4()
		got = append(got, fmt.Sprint(a[3]))
	}
	if strings.Join(got, " ") != octets || len(drained) != draining {
		f.t.Errorf("%q with %d draining, want %q with %d; log %s", got, len(drained), octets, draining, f.log)
	}
}

func targets(octets ...int) string {
	var list []string
	for _, n := range octets {
		list = append(list, fmt.Sprintf("'192.0.2.%d:80'", n))
	}
	return "- targets: [" + strings.Join(list, ", ") + "]\n"
}

func TestDiscovery_AFileCountsAsAWholeOrNotAtAll(t *testing.T) {
	f := newFinder(t, t.TempDir())
	f.write("a.yaml", targets(1, 2))
	if f.readChanged(false) {
		t.Error("a file counts that may be half written")
	}
	f.twice()
	f.want("1 2", 0)
	for _, wrong := range []string{"", targets(1, 2, 3)[:30], targets(4) + "  lables: {}\n", targets(5, 5)} {
		f.write("a.yaml", wrong)
		f.twice()
		f.want("1 2", 0)
	}
	f.log.Reset()
	f.twice()
	if f.log.Len() > 0 {
		t.Errorf("told again: %s", f.log)
	}
	f.write("a.yaml", targets(2))
	f.twice()
	f.want("2 1", 1)
	if !strings.Contains(f.log.String(), "backends is valid") {
		t.Errorf("%s", f.log)
	}
}

// A reload during a write of a file keeps the previous content of the file.
func TestDiscovery_AReloadTakesNoFileThatIsBeingWritten(t *testing.T) {
	f := newFinder(t, t.TempDir())
	f.write("a.yaml", targets(1, 2))
	f.twice()
	f.write("a.yaml", targets(1))
	f.setConfig(f.config)
	f.want("1 2", 0)
	f.write("a.yaml", targets(1, 2, 3))
	f.twice()
	f.want("1 2 3", 0)
}

// The log lines about files that appear, disappear and change continuously are limited.
func TestDiscovery_WhatFlapsIsToldSomeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFinder(t, t.TempDir())
		for range 300 { // of half a second
			f.write("a.yaml", targets(1))
			f.write("b.yaml", targets(2))
			f.twice()
			f.write("a.yaml", "wrong")
			if err := os.Remove(filepath.Join(f.dir, "b.yaml")); err != nil {
				t.Fatal(err)
			}
			f.twice()
			time.Sleep(time.Second)
		}
		if lines := strings.Count(f.log.String(), "\n"); lines != 16 || strings.Count(f.log.String(), "changes often") != 2 {
			t.Errorf("%d lines:\n%s", lines, f.log)
		}
		f.want("1 2", 1)
		time.Sleep(10 * time.Minute)
		f.twice()
		if !strings.Contains(f.log.String()[strings.LastIndex(f.log.String(), "changes often"):], "is invalid") {
			t.Errorf("how it is in the end is not told: %s", f.log)
		}
	})
}

func TestDiscovery_WhatVanishesDrainsAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFinder(t, t.TempDir())
		f.write("a.yaml", targets(1))
		f.write("b.yaml", targets(2))
		f.twice()
		if err := os.Remove(filepath.Join(f.dir, "a.yaml")); err != nil {
			t.Fatal(err)
		}
		f.readChanged(false)
		f.want("1 2", 0) // an editor may be about to write it
		f.readChanged(false)
		f.want("2 1", 1)
		time.Sleep(20 * time.Second)
		f.write("c.yaml", targets(1))
		f.twice()
		f.want("2 1", 0)
		f.write("c.yaml", "[]")
		f.twice()
		f.want("2 1", 1)
		time.Sleep(30 * time.Second)
		if !f.readChanged(false) {
			t.Error("a drain that is over is no change")
		}
		f.want("2", 0)
	})
}

func TestDiscovery_LinksAreFollowedToWhatTheyNameNow(t *testing.T) {
	dir := t.TempDir() // as Kubernetes lays out a ConfigMap
	for i, text := range []string{targets(1), targets(2)} {
		at := filepath.Join(dir, fmt.Sprintf("..%d", i))
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "a.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, at string) {
		_ = os.Remove(filepath.Join(dir, at+".new"))
		if err := os.Symlink(to, filepath.Join(dir, at+".new")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, at+".new"), filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	link("..0", "..data")
	link("..data/a.yaml", "a.yaml")
	f := newFinder(t, dir)
	f.want("1", 0) // at once at the start
	link("..1", "..data")
	f.twice()
	f.want("2 1", 1)
}

func TestDiscovery_FilesGoTogether(t *testing.T) {
	f := newFinder(t, t.TempDir())
	f.write("a.yaml", targets(1))
	f.write("b.yaml", targets(2))
	f.twice()
	f.write("a.yaml", targets(2)) // which b still has
	f.twice()
	f.want("1 2", 0)
	f.write("b.yaml", targets(1))
	f.twice()
	f.want("1 2", 0) // neither may go first
	f.write("b.yaml", targets(3))
	f.twice()
	f.want("2 3 1", 1)
	many := make([]int, 63)
	for i := range many {
		many[i] = 10 + i
	}
	f.write("c.yaml", targets(many...))
	f.twice()
	f.want("2 3 1", 1)
	if !strings.Contains(f.log.String(), "has 65 entries") {
		t.Errorf("%s", f.log)
	}
	f.write("c.yaml", targets(many[:62]...))
	f.twice()
	if all, drained := f.allBackends(); len(all) != 64 || len(drained) != 0 {
		t.Errorf("%d backends, %d of them draining", len(all), len(drained))
	}
}

func TestDiscovery_NamesThatFlapAreForgotten(t *testing.T) {
	f := newFinder(t, t.TempDir())
	for round := range 2 {
		for i := range maxFiles + 10 {
			f.write(fmt.Sprintf("%d-%d.yaml", round, i), targets(i%250+1))
		}
		f.twice()
		if err := os.Remove(filepath.Join(f.dir, "0-0.yaml")); err != nil && round == 0 {
			t.Fatal(err)
		}
	}
	f.twice()
	if all, _ := f.allBackends(); len(f.files) > maxFiles || len(f.leaving) > 64 || len(all) > 64 {
		t.Errorf("%d files, %d backends, %d leave", len(f.files), len(all), len(f.leaving))
	}
	if !strings.Contains(f.log.String(), "more than the maximum number of files") {
		t.Error("that there are too many files is not told")
	}
}

// The known files are still read if there is one file too many, even if this file is first in the order of names.
func TestDiscovery_OneFileTooManyKeepsNoneFromBeingRead(t *testing.T) {
	f := newFinder(t, t.TempDir())
	for i := range maxFiles {
		f.write(fmt.Sprintf("b%03d.yaml", i), targets(i%60+1))
	}
	f.twice()
	f.write("a.yaml", targets(100))
	f.write("b000.yaml", targets(77))
	f.twice()
	all, _ := f.allBackends()
	if !slices.ContainsFunc(all, func(b monitor.Backend) bool { return b.Address.String() == "192.0.2.77" }) {
		t.Errorf("what a known file says now is not read: %s", f.log)
	}
}

// An invalid file does not prevent the start of the agent: it causes a warning with a line for each fault.
func TestDiscovery_CautionsTellEveryFault(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.yaml")
	for name, text := range map[string]string{
		"b.yaml": "- {address: 192.0.2.1, port: 80, wieght: 3}\n- {address: 192.0.2.1, port: 99999}",
		"agent.yaml": "mode: agent\nagent:\n  identity: {region: eu, service_token: a-token-of-thirty-two-characters-ok}\n" +
			"  gossip: {encryption_key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=,\n" +
			"    overwatch_nodes: ['n.example.com:7946']}\n" +
			"  backends_from: [{file: " + dir + "/b.yaml, service: a.example.com, health_check: {type: tcp}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := Cautions(path); len(got) != 2 || !strings.Contains(got[0], "b.yaml:1:34: backends[0].wieght") ||
		!strings.Contains(got[1], "b.yaml:2:30: backends[1].port") {
		t.Errorf("%q", got)
	}
}
