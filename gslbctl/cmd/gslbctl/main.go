// Command gslbctl inspects and changes gslb overwatch nodes over their HTTP API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"gslb.internal/gslbctl/internal/cli"
	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/buildinfo"
)

func main() {
	terminal, asks := screen.Shows(os.Stdout), term.IsTerminal(int(os.Stdin.Fd()))
	var showLive func(context.Context, screen.Live) error
	if terminal && asks {
		showLive = func(ctx context.Context, l screen.Live) error { return screen.Show(ctx, os.Stdin, os.Stdout, l) }
	}
	var secret func(context.Context, string) (string, error)
	if asks {
		secret = func(ctx context.Context, question string) (string, error) {
			return screen.Secret(ctx, os.Stdin, os.Stderr, question)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := cli.Run(ctx, cmdline.System{
		In:       os.Stdin,
		Out:      os.Stdout,
		Err:      os.Stderr,
		Getenv:   os.Getenv,
		Now:      time.Now,
		Build:    buildinfo.Get(),
		Terminal: terminal,
		Asks:     asks,
		Secret:   secret,
		Tells:    screen.Shows(os.Stderr),
		Width:    func() int { return screen.Width(os.Stdout) },
		ShowLive: showLive,
	}, os.Args[1:])
	stop()
	os.Exit(code)
}
