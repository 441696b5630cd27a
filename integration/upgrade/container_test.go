package upgrade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// workshop is a storage directory of buildah, in which images are built without a network. The base image of Go, which
// the container files normally pull from a registry, is replaced with an image whose /usr is that of this machine.
type workshop struct {
	t       *testing.T
	dir     string
	store   []string
	scripts map[string]string   // each runs a command in the container of an image
	checks  map[string][]string // the health check of an image
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	buildah := testbed.Judge(t, "buildah")
	if os.Geteuid() != 0 {
		testbed.Missing(t, "building a container without a daemon needs root here")
	}
	dir := t.TempDir()
	w := &workshop{t: t, dir: dir, scripts: map[string]string{}, checks: map[string][]string{},
		store: []string{buildah, "--root", filepath.Join(dir, "store"), "--runroot", filepath.Join(dir, "run"),
			"--storage-driver", "vfs"}}
	base := filepath.Join(dir, "base")
	for _, sub := range []string{"usr", "tmp", "etc/ssl/certs", "root", "proc", "sys", "dev", "run", "modules", "cache"} {
		if err := os.MkdirAll(filepath.Join(base, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+name, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, "/etc/ssl/certs/ca-certificates.crt", filepath.Join(base, "etc/ssl/certs/ca-certificates.crt"), 0o644)
	golang := strings.TrimSpace(w.run("from", "scratch"))
	w.run("copy", "--quiet", golang, base, "/")
	w.run("config", "--env", "PATH="+filepath.Join(goEnv(t, "GOROOT"), "bin")+":/usr/bin", "--env", "HOME=/root", "--env",
		"GOPROXY=off",
		"--env", "GOMODCACHE=/modules", "--env", "GOCACHE=/cache", golang)
	w.run("commit", "--quiet", golang, "docker.io/library/golang:1.26")
	return w
}

// run runs buildah and returns its output.
func (w *workshop) run(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), w.store[0], slices.Concat(w.store[1:], args)...)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("buildah %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), words.String())
	}
	return out.String()
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// image is the part of an image's configuration that the test checks.
type image struct {
	Docker struct {
		Config struct {
			User         string
			ExposedPorts map[string]any
			Volumes      map[string]any
			Entrypoint   []string
			StopSignal   string
			Healthcheck  struct{ Test []string }
		} `json:"config"`
	}
}

// build builds the image of a container file.
func (w *workshop) build(file, name string) (i image) {
	w.t.Helper()
	args := []string{"bud", "--isolation", "chroot", "--format", "docker", "--pull=never", "--quiet",
		"-v", "/usr:/usr:ro", "-v", goEnv(w.t, "GOMODCACHE") + ":/modules", "-v", goEnv(w.t, "GOCACHE") + ":/cache"}
	if root := goEnv(w.t, "GOROOT"); !strings.HasPrefix(root, "/usr/") {
		args = append(args, "-v", root+":"+root+":ro")
	}
	w.run(append(args, "-f", "../../packaging/container/"+file, "-t", name, "../..")...)
	if err := json.Unmarshal([]byte(w.run("inspect", "--type", "image", name)), &i); err != nil {
		w.t.Fatal(err)
	}
	return i
}

// contain makes a program of a site run in a container of an image, with its configuration mounted, and its data in the
// volume that buildah creates for the volume of the image.
func (w *workshop) contain(u *harness.Unit, i image, name, path string) {
	w.t.Helper()
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 65532, 65532)); err != nil {
		w.t.Fatal(err)
	}
	entry := i.Docker.Config.Entrypoint
	line := slices.Concat([]string{"exec"}, w.store,
		[]string{"run", "--isolation", "chroot", "-v", path + ":" + entry[len(entry)-1] + ":ro"})
	line = append(line, strings.TrimSpace(w.run("from", "--pull=never", name)), "--")
	// With --config, the script runs the entry point of the image. Otherwise it runs the given command.
	text := fmt.Sprintf("#!/bin/bash\n[ \"$1\" = --config ] && set -- %s\n%s \"$@\"\n", strings.Join(entry, " "),
		strings.Join(line, " "))
	script := filepath.Join(w.t.TempDir(), name)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
	u.Use(script)
	w.scripts[name] = script
}

// inside runs a command in the container of an image.
func (w *workshop) inside(name string, argv ...string) testbed.Result {
	w.t.Helper()
	return testbed.Command(w.t, append([]string{w.scripts[name]}, argv...)...)
}

// The container file of each role builds an image with all settings that a runtime needs. A node of each image with a
// node, and an agent, run in their containers as an unprivileged user and answer DNS.
func TestContainers_AreBuiltAndDoTheirWork(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	s := newSite(t, 2, 1)
	node, both, agent := s.Nodes[0], s.Nodes[1], s.Agents[0]
	for _, c := range []struct {
		role    string
		unit    *harness.Unit
		path    string
		dataDir *string
		ports   string
	}{
		{"overwatch", node.Unit, node.Path, &node.File.DataDir, "53/tcp 53/udp 7946/tcp 7946/udp 8080/tcp 9090/tcp"},
		{"gslb", both.Unit, both.Path, &both.File.DataDir, "53/tcp 53/udp 7946/tcp 7946/udp 8080/tcp 9090/tcp"},
		{"agent", agent.Unit, agent.Path, &agent.File.DataDir, "9100/tcp"},
	} {
		i := w.build(c.role+".Containerfile", c.role)
		config := i.Docker.Config
		if ports := slices.Sorted(maps.Keys(config.ExposedPorts)); strings.Join(ports, " ") != c.ports {
			t.Errorf("%s: ports %v", c.role, ports)
		}
		places := slices.Collect(maps.Keys(config.Volumes))
		if config.User != "65532:65532" || config.StopSignal != "SIGTERM" || len(places) != 1 ||
			len(config.Entrypoint) != 3 || len(config.Healthcheck.Test) != 5 {
			t.Fatalf("%s: %+v", c.role, config)
		}
		w.contain(c.unit, i, c.role, c.path)
		*c.dataDir = places[0]
		w.checks[c.role] = config.Healthcheck.Test[1:] // behind the word CMD
	}
	control := w.build("gslbctl.Containerfile", "gslbctl").Docker.Config
	if control.User != "65532:65532" || !slices.Equal(control.Entrypoint, []string{"/usr/bin/gslbctl"}) {
		t.Errorf("gslbctl: %+v", control)
	}
	container := strings.TrimSpace(w.run("from", "--pull=never", "gslbctl"))
	if out := w.run("run", "--isolation", "chroot", container, "--", control.Entrypoint[0],
		"--version"); !strings.Contains(
		out, "gslbctl") {
		t.Errorf("gslbctl says %s", out)
	}
	s.StartAll(t)
	for role, check := range w.checks {
		w.inside(role, append([]string{check[0]}, "--version")...).Want(t, testbed.ExitOK, filepath.Base(check[0]))
		// beside the process that runs
		w.inside(role, check[0], check[1], check[2], "--validate").Want(t, testbed.ExitOK, "is valid")
		// an agent's is of what it wrote last
		testbed.Until(t, testbed.StartBound, "the health check of "+role, func(context.Context) error {
			if r := w.inside(role, check...); r.Code != testbed.ExitOK {
				return errors.New(r.Output)
			}
			return nil
		})
	}
	volumes, err := filepath.Glob(filepath.Join(w.dir, "store/vfs-containers/*/userdata/buildah-volumes/*"))
	if err != nil || len(volumes) != len(w.checks) {
		t.Fatalf("volumes %v (%v)", volumes, err)
	}
	for _, volume := range volumes {
		files, err := os.ReadDir(volume)
		if err != nil || len(files) < 3 {
			t.Errorf("a volume has %v (%v)", files, err)
		}
		info, err := os.Stat(volume)
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 65532 || info.Mode().Perm() != 0o700 {
			t.Errorf("a volume belongs to %d and has mode %o", owner.Uid, info.Mode().Perm())
		}
	}
	s.NoFailures(t, node, s.Began)
	s.NoFailures(t, both, s.Began)
	if err := errors.Join(node.Stop(), agent.Stop()); err != nil {
		t.Errorf("an end that was asked for: %v", err)
	}
	for _, role := range []string{"overwatch", "agent"} {
		w.inside(role, w.checks[role]...).Want(t, testbed.ExitFailure)
	}
}
