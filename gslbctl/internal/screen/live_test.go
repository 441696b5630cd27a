package screen // inside: it looks at ctx and gather

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// The control sequences that select the alternate screen of a terminal, and that restore the main screen and the
// cursor.
const (
	enter = "\x1b[?1049h"
	leave = "\x1b[?1049l\x1b[?25h"
)

// shown runs Show with pipes as the terminal and returns the output. The first refresh waits for the alternate screen.
func shown(t *testing.T, ctx context.Context, live Live) (text string, panicked any, err error) {
	t.Helper()
	in, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keyboard.Close()
	display, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer display.Close()
	taken, drawn := make(chan struct{}), make(chan string)
	go func() {
		var text strings.Builder
		for buf := make([]byte, 4096); ; {
			n, err := display.Read(buf)
			before := strings.Contains(text.String(), enter)
			text.Write(buf[:n])
			if !before && strings.Contains(text.String(), enter) {
				close(taken)
			}
			if err != nil {
				drawn <- text.String()
				return
			}
		}
	}()
	gather := live.Gather
	live.Gather = func(ctx context.Context) (Picture, error) {
		<-taken
		return gather(ctx)
	}
	live.Interval, live.Now = time.Hour, time.Now
	live.Trouble = func(err error, first bool) (string, bool) { return err.Error(), true }
	defer func() { panicked = recover() }()
	defer func() {
		out.Close()
		text = <-drawn
	}()
	err = Show(ctx, in, out, live)
	return text, panicked, err
}

func TestShow_GivesTheTerminalBack(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	for name, tc := range map[string]struct {
		ctx    context.Context
		gather func(context.Context) (Picture, error)
		want   error
	}{
		"last refresh": {t.Context(), func(context.Context) (Picture, error) { return numbered{}, nil }, nil},
		"a mistake":    {t.Context(), func(context.Context) (Picture, error) { return nil, errMistake }, errMistake},
		"a panic":      {t.Context(), func(context.Context) (Picture, error) { panic("a fault") }, nil},
		"end of ctx":   {ended, func(context.Context) (Picture, error) { end(); return numbered{}, nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			drawn, panicked, err := shown(t, tc.ctx, Live{Tabs: []string{"one", "two"}, Count: 1, Gather: tc.gather})
			if !errors.Is(err, tc.want) {
				t.Errorf("it ends with %v, want %v", err, tc.want)
			}
			if (panicked != nil) != (name == "a panic") {
				t.Errorf("it panics with %v", panicked)
			}
			if !strings.Contains(drawn, leave) {
				t.Errorf("the terminal is not given back: %q", drawn)
			}
		})
	}
}
