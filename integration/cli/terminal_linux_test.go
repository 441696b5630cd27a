package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness/testbed"
)

// display is a terminal that renders the output of a program, as a person would see it.
type display struct {
	*vt.SafeEmulator
	alternate, cursorHidden atomic.Bool
}

// newDisplay returns the display of a terminal, given its keyboard end. It answers the queries of programs to the
// terminal.
func newDisplay(keyboard *os.File, columns, rows int) *display {
	d := &display{SafeEmulator: vt.NewSafeEmulator(columns, rows)}
	d.SetCallbacks(vt.Callbacks{
		AltScreen:        d.alternate.Store,
		CursorVisibility: func(visible bool) { d.cursorHidden.Store(!visible) },
	})
	go func() { _, _ = io.Copy(keyboard, d) }() // both end with an error when the test closes the terminal
	go func() { _, _ = io.Copy(d, keyboard) }()
	return d
}

// taken waits until a program uses the whole screen.
func (d *display) taken(t *testing.T, bound time.Duration) {
	t.Helper()
	testbed.Until(t, bound, "the program to take the screen", func(context.Context) error {
		if !d.alternate.Load() || !d.cursorHidden.Load() {
			return errors.New("not taken")
		}
		return nil
	})
}

// openTerminal creates a pseudo-terminal: text that is written to the first end is typed at the second end.
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

// liveRun is a program on a separate terminal.
type liveRun struct {
	*demoRun
	display            *display
	keyboard, terminal *os.File
	before             *unix.Termios // settings of the terminal
}

// newLiveRun creates the terminal. The caller starts the program with the terminal as its streams.
func newLiveRun(t *testing.T, columns, rows uint16) *liveRun {
	t.Helper()
	r := &liveRun{}
	r.keyboard, r.terminal = openTerminal(t, columns, rows)
	before, err := unix.IoctlGetTermios(int(r.terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	r.before, r.display = before, newDisplay(r.keyboard, int(columns), int(rows))
	return r
}

// attach connects a program to the terminal.
func (r *liveRun) attach(cmd *exec.Cmd) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.terminal, r.terminal, r.terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// runDemoLive starts the demo on a separate terminal.
func runDemoLive(t *testing.T) *liveRun {
	t.Helper()
	r := newLiveRun(t, 100, 40)
	r.demoRun = runDemo(t, r.attach)
	r.out = r.display
	return r
}

func (r *liveRun) press(t *testing.T, key string) {
	t.Helper()
	if _, err := r.keyboard.WriteString(key); err != nil {
		t.Fatal(err)
	}
}

// bySignal returns a way to end a program.
func bySignal(s syscall.Signal) func(*testing.T, *liveRun) {
	return func(t *testing.T, r *liveRun) {
		if err := r.cmd.Process.Signal(s); err != nil {
			t.Error(err)
		}
	}
}

// byKey returns a way to end a program.
func byKey(key string) func(*testing.T, *liveRun) {
	return func(t *testing.T, r *liveRun) { r.press(t, key) }
}

// restored checks that the settings, the screen and the cursor of the terminal are restored.
func (r *liveRun) restored(t *testing.T) {
	t.Helper()
	after, err := unix.IoctlGetTermios(int(r.terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *after != *r.before {
		t.Errorf("the terminal's settings were %+v and are %+v", *r.before, *after)
	}
	testbed.Until(t, time.Second, "the screen to be given back", func(context.Context) error {
		if r.display.alternate.Load() || r.display.cursorHidden.Load() {
			return errors.New("still taken")
		}
		return nil
	})
}

// consoleHint matches the URL of the console on the screen of the demo.
var consoleHint = regexp.MustCompile(`(http://127\.0\.0\.1:\d+/) +# the console`)

// The keys have the effects in the last line of the screen, with measured times. The commands for another terminal use
// a node that runs. q restores the terminal.
func TestDemo_KeysShowFailoverLiveAndQuitRestoresTheTerminal(t *testing.T) {
	r := runDemoLive(t)
	r.display.taken(t, demoBound)
	for _, step := range []struct{ key, shows string }{
		{"k", `kill -9 eu-1: last answer: ow-eu \d\.\d\ds, ow-us \d\.\d\ds`},
		{"r", `eu-1 serves again: first answer: ow-eu \d\.\d\ds, ow-us \d\.\d\ds`},
		{"a", `kill -9 agent-us-1: stale: ow-eu \d\.\d\ds, ow-us \d\.\d\ds`},
		{"o", `SIGTERM ow-eu: ow-us answered (\d+) of (\d+) lookups`},
		{"R", `ow-eu started again: first good answer: ow-eu \d\.\d\ds`},
	} {
		before := consoleHint.FindString(r.display.String())
		r.press(t, step.key)
		pattern := regexp.MustCompile(step.shows)
		testbed.Until(t, 20*time.Second, "the screen to show "+step.shows, func(context.Context) error {
			if !pattern.MatchString(r.display.String()) {
				return errors.New("not there")
			}
			return nil
		})
		moves := step.key == "o" || step.key == "R" // the first node stops, and starts
		if after := consoleHint.FindString(r.display.String()); (before != after) != moves {
			t.Errorf("key %s: the hint is %q, before: %q", step.key, after, before)
		}
	}
	r.press(t, "q")
	r.ends(t, 20*time.Second, testbed.ExitOK)
	r.restored(t)
}

// Ctrl-C and SIGTERM also quit the live view.
func TestDemo_CtrlCAndSIGTERMRestoreTheTerminal(t *testing.T) {
	for name, quit := range map[string]func(*testing.T, *liveRun){"Ctrl-C": byKey("\x03"),
		"SIGTERM": bySignal(syscall.SIGTERM)} {
		t.Run(name, func(t *testing.T) {
			r := runDemoLive(t)
			r.display.taken(t, demoBound)
			quit(t, r)
			r.ends(t, 20*time.Second, testbed.ExitOK)
			r.restored(t)
		})
	}
}
