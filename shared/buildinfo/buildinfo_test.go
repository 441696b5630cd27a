package buildinfo_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"gslb.internal/shared/buildinfo"
)

func TestGet_DescribesABinaryThatWasToldNothing(t *testing.T) {
	got := buildinfo.Get()
	if got.Version != buildinfo.Development || got.GoVersion != runtime.Version() || got.GitCommit == "" ||
		got.BuildDate == "" {
		t.Errorf("got %+v", got)
	}
}

// The Makefile uses the names in -ldflags. The linker silently ignores a wrong name.
func TestGet_SaysWhatTheLinkerWasTold(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "print")
	const pkg = "gslb.internal/shared/buildinfo."
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary,
		"-ldflags", "-X "+pkg+"version=1.2.3 -X "+pkg+"commit=abc -X "+pkg+"date=2026-01-02T03:04:05Z", "./testdata/print")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got buildinfo.Info
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if want := (buildinfo.Info{"1.2.3", runtime.Version(), "abc", "2026-01-02T03:04:05Z"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
