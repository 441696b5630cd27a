package screen

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Control sequences (ECMA-48 and xterm): the alternate screen keeps what was
// on the terminal before; the cursor is hidden and lines do not wrap meanwhile.
const (
	enter      = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave      = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	topLeft    = "\x1b[H"
	clearRight = "\x1b[K"
	clearBelow = "\x1b[J"
)

// sizeInterval is how often the size is looked at. There is a signal for it,
// but not everywhere.
const sizeInterval = 200 * time.Millisecond

// The size of a terminal that does not tell its own.
const (
	usualWidth  = 80
	usualHeight = 24
)

// Width is how many columns a terminal has, 0 if it does not tell.
func Width(out *os.File) int {
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}

// Screen is a terminal while it is taken.
type Screen struct {
	in, out *os.File
	before  *term.State
	events  chan Event
	done    chan struct{}
	close   sync.Once
}

// Open takes the terminal. Whoever opened it must close it, on every way out.
func Open(in, out *os.File) (*Screen, error) {
	if !Shows(out) {
		return nil, errors.New("the terminal does not understand control sequences")
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("reading single keys: %w", err)
	}
	s := &Screen{in: in, out: out, before: before, events: make(chan Event), done: make(chan struct{})}
	if _, err := out.WriteString(enter); err != nil {
		return nil, errors.Join(fmt.Errorf("drawing on the terminal: %w", err), s.Close())
	}
	go s.keys()
	go s.sizes()
	return s, nil
}

// Close gives the terminal back as it was. The screen may be gone, and the
// keyboard is set right all the same. It may be called again.
func (s *Screen) Close() error {
	var err error
	s.close.Do(func() {
		close(s.done)
		_, drawn := s.out.WriteString(leave)
		err = errors.Join(drawn, term.Restore(int(s.in.Fd()), s.before))
	})
	return err
}

// Size is how many columns and rows there are.
func (s *Screen) Size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return usualWidth, usualHeight
	}
	return width, height
}

// Draw replaces the whole screen in one write. Lines that are too long are
// cut, and so are those below the last row.
func (s *Screen) Draw(lines []string) error {
	width, height := s.Size()
	var b strings.Builder
	b.WriteString(topLeft)
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(Cut(line, 0, width))
		b.WriteString(clearRight)
	}
	b.WriteString(clearBelow)
	_, err := s.out.WriteString(b.String())
	return err
}

// Events are the keys that are pressed and the changes of size, until Close.
func (s *Screen) Events() <-chan Event { return s.events }

// keys reads until the process ends: a read of a terminal cannot be stopped.
func (s *Screen) keys() {
	buf := make([]byte, 64)
	for {
		n, err := s.in.Read(buf)
		if err != nil || n == 0 {
			s.send(Quit) // nobody can press q any more
			return
		}
		for _, e := range decode(buf[:n]) {
			if !s.send(e) {
				return
			}
		}
	}
}

func (s *Screen) sizes() {
	width, height := s.Size()
	for ticks := time.NewTicker(sizeInterval); ; {
		select {
		case <-s.done:
			ticks.Stop()
			return
		case <-ticks.C:
		}
		if w, h := s.Size(); w != width || h != height {
			width, height = w, h
			s.send(Resized)
		}
	}
}

// send hands an event over, unless the screen is closed before it is taken.
func (s *Screen) send(e Event) bool {
	select {
	case s.events <- e:
		return true
	case <-s.done:
		return false
	}
}
