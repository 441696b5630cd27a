package cli // inside: it shares fake_test.go

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/api"
)

// operator is a person at a pseudo-terminal on which a command runs.
type operator struct {
	keyboard *os.File
	ended    chan int // the exit code of the command

	mu     sync.Mutex
	screen *vt.Emulator
}

// Write shows the output of the command on the screen.
func (o *operator) Write(output []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.screen.Write(output)
}

// String returns the text of the screen.
func (o *operator) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.screen.String()
}

// atTerminal runs a command line on a pseudo-terminal, with a node.
func atTerminal(t *testing.T, n *node, args ...string) *operator {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	const columns, rows = 160, 40
	size := &unix.Winsize{Row: rows, Col: columns}
	if err := unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{screen: vt.NewEmulator(columns, rows), keyboard: keyboard, ended: make(chan int, 1)}
	go func() { _, _ = io.Copy(keyboard, o.screen) }() // both end with an error when the test closes the terminal
	go func() { _, _ = io.Copy(o, keyboard) }()
	ctx, stop := context.WithCancel(t.Context())
	sys := cmdline.System{In: terminal, Out: terminal, Err: io.Discard, Terminal: true, Asks: true,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return now },
		ShowLive: func(ctx context.Context, l screen.Live) error { return screen.Show(ctx, terminal, terminal, l) }}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		o.ended <- Run(ctx, sys, append(args, "--api", n.url))
	}()
	t.Cleanup(func() {
		stop()
		<-returned // the command reads from the terminal until it returns
		terminal.Close()
		keyboard.Close()
	})
	return o
}

// press types keys, one after another.
func (o *operator) press(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := o.keyboard.WriteString(key); err != nil {
			t.Fatal(err)
		}
	}
}

// sees waits until the screen has a text.
func (o *operator) sees(t *testing.T, text string) {
	t.Helper()
	o.waits(t, text, true)
}

// misses waits until the screen no longer has a text.
func (o *operator) misses(t *testing.T, text string) {
	t.Helper()
	o.waits(t, text, false)
}

func (o *operator) waits(t *testing.T, text string, shown bool) {
	t.Helper()
	end := time.Now().Add(30 * time.Second) // only a hang reaches it
	for strings.Contains(o.String(), text) != shown {
		if time.Now().After(end) {
			t.Fatalf("the screen shows %q: %v, want %v:\n%s", text, !shown, shown, o.String())
		}
		time.Sleep(5 * time.Millisecond) // the terminal does not tell of a change
	}
}

// An operator finds a name, drains one of its backends, ends the drain, overrides a backend, clears the override, and
// undoes a change. Every change asks first.
func TestTop_ChangesWhatIsSelectedAfterAConfirmation(t *testing.T) {
	first, second := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.11", 443, "eu-1", "eu")
	n, _ := drainingNode(t, first, second)
	const list = "GET /api/v1/overwatch/backends"
	o := atTerminal(t, n, "top", "--interval", "100ms")
	o.sees(t, "> app.example.com")
	o.press(t, "\r")
	o.sees(t, "filter: app.example.com")
	o.sees(t, "> app.example.com  192.0.2.10:443")
	o.press(t, "j", "d")
	o.sees(t, "reason to drain app.example.com:192.0.2.11:443 (optional): _")
	o.press(t, "kernelx", "\x7f", "\r")
	o.sees(t, "node "+n.url+": drain app.example.com:192.0.2.11:443. [y/N]")
	o.press(t, "n")
	o.sees(t, "Nothing was changed.")
	if list := n.changes(); len(list) > 0 {
		t.Fatalf("changed without a confirmation: %q", list)
	}
	o.press(t, "d", "kernel", "\r")
	o.sees(t, "[y/N]")
	o.press(t, "y")
	o.sees(t, "is draining")

	drained, overridden := drainedAt(first, "", 0), second
	overridden.Override = &api.ActiveOverride{}
	n.set(list, backendsOf(drained, overridden))
	n.set("GET /api/v1/overrides", api.OverrideList{Total: 1, Overrides: []api.Override{{Service: "app.example.com",
		Address: "192.0.2.11", Reason: "broken"}}})
	n.set("DELETE /api/v1/overrides/app.example.com/192.0.2.11", struct{}{})
	o.sees(t, "0 x 0%")
	o.press(t, "o")
	o.sees(t, "clear the override of app.example.com 192.0.2.11: broken. [y/N]")
	o.press(t, "y")
	o.sees(t, "the override of app.example.com 192.0.2.11 is cleared")
	o.press(t, "k", "d")
	o.sees(t, "end the drain of app.example.com:192.0.2.10:443. [y/N]")
	o.press(t, "y")
	o.sees(t, "receives traffic again")

	n.set(list, backendsOf(first, second))
	o.misses(t, "0 x 0%")
	n.set("PUT /api/v1/overrides/app.example.com/192.0.2.10:443", api.Override{Service: "app.example.com",
		Address: "192.0.2.10:443"})
	o.press(t, "o")
	o.sees(t, "reason to override app.example.com:192.0.2.10:443 as unhealthy: _")
	o.press(t, "\r")
	o.sees(t, "an override requires a reason")
	o.press(t, "o", "broken", "\r")
	o.sees(t, "override app.example.com:192.0.2.10:443 as unhealthy until the override is cleared. [y/N]")
	o.press(t, "y")
	o.sees(t, "app.example.com 192.0.2.10:443 is unhealthy")
	o.press(t, "u")
	o.sees(t, "undo your last change, drain of server")
	o.press(t, "y")
	o.sees(t, "the drain of server y is undone")
	want := []string{`POST /api/v1/servers/app.example.com:192.0.2.11:443/drain  {"reason":"kernel"}`,
		"DELETE /api/v1/overrides/app.example.com/192.0.2.11", "DELETE /api/v1/servers/app.example.com:192.0.2.10:443/drain",
		`PUT /api/v1/overrides/app.example.com/192.0.2.10:443  {"healthy":false,"reason":"broken","source":"gslbctl"}`,
		"POST /api/v1/audit-logs/7/undo"}
	if got := n.changes(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent %q, want %q", got, want)
	}
	ids := map[string]bool{}
	for _, id := range n.changeIDs {
		ids[id] = true
	}
	if len(ids) < 5 {
		t.Errorf("the changes share ids, so that an undo reverts several: %q", n.changeIDs)
	}
	o.press(t, "q")
	if code := <-o.ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A change between the question of an undo and its confirmation is not undone in place of the confirmed change.
func TestTop_UndoesOnlyTheConfirmedChange(t *testing.T) {
	n, _ := drainingNode(t, fakeBackend("192.0.2.10", 443, "eu-1", "eu"))
	n.set("POST /api/v1/audit-logs/8/undo", api.Undone{Success: true, Message: "the weight of server z is undone"})
	o := atTerminal(t, n, "top", "--interval", "100ms")
	o.sees(t, "> app.example.com") // the actions are available after the first refresh
	o.press(t, "u")
	o.sees(t, "undo your last change, drain of server y")
	n.set(askLast, api.Undone{Success: true, Entry: 8, At: now, Action: "weight", Resource: "server", ResourceID: "z"})
	o.press(t, "y")
	o.sees(t, "another change was made since: press u again; nothing was changed")
	if list := n.changes(); len(list) > 0 {
		t.Fatalf("changed %q", list)
	}
	o.press(t, "u")
	o.sees(t, "undo your last change, weight of server z")
	o.press(t, "y")
	o.sees(t, "the weight of server z is undone")
	if list := n.changes(); len(list) != 1 || list[0] != "POST /api/v1/audit-logs/8/undo" {
		t.Errorf("changed %q", list)
	}
}

// A change that would leave a name without an answer is refused before the question. Events and help have views.
func TestTop_RefusesAnUnsafeChange(t *testing.T) {
	n, _ := drainingNode(t, fakeBackend("192.0.2.10", 443, "eu-1", "eu"))
	n.set("POST /api/v1/routing/consequences", lossOf("app.example.com"))
	o := atTerminal(t, n, "watch", "--interval", "100ms")
	o.sees(t, "[1: names]")
	o.press(t, "2")
	o.sees(t, "> app.example.com  192.0.2.10:443")
	o.press(t, "d", "\r")
	o.sees(t, "app.example.com would be left with 0 of at least 1 backend")
	if list := n.changes(); len(list) > 0 {
		t.Errorf("changed %q", list)
	}
	o.misses(t, "--force")
	o.press(t, "\x1b")
	o.misses(t, "would be left")
	o.press(t, "3")
	o.sees(t, "b is unhealthy")
	o.press(t, "/", "nothing")
	o.sees(t, "filter: nothing_")
	o.press(t, "\x1b")
	o.sees(t, "b is unhealthy")
	o.misses(t, "filter: ")
	o.press(t, "?")
	o.sees(t, "move the selection")
	o.press(t, "q")
	if code := <-o.ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
