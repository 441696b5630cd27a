package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Control sequences: the alternate screen keeps what was in the terminal before; the cursor is hidden while we draw.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	topLeft     = "\x1b[H"
	clearToEnd  = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// keyWait is how long a read of the keyboard waits before it looks whether it should end, in milliseconds.
const keyWait = 100

// terminal is the keyboard and screen while the live view has them.
type terminal struct {
	in, out *os.File
	before  *term.State
	color   bool
}

// openTerminal takes the terminal. Whoever opened it must close it, on every way out.
func openTerminal(in, out *os.File) (*terminal, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("reading single keys: %w", err)
	}
	t := &terminal{in: in, out: out, before: before, color: os.Getenv("NO_COLOR") == ""}
	if _, err := out.WriteString(enterScreen); err != nil {
		return nil, errors.Join(fmt.Errorf("drawing on the terminal: %w", err), t.close())
	}
	return t, nil
}

// close gives the terminal back as it was. The screen may be gone, and the keyboard is set right all the same.
func (t *terminal) close() error {
	_, drawn := t.out.WriteString(leaveScreen)
	return errors.Join(drawn, term.Restore(int(t.in.Fd()), t.before))
}

// size returns columns and rows, those of an ordinary terminal if it cannot be told.
func (t *terminal) size() (width, height int) {
	width, height, err := term.GetSize(int(t.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// draw replaces the whole screen in one write.
func (t *terminal) draw(lines []line, width int) error {
	var b strings.Builder
	b.WriteString(topLeft)
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(l.render(width, t.color))
		b.WriteString(clearToEnd)
	}
	b.WriteString(clearBelow)
	_, err := t.out.WriteString(b.String())
	return err
}

// keys sends each key to the channel until ctx ends or the keyboard is gone. Sequences of more than one byte, which
// arrow and function keys send, are left out.
func (t *terminal) keys(ctx context.Context, to chan<- byte) error {
	fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}}
	buf := make([]byte, 64)
	for ctx.Err() == nil {
		n, err := unix.Poll(fds, keyWait)
		if errors.Is(err, unix.EINTR) || (err == nil && n == 0) {
			continue
		}
		if err == nil {
			n, err = t.in.Read(buf)
		}
		if err != nil {
			return fmt.Errorf("reading the keyboard: %w", err)
		}
		if n == 0 || buf[0] == '\x1b' {
			continue
		}
		for _, key := range buf[:n] {
			select {
			case to <- key:
			case <-ctx.Done():
				return nil
			}
		}
	}
	return nil
}
