package screen

import (
	"os"

	"golang.org/x/term"
)

// Width returns the number of columns of a terminal, 0 if the terminal does
// not report it.
func Width(out *os.File) int {
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}
