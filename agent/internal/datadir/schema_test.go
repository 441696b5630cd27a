//go:build unix

package datadir // inside: it uses keptName, schema and schemaFile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/shared/durable"
)

const (
	thisProgram  = "gslb-agent 1.2.3"
	partVariable = "GSLB_DATADIR_TEST_PART"
	dirVariable  = "GSLB_DATADIR_TEST_DIR"
)

// The test binary is started again where a test needs a process of its own.
func TestMain(m *testing.M) {
	dir := os.Getenv(dirVariable)
	switch os.Getenv(partVariable) {
	case "":
		os.Exit(m.Run())
	case "killed step":
		steps[0].apply = func(string) error {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	case "small files only":
		onlySmallFiles()
	}
	d, err := Open(dir, thisProgram)
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	fmt.Println("opened")
	d.Close()
	os.Exit(0)
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

// older holds the files of an agent from before its data directory had a schema: contents by name.
var older = map[string]string{
	"agent.crt": "certificate", "agent.key": strings.Repeat("k", 3000), "agent.epoch": "1700000000000\n",
	"agent.lock": "17\n", "agent.status": "{}",
	"overwatch_pins/192.0.2.1:7946": "sha256:01", "overwatch_pins/[2001:db8::1]:7946": "sha256:02",
}

func olderDirectory(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	if err := os.Mkdir(filepath.Join(path, "overwatch_pins"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range older {
		if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// wantAll compares files with what an older agent left in them.
func wantAll(t *testing.T, path string, names ...string) {
	t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(path, name))
		if err != nil || string(content) != older[name] {
			t.Errorf("%s: %.40q (%v)", name, content, err)
		}
	}
}

var kept = []string{"agent.crt", "agent.key", "agent.epoch", "overwatch_pins/192.0.2.1:7946",
	"overwatch_pins/[2001:db8::1]:7946"}

func opened(t *testing.T, path string) {
	t.Helper()
	d, err := Open(path, thisProgram)
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
}

func TestSteps_LeadToThisSchema(t *testing.T) {
	if len(steps) != schema {
		t.Errorf("%d steps lead to schema %d", len(steps), schema)
	}
}

func TestOpen_ANewDirectorySaysItsSchemaAndKeepsNoCopy(t *testing.T) {
	path := t.TempDir()
	opened(t, path)
	text, err := os.ReadFile(filepath.Join(path, schemaFile))
	if err != nil || string(text) != "schema: 1\nprogram: gslb-agent 1.2.3\n" {
		t.Errorf("%q (%v)", text, err)
	}
	if entries, err := os.ReadDir(path); len(entries) != 2 {
		t.Errorf("%v (%v)", entries, err)
	}
}

func TestOpen_ADirectoryOfBeforeIsConvertedOnceAndKept(t *testing.T) {
	path := olderDirectory(t)
	opened(t, path)
	wantAll(t, path, kept...)
	copied := keptName(path, 0)
	wantAll(t, copied, kept...)
	if _, err := os.Stat(filepath.Join(copied, "agent.lock")); err == nil {
		t.Error("the lock was copied, too")
	}
	for _, name := range append([]string{"."}, kept...) {
		info, err := os.Stat(filepath.Join(copied, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: others can use it: %v (%v)", name, info, err)
		}
	}
	if err := os.WriteFile(filepath.Join(path, "agent.epoch"), []byte("1800000000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened(t, path)
	wantAll(t, copied, "agent.epoch") // the copy is of before the conversion
	for _, place := range Copies(path, "agent.key") {
		if _, err := os.Stat(place); err != nil {
			t.Errorf("the copy of the key: %v", err)
		}
	}
}

func TestOpen_KilledInTheMiddleOfAStepIsDoneByTheNextStart(t *testing.T) {
	path := olderDirectory(t)
	if out, err := part(t, "killed step", path).CombinedOutput(); err == nil || strings.Contains(string(out), "opened") {
		t.Fatalf("%v: %s", err, out)
	}
	if found, err := readSchema(path); found != 0 || err != nil {
		t.Errorf("schema %d (%v)", found, err)
	}
	wantAll(t, path, kept...)
	// And one that was killed while it wrote a copy.
	half := keptName(path, 0) + durable.Unfinished
	if err := os.MkdirAll(filepath.Join(half, "overwatch_pins"), 0o700); err != nil {
		t.Fatal(err)
	}
	opened(t, path)
	wantAll(t, path, kept...)
	wantAll(t, keptName(path, 0), kept...)
	if _, err := os.Stat(half); err == nil {
		t.Error("what was half written is still there")
	}
}

func TestOpen_OnAFullDiskNothingIsChangedUntilThereIsRoom(t *testing.T) {
	path := olderDirectory(t)
	out, err := part(t, "small files only", path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "keeping a copy before it is converted") ||
		!strings.Contains(string(out), "nothing was changed") {
		t.Errorf("%v: %s", err, out)
	}
	wantAll(t, path, kept...)
	if _, err := os.Stat(keptName(path, 0)); err == nil {
		t.Error("there is a copy that cannot be whole")
	}
	opened(t, path)
	wantAll(t, keptName(path, 0), kept...)
}

func TestOpen_SeveralAtOnceConvertOnce(t *testing.T) {
	path := olderDirectory(t)
	parts := make([]*exec.Cmd, 4)
	outputs := make([]bytes.Buffer, len(parts))
	for i := range parts {
		parts[i] = part(t, "open", path)
		parts[i].Stdout = &outputs[i]
		if err := parts[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	won := 0
	for i, c := range parts {
		switch err := c.Wait(); {
		case err == nil:
			won++
		case !strings.Contains(outputs[i].String(), "in use by another agent"):
			t.Errorf("%v: %s", err, outputs[i].String())
		}
	}
	if won == 0 {
		t.Error("nobody could open it")
	}
	wantAll(t, path, kept...)
	wantAll(t, keptName(path, 0), kept...)
}

func TestOpen_ANewerDirectoryIsRefusedWithTheWayOutAndLeftAlone(t *testing.T) {
	path := olderDirectory(t)
	newer := fmt.Sprintf("schema: %d\nprogram: gslb-agent 9.8.7\n", schema+1)
	if err := os.WriteFile(filepath.Join(path, schemaFile), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("has schema %d, and this agent understands up to %d: install gslb-agent 9.8.7 or later", schema+1,
		schema)
	_, err := Open(path, thisProgram)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "copy") {
		t.Errorf("%v", err)
	}
	if err := errors.Join(os.Mkdir(keptName(path, schema), 0o700),
		os.WriteFile(filepath.Join(path, schemaFile), []byte(strings.SplitAfter(newer, "\n")[0]), 0o600)); err != nil {
		t.Fatal(err)
	}
	err = CheckSchema(path)
	if err == nil || !strings.Contains(err.Error(), "install the version that wrote it or later") ||
		!strings.Contains(err.Error(), "cp -a "+keptName(path, schema)+"/. "+path+"/") {
		t.Errorf("%v", err)
	}
	wantAll(t, path, kept...)
	if d, err := Open(path, thisProgram); err == nil {
		d.Close()
		t.Error("opened")
	}
}

func TestOpen_ADamagedSchemaIsAClearError(t *testing.T) {
	for _, text := range []string{"", "\n", "schema: \n", "schema: 0\n", "schema: -1\n", "schema: 1x\n", "Schema: 1\n",
		"schema: 99999999999999999999\n", strings.Repeat("x", 1<<20)} {
		path := t.TempDir()
		if err := os.WriteFile(filepath.Join(path, schemaFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, thisProgram); err == nil || !strings.Contains(err.Error(), schemaFile+" is damaged") ||
			len(err.Error()) > 500 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestKeep_RefusesWhatIsNoAgentsFile(t *testing.T) {
	path := olderDirectory(t)
	if err := os.WriteFile(filepath.Join(path, "agent.crt"), make([]byte, maxKeptFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, thisProgram); err == nil || !strings.Contains(err.Error(), "agent.crt has 65537 octets") {
		t.Errorf("%v", err)
	}
}
