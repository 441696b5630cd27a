package upgrade_test

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// Only the file packaging/module-path contains the module path. A copy of the sources gets another path, builds, and
// `go install` installs gslbctl from a module proxy as from a public repository.
func TestModulePath_ARenamedCopyBuildsAndInstalls(t *testing.T) {
	t.Parallel()
	const public = "example.org/someone/gslb"
	sources := testbed.SourcesElsewhere(t)
	testbed.Write(t, filepath.Join(sources, "packaging/module-path"), 0o644, public+"\n")
	testbed.RunIn(t, sources, "packaging/set-module.sh")
	if output, err := exec.CommandContext(t.Context(), "grep", "-rlF", "--exclude-dir=.git", "gslb.internal"+"/",
		sources).CombinedOutput(); err == nil {
		t.Errorf("these files have the old path:\n%s", output)
	}
	testbed.RunIn(t, sources, "packaging/set-module.sh") // changes nothing
	testbed.RunIn(t, sources, "make", "bin/gslbctl")
	testbed.RunIn(t, filepath.Join(sources, "packaging/launcher"), "go", "list", "-deps", "./...")

	version := "v" + strings.TrimSpace(testbed.Read(t, "../../VERSION"))
	proxy, bin, cache := t.TempDir(), t.TempDir(), t.TempDir()
	for _, module := range []string{"shared", "gslbctl"} {
		publish(t, proxy, filepath.Join(sources, module), public+"/"+module, version)
	}
	known := strings.TrimSpace(string(testbed.GoCommand(t, "env", "GOMODCACHE")))
	install := exec.CommandContext(t.Context(), "go", "install", "-modcacherw", public+"/gslbctl/cmd/gslbctl@"+version)
	install.Dir = bin
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+cache, "GOWORK=off", "GONOSUMDB=example.org",
		"GOFLAGS=", "GOPROXY=file://"+proxy+",file://"+known+"/cache/download,https://proxy.golang.org")
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, output)
	}
	output, err := exec.CommandContext(t.Context(), filepath.Join(bin, "gslbctl"), "--version").CombinedOutput()
	if want := "gslbctl " + version[1:] + "\n"; err != nil || string(output) != want {
		t.Errorf("the installed program: %q (%v), want %q", output, err, want)
	}
}

// publish adds a version of the module in a directory to a module proxy that consists of files.
func publish(t *testing.T, proxy, dir, module, version string) {
	t.Helper()
	to := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	testbed.Write(t, filepath.Join(to, "list"), 0o644, version+"\n")
	testbed.Write(t, filepath.Join(to, version+".info"), 0o644, `{"Version":"`+version+`"}`)
	testbed.Write(t, filepath.Join(to, version+".mod"), 0o644, testbed.Read(t, filepath.Join(dir, "go.mod")))
	f, err := os.Create(filepath.Join(to, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed := zip.NewWriter(f)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		w, err := packed.Create(module + "@" + version + "/" + filepath.ToSlash(relative))
		if err != nil {
			return err
		}
		_, err = w.Write([]byte(testbed.Read(t, path)))
		return err
	})
	if err == nil {
		err = packed.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
