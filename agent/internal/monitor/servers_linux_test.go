package monitor // inside: it shares idle_linux_test.go

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/shared/check"
)

// realServer is a program with idle connections.
type realServer struct {
	learns bool       // the program ends idle connections within a minute by default
	check  check.Spec // zero: HTTP
	// most bounds the time from the end of the program to the report; 0: a second.
	most time.Duration
	// start starts the program at a port of loopback, with files in a directory. kill ends it.
	start func(t *testing.T, port int, dir string) (kill func())
}

// realServers are the tested programs with their default timeouts. HAProxy and Go have no default: they have usual
// timeouts here.
func realServers() map[string]realServer {
	tcp := check.Spec{Type: check.TCP}
	return map[string]realServer{
		"go":    {learns: true, start: startGo},
		"nginx": {learns: true, start: startNginx},
		// Apache accepts a connection only with its first data, so that the system ends an idle connection late.
		"apache":     {learns: true, check: check.Spec{Path: "/index.html"}, most: 40 * time.Second, start: startApache},
		"haproxy":    {learns: true, start: startHaproxy},
		"postgresql": {learns: true, check: tcp, start: startPostgreSQL},
		"node":       {start: startNode},
		"caddy": {learns: true, start: func(t *testing.T, port int, _ string) func() {
			return startProgram(t, "caddy", "respond", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "ok")
		}},
		"python": {start: func(t *testing.T, port int, dir string) func() {
			return startProgram(t, "python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", dir,
				fmt.Sprint(port))
		}},
		"redis": {check: tcp, start: func(t *testing.T, port int, dir string) func() {
			return startProgram(t, "redis-server", "--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--save", "", "--dir", dir)
		}},
	}
}

func startGo(_ *testing.T, port int, _ string) func() {
	server := &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), ReadHeaderTimeout: 20 * time.Second,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { _ = server.ListenAndServe() }() // ends with kill
	return func() { _ = server.Close() }
}

func startNginx(t *testing.T, port int, dir string) func() {
	t.Helper()
	file := writeConfig(t, dir, fmt.Sprintf("daemon off; master_process off; pid %[1]s/pid; error_log stderr;\n"+
		"events {}\n"+
		"http { access_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; "+
		"uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;\nserver { listen 127.0.0.1:%[2]d; return 200 ok; } }\n", dir, port))
	return startProgram(t, "nginx", "-p", dir, "-c", file, "-e", "stderr")
}

func startApache(t *testing.T, port int, dir string) func() {
	t.Helper()
	modules := filepath.Join(filepath.Dir(program(t, "apache2")), "../lib/apache2/modules")
	file := writeConfig(t, dir, fmt.Sprintf("ServerRoot %[1]s\nServerName localhost\nPidFile %[1]s/pid\n"+
		"ErrorLog /dev/stderr\nListen 127.0.0.1:%[2]d\nLoadModule mpm_event_module %[3]s/mod_mpm_event.so\n"+
		"LoadModule authz_core_module %[3]s/mod_authz_core.so\nLoadModule reqtimeout_module %[3]s/mod_reqtimeout.so\n"+
		"DocumentRoot %[1]s\nMutex file:%[1]s default\nUser #65534\nGroup #65534\n", dir, port, modules))
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("ok"), 0o644); err != nil {
		t.Fatal(err)
	}
	return startProgram(t, "apache2", "-DFOREGROUND", "-f", file)
}

func startHaproxy(t *testing.T, port int, dir string) func() {
	t.Helper()
	file := writeConfig(t, dir, fmt.Sprintf("defaults\n mode http\n timeout client 30s\n timeout connect 5s\n"+
		" timeout server 30s\nfrontend f\n bind 127.0.0.1:%d\n http-request return status 200\n", port))
	return startProgram(t, "haproxy", "-db", "-f", file)
}

func startNode(t *testing.T, port int, _ string) func() {
	t.Helper()
	return startProgram(t, "node", "-e",
		fmt.Sprintf("require('http').createServer((q, s) => s.end('ok')).listen(%d, '127.0.0.1')", port))
}

// startPostgreSQL starts a server with a new database. Its processes have own groups, so kill ends each of them.
func startPostgreSQL(t *testing.T, port int, dir string) func() {
	t.Helper()
	data := filepath.Join(dir, "data")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program(t, name), args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = dir, t.Output(), t.Output(), new(syscall.SysProcAttr)
		if os.Geteuid() == 0 { // PostgreSQL does not run as root
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		}
		return cmd
	}
	if err := command("initdb", "-D", data, "-A", "trust", "--no-sync").Run(); err != nil {
		t.Fatal(err)
	}
	cmd := command("postgres", "-D", data, "-p", fmt.Sprint(port), "-h", "127.0.0.1", "-k", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		pid := cmd.Process.Pid
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		_ = cmd.Process.Kill()
		for child := range strings.FieldsSeq(string(children)) {
			if id, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(id, syscall.SIGKILL) // it may have ended
			}
		}
		_ = cmd.Wait() // it ends by the signal
	}
}

// writeConfig writes a configuration file to a directory and returns its path.
func writeConfig(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "server.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// program returns the path of a program. A missing program skips the test, and fails it in CI.
func program(t *testing.T, name string) string {
	t.Helper()
	versions, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	for _, at := range append([]string{name, "/usr/sbin/" + name}, versions...) {
		if path, err := exec.LookPath(at); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(name + " is not installed")
	}
	t.Skip(name + " is not installed")
	return ""
}

// startProgram starts a program in a process group of its own. kill ends the group with SIGKILL.
func startProgram(t *testing.T, name string, args ...string) (kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, name), args...)
	cmd.Stderr, cmd.SysProcAttr = t.Output(), &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() } // it ends by the signal
}

// spec returns a check of the server with an interval of a minute.
func (s realServer) spec() check.Spec {
	spec := s.check
	spec.Type = cmp.Or(spec.Type, check.HTTP)
	if spec.Type == check.HTTP {
		spec.Path = cmp.Or(spec.Path, "/")
	}
	spec.Interval, spec.Timeout, spec.FailureThreshold, spec.SuccessThreshold = time.Minute, 2*time.Second, 3, 2
	return spec
}
