package integration_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness/testbed"
)

// watchLive starts gslbctl watch on a terminal of its own.
func watchLive(t *testing.T, s *site) (d *demoRun, keyboard, terminal *os.File, before *unix.Termios) {
	t.Helper()
	keyboard, terminal = openTerminal(t, 100, 30)
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	d = &demoRun{temp: t.TempDir(), mark: "watch-" + rand.Text(), out: &screen{}, done: make(chan struct{})}
	n := s.Nodes[0]
	d.cmd = exec.Command(testbed.Binaries(t).Control, "--api", n.API.String(), "--dns", n.DNS.String(), "watch", "--interval", "200ms")
	d.cmd.Env = append(os.Environ(), "TMPDIR="+d.temp, "HOME="+d.temp, testbed.RunMark+"="+d.mark, "TERM=xterm")
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = terminal, terminal, terminal
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it has ended, unless the test failed
		<-d.done
	})
	go func() { _, _ = io.Copy(d.out, keyboard) }() // ends with an error when the test closes the terminal
	return d, keyboard, terminal, before
}

// gslbctl watch shows backends, answers and agents live, follows the terminal's size, and gives the terminal back
// whichever way it ends.
func TestControl_WatchIsLiveAndGivesTheTerminalBack(t *testing.T) {
	s := startSite(t, 1, 2)
	for name, quit := range map[string]func(*testing.T, *demoRun, *os.File){
		"q":       func(t *testing.T, _ *demoRun, keyboard *os.File) { press(t, keyboard, "q") },
		"Ctrl-C":  func(t *testing.T, _ *demoRun, keyboard *os.File) { press(t, keyboard, "\x03") },
		"SIGTERM": func(_ *testing.T, d *demoRun, _ *os.File) { _ = d.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(_ *testing.T, d *demoRun, _ *os.File) { _ = d.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			d, keyboard, terminal, before := watchLive(t, s)
			d.shows(t, testbed.StartBound, enterScreen)
			d.shows(t, testbed.StartBound, s.Backends[0].At.String())
			press(t, keyboard, "2")
			d.shows(t, testbed.StartBound, "ANSWER")
			press(t, keyboard, "\t")
			d.shows(t, testbed.StartBound, "CERTIFICATE")
			if err := unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 40}); err != nil {
				t.Fatal(err)
			}
			narrow := regexp.MustCompile(`\[3 agents\]\x1b\[K\r\n\S[^\r\n]{0,39}\x1b\[K`)
			testbed.Until(t, testbed.StartBound, "lines that fit", func(context.Context) error {
				if !narrow.MatchString(d.out.String()) {
					return errors.New("not there")
				}
				return nil
			})
			quit(t, d, keyboard)
			d.ends(t, 5*time.Second, testbed.ExitOK)
			restored(t, d, terminal, before)
		})
	}
}
