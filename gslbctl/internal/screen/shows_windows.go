package screen

import (
	"os"

	"golang.org/x/sys/windows"
)

// Shows reports whether a file is a terminal that understands control sequences. It enables them if necessary.
func Shows(out *os.File) bool {
	var mode uint32
	handle := windows.Handle(out.Fd())
	if windows.GetConsoleMode(handle, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
