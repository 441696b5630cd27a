package cmdline

import (
	"context"
	"fmt"
	"io"
	"time"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/buildinfo"
)

// System is the environment of a command: streams, terminal, clock and variables.
type System struct {
	In       io.Reader
	Out      io.Writer
	Err      io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Build    buildinfo.Info
	Terminal bool // Out is a terminal with colors
	Asks     bool // In is a terminal, so an operator can answer a question
	Tells    bool // Err is a terminal, so progress can be shown
	// Secret reads a line from the terminal without showing it. It is nil without a terminal.
	Secret func(ctx context.Context, question string) (string, error)
	// Width returns the columns of Out if Out is a terminal, 0 if the number is unknown. Width can be nil.
	Width func() int
	// ShowLive shows a full-screen view, as screen.Show does. It is nil without a terminal.
	ShowLive func(context.Context, screen.Live) error
}

// App is one invocation of gslbctl: its environment, its nodes and the flags that all commands share.
type App struct {
	System
	*fleet.Fleet
	API     []string      // --api
	DNS     []string      // --dns
	Context string        // --context
	Output  string        // --output, one of Formats
	Timeout time.Duration // --timeout, of one request
	Quiet   bool          // print only the requested output: no progress, and no note about omitted columns
}

// NewApp returns an invocation without flags. Its nodes are resolved when a command needs them.
func NewApp(sys System) *App {
	a := &App{System: sys}
	a.Fleet = &fleet.Fleet{Nodes: a.resolveNodes, Progress: a.Progress,
		Warn: func(text string) { fmt.Fprintln(a.Err, render.Printable(text)) }}
	return a
}
