package store // inside: it uses lockName

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The tests in this file need a separate process: they start the test binary again, which then runs a role instead of
// tests.
const (
	partVariable = "GSLB_STORE_TEST_PART"
	dirVariable  = "GSLB_STORE_TEST_DIR"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(dirVariable)
	switch os.Getenv(partVariable) {
	case "writer":
		os.Exit(playWriter(dir))
	case "full disk":
		os.Exit(playFullDisk(dir))
	case "opener":
		s, err := Open(dir, Options{})
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		s.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func part(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), partVariable+"="+name, dirVariable+"="+dir)
	return c
}

// playWriter stores pins without end, and prints the id of each stored pin.
func playWriter(dir string) int {
	s, err := Open(dir, Options{})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("start", len(must(s.LoadPins())))
	for i := 0; ; i++ {
		id := fmt.Sprintf("agent-%d-%d", os.Getpid(), i)
		if err := s.PutPin(testPin(id)); err != nil {
			fmt.Println("error:", err)
			return 1
		}
		fmt.Println(id)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// killsPerStore is the maximum number of kills of one store. Each start reads the whole file, so the time of many kills
// is quadratic.
const killsPerStore = 50

var kills = flag.Int("kills", 0, "number of kills of a writer; 0: 20, or 4 with -short")

// The flag -kills=1000 sets a thousand kills.
//
// Fault 14.
func TestKill_NoAcknowledgedPinIsLost(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	if *kills > 0 {
		rounds = *kills
	}
	for ; rounds > 0 && !t.Failed(); rounds -= killsPerStore {
		killWriters(t, t.TempDir(), min(rounds, killsPerStore))
	}
}

// killWriters kills several writers of a new store one after the other, and then searches for the pins that they
// acknowledged.
func killWriters(t *testing.T, dir string, rounds int) {
	t.Helper()
	acknowledged := make(map[string]bool)
	for round := range rounds {
		c := part(t, "writer", dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			id, isID := strings.CutPrefix(lines.Text(), "agent-")
			if strings.HasPrefix(lines.Text(), "error:") {
				t.Error(lines.Text())
			}
			if isID {
				acknowledged["agent-"+id] = true
			}
			if n == 5+round {
				c.Process.Kill() // what it acknowledges until it is dead still comes through the pipe
			}
		}
		c.Wait()
	}
	s := open(t, dir)
	if s.Recovered() != "" {
		t.Errorf("recovered: %s", s.Recovered())
	}
	for _, p := range loadPins(t, s) {
		delete(acknowledged, p.AgentID)
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged pins are lost: %v", len(acknowledged), acknowledged)
	}
}

// Fault 15.
func TestSecondProcess_IsAClearErrorNamingTheFirst(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	out, err := part(t, "opener", dir).Output()
	if err == nil {
		t.Fatal("the second process got the store")
	}
	for _, want := range []string{dir, "in use by another gslb process", fmt.Sprint(os.Getpid())} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q does not say %q", out, want)
		}
	}
}

// playFullDisk fills the permitted space, and reports the results of a write, of reads, and of a write after space is
// available again.
func playFullDisk(dir string) int {
	signal.Ignore(syscall.SIGXFSZ)
	s := must(Open(dir, Options{}))
	before := len(must(s.LoadPins()))
	size := must(os.Stat(s.path)).Size()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	tight := syscall.Rlimit{Cur: uint64(size), Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
		panic(err)
	}
	big := testPin("big")
	big.CertificateDER = make([]byte, 2*size)
	if s.Failing() {
		fmt.Println("it fails before anything did")
		return 1
	}
	for range 3 {
		if err := s.PutPin(big); !errors.Is(err, ErrNotDurable) {
			fmt.Println("writing to a full disk:", err)
			return 1
		}
	}
	if err := s.PutPin(testPin("small enough")); err != nil {
		fmt.Println("writing what fits:", err)
		return 1
	}
	if s.probe(); !s.Failing() {
		fmt.Println("there is no room for much, and it does not fail")
		return 1
	}
	if after := len(must(s.LoadPins())); after != before+1 {
		fmt.Println("pins before and after:", before, after)
		return 1
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	if s.probe(); s.Failing() {
		fmt.Println("there is room, and it fails")
		return 1
	}
	if err := errors.Join(s.PutPin(big), s.Close()); err != nil {
		fmt.Println("writing when there is room again:", err)
		return 1
	}
	return 0
}

// Fault 13.
func TestFullDisk_RefusesTheWriteAndNothingElse(t *testing.T) {
	dir := filled(t)
	if out, err := part(t, "full disk", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := open(t, dir)
	if n := len(loadPins(t, s)); n != 62 || s.Recovered() != "" {
		t.Errorf("%d pins, want 62; recovered: %q", n, s.Recovered())
	}
}

// asNobody runs the process without the permissions of root, because root ignores file permissions.
func asNobody(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		self, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		c.Path = filepath.Join(publicDir(t), "store.test") // go test's own directory is for root only
		if err := os.WriteFile(c.Path, self, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// publicDir creates a directory that every user can access.
func publicDir(t *testing.T) string {
	t.Helper()
	// t.TempDir is in a directory that only the owner can access.
	dir, err := os.MkdirTemp("/tmp", "gslb-store-test-*") //nolint:usetesting // for others too
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Fault 15.
func TestOpen_WhatIsNotWritableIsAClearErrorAndNothingIsSetAside(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"directory read-only": func(t *testing.T, dir string) { chmod(t, dir, 0o555) },
		"directory missing, parent read-only": func(t *testing.T, dir string) {
			chmod(t, filepath.Dir(dir), 0o555)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		},
		"store read-only": func(t *testing.T, dir string) {
			s := open(t, dir)
			putPins(t, s, 1)
			closed(t, s)
			chmod(t, s.path, 0o444)
			chmod(t, filepath.Join(dir, lockName), 0o666)
			chmod(t, dir, 0o777)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(publicDir(t), "data")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			prepare(t, dir)
			c := part(t, "opener", dir)
			asNobody(t, c)
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), dir) || !strings.Contains(string(out), "this user (uid") ||
				strings.Contains(string(out), "panic") {
				t.Errorf("%v: %s", err, out)
			}
			if a := asides(t, dir); len(a) != 0 {
				t.Errorf("set aside: %v", a)
			}
		})
	}
}

func chmod(t testing.TB, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
