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
	"gslb.internal/shared/buildinfo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.System{
		In:       os.Stdin,
		Out:      os.Stdout,
		Err:      os.Stderr,
		Getenv:   os.Getenv,
		Now:      time.Now,
		Build:    buildinfo.Get(),
		Terminal: term.IsTerminal(int(os.Stdout.Fd())),
		Asks:     term.IsTerminal(int(os.Stdin.Fd())),
	}, os.Args[1:])
	stop()
	os.Exit(code)
}
