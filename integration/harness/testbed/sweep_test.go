package testbed_test

import (
	"bufio"
	"context"
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
	"gslb.internal/integration/harness/testbed"
)

// victimPart is set in the environment of a second test process that ends abnormally. Its value is the kind of the end.
const victimPart = "INTEGRATION_VICTIM"

// TestVictim is the run that TestHarness_LeavesNothingBehind ends abnormally. As a normal test, it starts a site and a
// mount.
func TestVictim(t *testing.T) {
	s := testbed.StartSite(t, 1, 1)
	if os.Geteuid() == 0 {
		testbed.SmallDisk(t)
	}
	if network.Allowed() == nil {
		elsewhere(t, s)
	}
	how := os.Getenv(victimPart)
	if how == "" {
		return
	}
	fmt.Printf("victim %q %s\n", os.TempDir(), os.Getenv(testbed.RunMark))
	if how == "fails" {
		if _, err := s.Backends[0].Kill(); err != nil {
			t.Error(err)
		}
		t.Fatal("it was to fail")
	}
	<-t.Context().Done() // it is killed
}

// elsewhere starts a program in a network.
func elsewhere(t *testing.T, s *testbed.Site) {
	t.Helper()
	n, err := network.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	at := testbed.AddSite(t, n, "elsewhere", time.Millisecond)
	b := s.AddBackendAt("elsewhere", netip.AddrPortFrom(testbed.AddHost(t, at).IPv4, testbed.AppPort))
	b.Inside = at.Inside
	testbed.Start(t, b)
}

// After any end of a run, no process, file or mount remains; the next run removes the files and mounts of a killed run.
// A failed run prints the events and the output of its programs, in order.
func TestHarness_LeavesNothingBehind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := testbed.ProgramsTogether(t)
	for how, end := range map[string]syscall.Signal{"fails": 0, "is interrupted": syscall.SIGINT,
		"is killed": syscall.SIGKILL} {
		t.Run(how, func(t *testing.T) {
			temp := filepath.Join(t.TempDir(), "a place") // with a space, as on some machines
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
				_ = in.Close() // cannot fail
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
			testbed.Until(t, 10*time.Second, "nothing to be left", func(context.Context) error {
				testbed.Sweep(temp) // its programs may still be writing
				files, err := os.ReadDir(temp)
				processes := testbed.ProcessesOf(mark)
				if len(files)+len(processes)+len(testbed.MountedBelow(dir)) > 0 || err != nil {
					return fmt.Errorf("there are files %v, processes %q, mounts %q, %w", files, processes, testbed.MountedBelow(dir),
						err)
				}
				return nil
			})
			if end == 0 {
				wantInOrder(t, told, "harness      b1 started", "harness      ow-1 started", "harness      agent-1 started",
					"ow-1         .*overwatch started",
					"agent-1      .*enrolled at the overwatch node", "harness      SIGKILL to b1",
					"harness      b1 ended: signal: killed", "harness      SIGTERM to agent-1")
			}
		})
	}
}

// wantInOrder searches for matching lines in order.
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
