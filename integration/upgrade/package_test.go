package upgrade_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// releaser builds the release program.
var releaser = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.TempDir(), "programs", "release")
	if _, err := testbed.Programs(); err != nil { // it makes the directory
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", path, "./packaging/release")
	cmd.Dir = "../.."
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, output)
	}
	return path, nil
})

// The tests build the packages once from these sources, each in one of these versions.
const (
	firstVersion  = "1.0.0-rc.1"
	secondVersion = "1.1.0"
)

var packaged struct {
	sync.Mutex
	made map[string]bool // by directory
}

// packageOf builds the packages of a program's version once, and returns the path of the package that matches a
// pattern.
func packageOf(t *testing.T, program, version, pattern string) string {
	t.Helper()
	packaged.Lock()
	defer packaged.Unlock()
	out := filepath.Join(os.TempDir(), "programs", program+"-"+version)
	if !packaged.made[out] {
		release(t, "../..", out, program, version)
		if packaged.made == nil {
			packaged.made = map[string]bool{}
		}
		packaged.made[out] = true
	}
	return one(t, filepath.Join(out, pattern))
}

// release builds the artifacts of a program for Linux on amd64 from the sources in a directory, and returns their
// directory.
func release(t *testing.T, sources, out, program, version string) string {
	t.Helper()
	cmd := releaseCommand(t, sources, out, program+"/linux/amd64", version)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
	return out
}

// releaseCommand builds the artifacts that match some patterns, in a version.
func releaseCommand(t *testing.T, sources, out, only, version string) *exec.Cmd {
	t.Helper()
	path, err := releaser()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-out", out, "-commit", "c0ffee", "-date", "2026-01-02T03:04:05Z")
	cmd.Args = append(cmd.Args, "-only", only, "-version", version)
	cmd.Dir = sources
	return cmd
}

// one returns the only file that a pattern matches.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// Two builds of the same commit produce the same bytes, on any machine at any time, so that users can verify the origin
// of a package. The test builds all artifacts for Linux on one architecture, and gslbctl for each other system.
func TestRelease_TwoBuildsOfOneCommitAreTheSameBytes(t *testing.T) {
	t.Parallel()
	const what = "*/linux/amd64,gslbctl/windows/amd64,gslbctl/darwin/arm64"
	elsewhere := testbed.SourcesElsewhere(t)
	testbed.RunIn(t, elsewhere, "find", ".", "-exec", "touch", "-h", "-d", "2020-02-02", "{}", "+")
	first, second := t.TempDir(), t.TempDir()
	for _, b := range []struct {
		sources, out, umask string
		env                 []string
	}{
		{"../..", first, "022", []string{"TZ=UTC", "LC_ALL=C"}},
		{elsewhere, second, "077", []string{"TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "TMPDIR=" + t.TempDir(), "GOAMD64=v3"}},
	} {
		cmd := releaseCommand(t, b.sources, b.out, what, "1.2.3")
		masked := []string{"-c", "umask " + b.umask + ` && exec "$@"`, "sh"}
		shell := exec.CommandContext(t.Context(), "sh", append(masked, cmd.Args...)...)
		shell.Dir, shell.Env = cmd.Dir, append(os.Environ(), b.env...)
		if output, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	kinds := map[string]int{}
	files, err := os.ReadDir(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		kinds[filepath.Ext(f.Name())]++
		if testbed.Read(t, filepath.Join(first, f.Name())) != testbed.Read(t, filepath.Join(second, f.Name())) {
			t.Errorf("%s differs between two builds", f.Name())
		}
	}
	if want := map[string]int{".deb": 4, ".rpm": 4, ".gz": 5, ".zip": 1, ".json": 6, "": 1}; !maps.Equal(kinds, want) {
		t.Errorf("the files by their endings: %v, want %v", kinds, want)
	}
}

// The tools of rpm verify the package: its digests, its files, and an installation into an empty root.
func TestRelease_TheRPMInstalls(t *testing.T) {
	t.Parallel()
	rpm := testbed.Judge(t, "rpm")
	root := t.TempDir()
	for _, program := range []string{"gslb-overwatch", "gslb-agent", "gslb"} {
		file := packageOf(t, program, firstVersion, "*.rpm")
		for _, args := range [][]string{
			{"-K", "--nosignature", file},
			{"--root", root, "-i", "--nodeps", "--noscripts", "--nosignature", "--ignoreos", "--ignorearch", file},
			{"--root", root, "-V", "--nodeps", "--nouser", "--nogroup", program},
		} {
			if output, err := exec.CommandContext(t.Context(), rpm, args...).CombinedOutput(); err != nil {
				t.Errorf("rpm %s: %v\n%s", strings.Join(args, " "), err, output)
			}
		}
		for _, path := range []string{"/usr/bin/" + program, "/usr/lib/systemd/system/" + program + ".service",
			"/usr/share/man/man8/" + program + ".8.gz"} {
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Error(err)
			}
		}
		scripts, err := exec.CommandContext(t.Context(), rpm, "-qp", "--scripts", file).Output()
		if err != nil || strings.Contains(string(scripts), "@") || !strings.Contains(string(scripts), "useradd") {
			t.Errorf("scripts of %s (%v):\n%s", program, err, scripts)
		}
	}
}

// The linters of both formats report nothing. The directory packaging/lint contains the exceptions, each with its
// reason.
func TestPackages_LintersReportNothing(t *testing.T) {
	t.Parallel()
	lintian, rpmlint := testbed.Judge(t, "lintian"), testbed.Judge(t, "rpmlint")
	testbed.Judge(t, "rpm") // rpmlint calls it
	var debs, rpms []string
	for _, program := range []string{"gslb-overwatch", "gslb-agent", "gslbctl", "gslb"} {
		debs = append(debs, packageOf(t, program, firstVersion, "*.deb"))
		rpms = append(rpms, packageOf(t, program, firstVersion, "*.rpm"))
	}
	cmd := exec.CommandContext(t.Context(), lintian, append([]string{"--allow-root"}, debs...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // it leaves files there
	output, err := cmd.CombinedOutput()
	if err != nil || len(output) > 0 {
		t.Errorf("lintian: %v\n%s", err, output)
	}
	output, err = exec.CommandContext(t.Context(), rpmlint,
		append([]string{"-c", "../../packaging/lint/rpmlint.toml"}, rpms...)...).CombinedOutput()
	if err != nil || !bytes.Contains(output, []byte("4 packages and 0 specfiles checked; 0 errors, 0 warnings")) {
		t.Errorf("rpmlint: %v\n%s", err, output)
	}
}

// A minimal Debian lacks /bin/kill, and systemd 252 of Debian 12 and RHEL 9 lacks Type=notify-reload. The programs
// therefore send the reload signal themselves, with the absolute path that the package installs.
func TestUnits_CallOnlyTheirProgram(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob("../../packaging/systemd/*.service")
	if err != nil || len(units) != 3 {
		t.Fatal(units, err)
	}
	for _, unit := range units {
		text := testbed.Read(t, unit)
		program := "/usr/bin/" + strings.TrimSuffix(filepath.Base(unit), ".service") + " "
		reloads := 0
		for line := range strings.Lines(text) {
			if key, command, _ := strings.Cut(line, "="); strings.HasPrefix(key, "Exec") {
				if !strings.HasPrefix(command, program) {
					t.Errorf("%s: %s", unit, line)
				}
				if key == "ExecReload" && strings.HasSuffix(command, "--reload $MAINPID\n") {
					reloads++
				}
			}
		}
		if reloads != 1 || !strings.Contains(text, "\nType=notify\n") {
			t.Errorf("%s: %d commands for a reload, want 1, and Type=notify", unit, reloads)
		}
	}
}

// The units limit the permissions of a process: systemd rates their exposure at most 2.0 of 10.
func TestUnits_AreHardened(t *testing.T) {
	analyze := testbed.Judge(t, "systemd-analyze")
	units, err := filepath.Glob("../../packaging/systemd/*.service")
	if err != nil || len(units) == 0 {
		t.Fatal(units, err)
	}
	for _, unit := range units {
		output, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20", "--no-pager",
			unit).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", unit, err, output)
		}
	}
}

// The test installs the real packages in a container with a real systemd. systemd-nspawn boots the container, whose
// root is a copy-on-write layer over the root of this machine. The script in the container is testdata/package/life.sh.
func TestPackages_Life(t *testing.T) {
	nspawn := container(t)
	testbed.Judge(t, "dnsperf")
	root := layered(t)
	place := filepath.Join(root, "test")
	for _, p := range []struct{ dir, program, version string }{
		{"first", "gslb-overwatch", firstVersion}, {"first", "gslb-agent", firstVersion},
		{"second", "gslb-overwatch", secondVersion},
		{"first", "gslb", firstVersion}, {"second", "gslb", secondVersion}, {"second", "gslb-agent", secondVersion},
	} {
		copyInto(t, packageOf(t, p.program, p.version, "*.deb"), filepath.Join(place, p.dir))
	}
	copyInto(t, packageOf(t, "gslb-agent", firstVersion, "*.rpm"), filepath.Join(place, "first"))
	copyInto(t, packageOf(t, "gslb-agent", secondVersion, "*.rpm"), filepath.Join(place, "second"))
	b := testbed.Binaries(t)
	copyFile(t, b.Backend, filepath.Join(place, "backend"), 0o755)
	boot(t, nspawn, root, "life.sh", 8*time.Minute)
}

// container returns the program that boots containers. A test that uses it installs packages in a container.
func container(t *testing.T) string {
	t.Helper()
	nspawn := testbed.Judge(t, "systemd-nspawn")
	testbed.Judge(t, "dig")
	if os.Geteuid() != 0 {
		testbed.Missing(t, "booting a container needs root")
	}
	if _, err := os.Stat("/var/lib/dpkg/status"); err != nil {
		testbed.Missing(t, "installing a deb needs a machine with Debian packages")
	}
	return nspawn
}

// boot starts a container with systemd on a root directory, in which a script of /test runs as a unit. The script
// writes its output to /test/story, writes "pass" to /test/verdict if all of its checks passed, and ends the container.
func boot(t *testing.T, nspawn, root, script string, bound time.Duration) {
	t.Helper()
	place := filepath.Join(root, "test")
	copyFile(t, "testdata/package/"+script, filepath.Join(place, script), 0o755)
	// dpkg would otherwise read all manual pages of this machine again after each package.
	if err := os.Remove(filepath.Join(root, "var/lib/man-db/auto-update")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	unit := "[Unit]\nAfter=basic.target\n[Service]\nExecStart=/test/" + script + "\n"
	testbed.Write(t, filepath.Join(root, "etc/systemd/system/life.service"), 0o644, unit)
	target := "[Unit]\nRequires=basic.target\nWants=life.service\nAllowIsolate=yes\n"
	testbed.Write(t, filepath.Join(root, "etc/systemd/system/life.target"), 0o644, target)
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, nspawn, "--quiet", "--directory", root, "--machine",
		fmt.Sprintf("gslb-test-%d-%s", os.Getpid(), strings.TrimSuffix(script, ".sh")),
		"--register=no", "--keep-unit", "--private-network", "--link-journal=no", "--uuid=00112233445566778899aabbccddeeff",
		"--boot", "--", "--unit=life.target", "--log-target=null", "--show-status=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // then nspawn takes the container with it
	cmd.WaitDelay = 20 * time.Second
	var console bytes.Buffer
	cmd.Stdout, cmd.Stderr = &console, &console
	ended, err := harness.StartTied(cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	story, _ := os.ReadFile(filepath.Join(place, "story"))
	verdict, _ := os.ReadFile(filepath.Join(place, "verdict"))
	if !cmd.ProcessState.Success() || strings.TrimSpace(string(verdict)) != "pass" {
		t.Fatalf("%v\n%s\nthe console:\n%s", cmd.ProcessState, story, &console)
	}
	t.Logf("%s", story)
}

// layered returns a root directory with the content of this machine's root. Changes to it are removed at the end of the
// test.
func layered(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	if output, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "mode=755", "gslb-test",
		base).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	unmount := func(path string) func() {
		return func() { _ = exec.Command("umount", "--lazy", path).Run() }
	}
	t.Cleanup(unmount(base))
	for _, dir := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(base, "root")
	options := "lowerdir=/,upperdir=" + filepath.Join(base, "upper") + ",workdir=" + filepath.Join(base, "work")
	if output, err := exec.CommandContext(t.Context(), "mount", "-t", "overlay", "gslb-test", "-o", options,
		root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Cleanup(unmount(root))
	// Programs of this machine that belong to no package would be treated as other packages. They are deleted in the layer
	// only.
	for _, pattern := range []string{"usr/bin/gslb*", "usr/share/doc/gslb*"} {
		there, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range there {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, dir := range []string{"first", "second"} {
		if err := os.MkdirAll(filepath.Join(root, "test", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// copyInto copies a file into a directory with the same name.
func copyInto(t *testing.T, file, dir string) {
	t.Helper()
	copyFile(t, file, filepath.Join(dir, filepath.Base(file)), 0o644)
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
