//go:build !windows

package screen

import (
	"os"

	"golang.org/x/term"
)

// Shows reports whether a file is a terminal that understands control sequences.
func Shows(out *os.File) bool { return term.IsTerminal(int(out.Fd())) }
