package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/settings"
)

// Main runs the program called name and returns its exit code. args are the arguments without the program name. SIGINT
// and SIGTERM end the context of the Role. A second signal has its default effect, unless the Role handles it. Main
// returns when the Role returns.
func Main(name string, role Role, args []string, stdout, stderr io.Writer) int {
	o, err := parse(name, role, args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return ExitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\nsee %s --help\n", name, err, name)
		return ExitUsage
	case o.version:
		fmt.Fprintln(stdout, versionLine(name, buildinfo.Get()))
		return ExitOK
	case o.reload > 0:
		if err := role.Validate(o.config); err != nil {
			return fail(stderr, name, err)
		}
		if err := hangUp(o.reload); err != nil {
			return fail(stderr, name, fmt.Errorf("--reload %d: %w", o.reload, err))
		}
		return ExitOK
	case o.validate:
		if err := role.Validate(o.config); err != nil {
			return fail(stderr, name, err)
		}
		fmt.Fprintf(stdout, "%s: the configuration is valid\n", o.config)
		if role.Cautions != nil {
			for _, caution := range role.Cautions(o.config) {
				fmt.Fprintf(stdout, "%s: caution: %s\n", o.config, caution)
			}
		}
		return ExitOK
	}
	if o.action != nil {
		if err := o.action.Do(o.config, stdout); err != nil {
			return fail(stderr, name, err)
		}
		return ExitOK
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // after the first signal, the next has its default effect
	if err := role.Run(ctx, o.config); err != nil {
		return fail(stderr, name, err)
	}
	return ExitOK
}

// hangUp sends SIGHUP, the reload signal, to a process. On Windows, which lacks the signal, it returns an error.
func hangUp(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Signal(syscall.SIGHUP)
}

// fail writes an error, each line after the name of the program, and returns the exit code.
func fail(stderr io.Writer, name string, err error) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "%s: %s\n", name, strings.TrimRight(line, "\n"))
	}
	if problems, ok := errors.AsType[settings.Problems](err); ok {
		fmt.Fprintf(stderr, "%s: %s in the configuration\n", name, counted(len(problems)))
		return ExitUsage
	}
	return ExitFailure
}

func counted(n int) string {
	if n == 1 {
		return "1 problem"
	}
	return fmt.Sprintf("%d problems", n)
}

func versionLine(name string, b buildinfo.Info) string {
	return fmt.Sprintf("%s %s (commit %s, built %s, %s)", name, b.Version, b.GitCommit, b.BuildDate, b.GoVersion)
}
