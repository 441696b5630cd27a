package cli_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness/testbed"
)

// topLive starts gslbctl top on a terminal of its own.
func topLive(t *testing.T, s *site) *liveRun {
	t.Helper()
	r := newLiveRun(t, 100, 30)
	d := &demoRun{temp: t.TempDir(), mark: "top-" + rand.Text(), out: r.display, done: make(chan struct{})}
	n := s.Nodes[0]
	d.cmd = exec.Command(testbed.Binaries(t).Control,
		"--api", n.API.String(), "--dns", n.DNS.String(), "top", "--interval", "200ms")
	d.cmd.Env = append(os.Environ(), "TMPDIR="+d.temp, "HOME="+d.temp, testbed.RunMark+"="+d.mark, "TERM=xterm")
	r.attach(d.cmd)
	testbed.Start(t, d.cmd)
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it has ended, unless the test failed
		<-d.done
		if t.Failed() {
			t.Logf("the screen:\n%s", r.display)
		}
	})
	r.demoRun = d
	return r
}

// gslbctl top shows names, backends, events and agents live, follows the terminal's size, and gives the terminal back
// whichever way it ends.
func TestControl_TopIsLiveAndGivesTheTerminalBack(t *testing.T) {
	s := startSite(t, 1, 2)
	for name, quit := range map[string]func(*testing.T, *liveRun){
		"q": byKey("q"), "Ctrl-C": byKey("\x03"), "SIGTERM": bySignal(syscall.SIGTERM), "SIGHUP": bySignal(syscall.SIGHUP),
	} {
		t.Run(name, func(t *testing.T) {
			r := topLive(t, s)
			r.display.taken(t, testbed.StartBound)
			r.shows(t, testbed.StartBound, "ANSWER")
			r.press(t, "2")
			r.shows(t, testbed.StartBound, s.Backends[0].At.String())
			r.press(t, "4")
			r.shows(t, testbed.StartBound, "CERTIFICATE")
			r.display.Resize(40, 12)
			if err := unix.IoctlSetWinsize(int(r.keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 12, Col: 40}); err != nil {
				t.Fatal(err)
			}
			const cut = "\nq quit  ? keys  / filter  Tab next  u un" // the last row, at the last column
			testbed.Until(t, testbed.StartBound, "lines that fit", func(context.Context) error {
				if !strings.HasSuffix(strings.TrimRight(r.display.String(), " "), cut) {
					return errors.New("not there")
				}
				return nil
			})
			quit(t, r)
			r.ends(t, 5*time.Second, testbed.ExitOK)
			r.restored(t)
		})
	}
}

// top drains the selected backend after a confirmation, and undoes the drain.
func TestControl_TopDrainsAndUndoes(t *testing.T) {
	s := startSite(t, 1, 2)
	r := topLive(t, s)
	r.shows(t, testbed.StartBound, "ANSWER")
	r.press(t, "2")
	r.shows(t, testbed.StartBound, "> ")
	r.press(t, "d")
	r.shows(t, testbed.StartBound, "reason to drain")
	r.press(t, "kernel\r")
	r.shows(t, testbed.StartBound, "[y/N]")
	r.press(t, "y")
	r.shows(t, testbed.StartBound, "is draining")
	orders := func() testbed.Result {
		return testbed.Command(t, testbed.Binaries(t).Control, "--api", s.Nodes[0].API.String(), "orders")
	}
	orders().Want(t, testbed.ExitOK, "drain", "kernel")
	r.press(t, "u")
	r.shows(t, testbed.StartBound, "undo your last change")
	r.press(t, "y")
	r.shows(t, testbed.StartBound, "undone")
	orders().Want(t, testbed.ExitOK, "No overrides, weights or drains.")
	r.press(t, "q")
	r.ends(t, 5*time.Second, testbed.ExitOK)
}
