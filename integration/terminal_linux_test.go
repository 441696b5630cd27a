package integration_test

import (
	"context"
	"errors"
	"fmt"
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

// The sequences that take and give back a terminal's screen and cursor.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// colors are the sequences that only change how text looks.
var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// openTerminal makes a pseudo-terminal: what is written to the first end is typed at the second.
func openTerminal(t *testing.T, columns, rows uint16) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return keyboard, terminal
}

// runDemoLive starts the demo on a terminal of its own and returns the terminal and its settings from before.
func runDemoLive(t *testing.T) (d *demoRun, keyboard, terminal *os.File, before *unix.Termios) {
	t.Helper()
	keyboard, terminal = openTerminal(t, 100, 40)
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	d = runDemo(t, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	})
	go func() { _, _ = io.Copy(d.out, keyboard) }() // ends with an error when the test closes the terminal
	return d, keyboard, terminal, before
}

func press(t *testing.T, keyboard *os.File, key string) {
	t.Helper()
	if _, err := keyboard.WriteString(key); err != nil {
		t.Fatal(err)
	}
}

// restored checks that the terminal is as it was: its settings and its screen.
func restored(t *testing.T, d *demoRun, terminal *os.File, before *unix.Termios) {
	t.Helper()
	after, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *after != *before {
		t.Errorf("the terminal's settings were %+v and are %+v", *before, *after)
	}
	d.shows(t, time.Second, leaveScreen)
}

// The keys do what the last line of the screen says, with times measured, and q gives the terminal back.
func TestDemo_KeysShowFailoverLiveAndQuitRestoresTheTerminal(t *testing.T) {
	d, keyboard, terminal, before := runDemoLive(t)
	d.shows(t, demoBound, enterScreen)
	for _, step := range []struct{ key, shows string }{
		{"k", `kill -9 eu-1: last answer: ow-eu \d\.\d\ds, ow-us \d\.\d\ds`},
		{"r", `eu-1 serves again: first answer: ow-eu \d\.\d\ds, ow-us \d\.\d\ds`},
		{"a", `kill -9 agent-us-1: stale: ow-eu \d\.\d\ds, ow-us \d\.\d\ds`},
		{"o", `SIGTERM ow-eu: ow-us answered (\d+) of (\d+) lookups`},
		{"R", `ow-eu started again: first good answer: ow-eu \d\.\d\ds`},
	} {
		press(t, keyboard, step.key)
		pattern := regexp.MustCompile(step.shows)
		testbed.Until(t, 20*time.Second, "the screen to show "+step.shows, func(context.Context) error {
			if !pattern.MatchString(colors.ReplaceAllString(d.out.String(), "")) {
				return errors.New("not there")
			}
			return nil
		})
	}
	press(t, keyboard, "q")
	d.ends(t, 20*time.Second, testbed.ExitOK)
	restored(t, d, terminal, before)
}

// Ctrl-C and SIGTERM are ways to quit the live view too.
func TestDemo_CtrlCAndSIGTERMRestoreTheTerminal(t *testing.T) {
	for name, quit := range map[string]func(*testing.T, *demoRun, *os.File){
		"Ctrl-C":  func(t *testing.T, _ *demoRun, keyboard *os.File) { press(t, keyboard, "\x03") },
		"SIGTERM": func(_ *testing.T, d *demoRun, _ *os.File) { _ = d.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			d, keyboard, terminal, before := runDemoLive(t)
			d.shows(t, demoBound, enterScreen)
			quit(t, d, keyboard)
			d.ends(t, 20*time.Second, testbed.ExitOK)
			restored(t, d, terminal, before)
		})
	}
}
