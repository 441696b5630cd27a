package logging_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gslb.internal/shared/logging"
)

// A pseudo-terminal stands in for the terminal of an operator.
func TestNew_AutoIsColoredTextOnATerminal(t *testing.T) {
	for _, noColor := range []string{"", "1"} {
		t.Setenv("NO_COLOR", noColor)
		operator, terminal := openTerminal(t)
		logger, err := logging.New(logging.Config{Level: "info", Format: logging.FormatAuto}, terminal)
		if err != nil {
			t.Fatal(err)
		}
		logger.Info().Str("key", "value").Msg("hello")
		line, err := bufio.NewReader(operator).ReadString('\n')
		if err != nil || !strings.Contains(line, "hello") || strings.Contains(line, "{") ||
			strings.Contains(line, "\x1b[") != (noColor == "") {
			t.Errorf("NO_COLOR=%s: %q, %v", noColor, line, err)
		}
	}
}

// openTerminal returns both ends of a pseudo-terminal.
func openTerminal(t *testing.T) (operator, terminal *os.File) {
	t.Helper()
	operator, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { operator.Close() })
	if err := unix.IoctlSetPointerInt(int(operator.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(operator.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return operator, terminal
}
