package screen

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Secret reads a line from a terminal without echo. If ctx ends first, it restores the echo.
func Secret(ctx context.Context, in *os.File, out io.Writer, question string) (string, error) {
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(out, question)
	defer fmt.Fprintln(out)
	type line struct {
		text []byte
		err  error
	}
	typed := make(chan line, 1)
	go func() { // ends with the process, because a terminal read cannot be interrupted
		text, err := term.ReadPassword(fd)
		typed <- line{text, err}
	}()
	select {
	case l := <-typed:
		return string(l.text), l.err
	case <-ctx.Done():
		_ = term.Restore(fd, before)
		return "", ctx.Err()
	}
}
