//go:build unix

package datadir // inside: it uses readSchema, schema and schemaFile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/shared/durable"
)

const thisProgram = "gslb-agent 1.2.3"

// files contains the contents of an agent's files by name, without the schema file.
var files = map[string]string{
	"agent.crt": "certificate", "agent.key": strings.Repeat("k", 3000), "agent.epoch": "1700000000000\n",
	"agent.lock": "17\n", "agent.status": "{}",
	"overwatch_pins/192.0.2.1:7946": "sha256:01", "overwatch_pins/[2001:db8::1]:7946": "sha256:02",
}

func agentDirectory(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	if err := os.Mkdir(filepath.Join(path, "overwatch_pins"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// wantAll compares the files of a directory with files.
func wantAll(t *testing.T, path string, names ...string) {
	t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(path, name))
		if err != nil || string(content) != files[name] {
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

func TestOpen_ANewDirectoryGetsItsSchema(t *testing.T) {
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

func TestOpen_ADirectoryWithoutSchemaGetsOneAndKeepsItsFiles(t *testing.T) {
	path := agentDirectory(t)
	half := filepath.Join(path, ".agent.epoch.1"+durable.Unfinished) // of an agent that was killed
	if err := os.WriteFile(half, []byte("17"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		opened(t, path)
		wantAll(t, path, kept...)
		if found, err := readSchema(path); found != schema || err != nil {
			t.Errorf("schema %d (%v)", found, err)
		}
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unfinished file: %v", err)
	}
}

func TestOpen_ANewerDirectoryIsRefusedWithTheWayOutAndLeftAlone(t *testing.T) {
	path := agentDirectory(t)
	newer := fmt.Sprintf("schema: %d\nprogram: gslb-agent 9.8.7\n", schema+1)
	if err := os.WriteFile(filepath.Join(path, schemaFile), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("has schema %d, and this agent understands up to %d: install gslb-agent 9.8.7 or later", schema+1,
		schema)
	_, err := Open(path, thisProgram)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(path, schemaFile), []byte(strings.SplitAfter(newer, "\n")[0]),
		0o600); err != nil {
		t.Fatal(err)
	}
	err = CheckSchema(path)
	if err == nil || !strings.Contains(err.Error(), "install the version that wrote it or later") {
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
