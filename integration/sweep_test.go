package integration_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
)

// sweep removes what runs have left that were killed.
func sweep(temp string) {
	dirs, _ := filepath.Glob(filepath.Join(temp, directoryPrefix+"*-*"))
	for _, dir := range dirs {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), directoryPrefix+"%d-", &pid); err != nil || alive(pid) {
			continue
		}
		clean(dir)
	}
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// clean removes a directory of a run, and before that takes away what is mounted in it. If something stays mounted the directory stays
// too: what is below may be somebody else's.
func clean(dir string) {
	below := mountedBelow(dir)
	for _, at := range slices.Backward(below) { // the newest first
		_ = exec.Command("umount", "--lazy", at).Run() // whether it did is looked at
	}
	if len(mountedBelow(dir)) == 0 {
		_ = os.RemoveAll(dir) // what cannot be removed is tried again by the next run
	}
}

// unescaped undoes what the list of mounts does to paths, proc_pid_mounts(5).
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mountedBelow lists what is mounted inside a directory, the oldest first. It lists the directory itself if that cannot be known on Linux.
func mountedBelow(dir string) (at []string) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil // not Linux: nothing is mounted by tests
	}
	for l := bufio.NewScanner(bytes.NewReader(mounts)); l.Scan(); {
		if fields := strings.Fields(l.Text()); len(fields) > 1 && strings.HasPrefix(unescaped.Replace(fields[1]), dir+"/") {
			at = append(at, unescaped.Replace(fields[1]))
		}
	}
	return at
}

// victimPart is the environment variable by which the program of these tests, started once more, is a run that is to end badly: how.
const victimPart = "INTEGRATION_VICTIM"

// TestVictim is what TestHarness_LeavesNothingBehind lets end badly. By itself it shows that a site starts beside a mount and an echo.
func TestVictim(t *testing.T) {
	s := startSite(t, 1, 1)
	newYardstick(t)
	if os.Geteuid() == 0 {
		smallDisk(t)
	}
	if network.Allowed() == nil {
		elsewhere(t, s)
	}
	how := os.Getenv(victimPart)
	if how == "" {
		return
	}
	fmt.Printf("victim %q %s\n", os.TempDir(), os.Getenv(runMark))
	if how == "fails" {
		if _, err := s.backends[0].Kill(); err != nil {
			t.Error(err)
		}
		t.Fatal("it was to fail")
	}
	<-time.After(time.Minute)
}

// elsewhere starts a program in a network.
func elsewhere(t *testing.T, s *site) {
	t.Helper()
	n, err := network.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	at := addSite(t, n, "elsewhere", time.Millisecond)
	b := s.AddBackendAt("elsewhere", netip.AddrPortFrom(addHost(t, at).IPv4, appPort))
	b.Inside = at.Inside
	start(t, b)
}

// However a run ends, no process stays, and no file and no mount: those of a run that is killed go with the next. A run that fails tells
// what happened to its programs, in order, with what they said.
func TestHarness_LeavesNothingBehind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := programDirectory(t)
	for how, end := range map[string]syscall.Signal{"fails": 0, "is interrupted": syscall.SIGINT, "is killed": syscall.SIGKILL} {
		t.Run(how, func(t *testing.T) {
			temp := filepath.Join(t.TempDir(), "a place") // people have such
			if err := os.Mkdir(temp, 0o700); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(self, "-test.run", "^TestVictim$", "-test.v")
			c.Env = append(os.Environ(), victimPart+"="+how, "TMPDIR="+temp, "GSLB_BIN="+bin)
			out, in := io.Pipe()
			c.Stdout = in
			ended, err := harness.StartTied(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				<-ended
				_ = in.Close() // it has no error
			}()
			var dir, mark string
			var told []string
			for lines := bufio.NewScanner(out); lines.Scan(); {
				told = append(told, lines.Text())
				if n, _ := fmt.Sscanf(lines.Text(), "victim %q %s", &dir, &mark); n == 2 && end != 0 {
					if err := c.Process.Signal(end); err != nil {
						t.Error(err)
					}
				}
			}
			if c.ProcessState.Success() || mark == "" {
				t.Fatalf("it ended with %v:\n%s", c.ProcessState, strings.Join(told, "\n"))
			}
			until(t, 10*time.Second, "nothing to be left", func(context.Context) error {
				sweep(temp) // its programs may be writing still
				files, err := os.ReadDir(temp)
				processes := processesOf(mark)
				if len(files)+len(processes)+len(mountedBelow(dir)) > 0 || err != nil {
					return fmt.Errorf("there are files %v, processes %q, mounts %q, %w", files, processes, mountedBelow(dir), err)
				}
				return nil
			})
			if end == 0 {
				wantInOrder(t, told, "harness      b1 started", "harness      ow-1 started", "harness      agent-1 started", "ow-1         .*overwatch started",
					"agent-1      .*enrolled at the overwatch node", "harness      SIGKILL to b1", "harness      b1 ended: signal: killed", "harness      SIGTERM to agent-1")
			}
		})
	}
}

// wantInOrder looks for lines that match, one after the other.
func wantInOrder(t *testing.T, lines []string, patterns ...string) {
	t.Helper()
	rest := lines
	for _, pattern := range patterns {
		at := slices.IndexFunc(rest, regexp.MustCompile(pattern).MatchString)
		if at < 0 {
			t.Errorf("no line with %q where it should be in:\n%s", pattern, strings.Join(lines, "\n"))
			return
		}
		rest = rest[at+1:]
	}
}
