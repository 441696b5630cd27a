// Command demo is `make run`: a cluster of real gslb programs on loopback with a live view of the answers to clients
// during faults. Without a terminal, or with -plain, it prints a transcript of a failover of each kind and exits 0 if
// all promises hold.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gslb.internal/integration/demo"
)

func main() {
	bin := flag.String("bin", "", "directory with the gslb programs; what is not there is built")
	plain := flag.Bool("plain", false, "print a transcript even on a terminal")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "demo: %q is not expected: only flags are\n", flag.Arg(0))
		os.Exit(2)
	}
	// The program catches signals until the end: a second Ctrl-C must not interrupt the cleanup, which has a time limit.
	// The end of the terminal or pipe also quits the program.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if err := demo.Run(ctx, demo.Options{Binaries: *bin, Plain: *plain, In: os.Stdin, Out: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
