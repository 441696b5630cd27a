// Command gslbctl looks after gslb overwatch nodes over their HTTP API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"gslb.internal/gslbctl/internal/cli"
	"gslb.internal/gslbctl/internal/screen"
	"gslb.internal/shared/buildinfo"
)

func main() {
	terminal, asks := screen.Shows(os.Stdout), term.IsTerminal(int(os.Stdin.Fd()))
	var openScreen func() (cli.Screen, error)
	if terminal && asks {
		openScreen = func() (cli.Screen, error) { return screen.Open(os.Stdin, os.Stdout) }
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := cli.Run(ctx, cli.System{
		In:         os.Stdin,
		Out:        os.Stdout,
		Err:        os.Stderr,
		Getenv:     os.Getenv,
		Now:        time.Now,
		Build:      buildinfo.Get(),
		Terminal:   terminal,
		Asks:       asks,
		Tells:      screen.Shows(os.Stderr),
		Width:      func() int { return screen.Width(os.Stdout) },
		OpenScreen: openScreen,
	}, os.Args[1:])
	stop()
	os.Exit(code)
}
