package cmdline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Bounds of a passphrase: a new passphrase has at least leastPassphrase characters, any passphrase at most
// mostPassphrase octets.
const (
	leastPassphrase = 12
	mostPassphrase  = 4 << 10
)

// PassphraseFlags name the source of a passphrase. No flag or variable contains the passphrase, because other users and
// logs could see it.
type PassphraseFlags struct {
	file       string
	descriptor int
}

func (f *PassphraseFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "passphrase-file", "",
		"`file` with the passphrase in its first line and mode 0600 (default the terminal)")
	cmd.Flags().IntVar(&f.descriptor, "passphrase-fd", -1,
		"`number` of an open file descriptor with the passphrase, 0 for standard input")
	cmd.MarkFlagsMutuallyExclusive("passphrase-file", "passphrase-fd")
}

// Passphrase reads the passphrase from the source in f, or from the terminal. If fresh is set, for a new passphrase, it
// reads the passphrase twice and rejects a short passphrase.
func (a *App) Passphrase(ctx context.Context, f PassphraseFlags, fresh bool) (text string, err error) {
	switch {
	case f.file != "":
		text, err = readPassphraseFile(f.file)
	case f.descriptor == 0:
		text, err = firstLine(a.In)
	case f.descriptor > 0:
		file := os.NewFile(uintptr(f.descriptor), "the descriptor of the passphrase")
		text, err = firstLine(file)
		err = errors.Join(err, file.Close())
	case f.descriptor < -1:
		return "", fmt.Errorf("--passphrase-fd is %d: give the number of an open descriptor", f.descriptor)
	default:
		text, err = a.askPassphrase(ctx, fresh)
	}
	switch length := utf8.RuneCountInString(text); {
	case err != nil:
		return "", err
	case text == "":
		return "", errors.New("the passphrase is empty")
	case fresh && length < leastPassphrase:
		return "", fmt.Errorf("the passphrase has %d characters: use %d or more, such as six words, because anyone "+
			"with the file can try all passphrases", length, leastPassphrase)
	}
	return text, nil
}

func (a *App) askPassphrase(ctx context.Context, fresh bool) (string, error) {
	if a.Secret == nil {
		return "", errors.New("there is no terminal to ask for the passphrase on: use --passphrase-file or " +
			"--passphrase-fd")
	}
	text, err := a.Secret(ctx, "Passphrase: ")
	if err != nil || !fresh {
		return text, err
	}
	again, err := a.Secret(ctx, "Repeat the passphrase: ")
	if err == nil && again != text {
		err = errors.New("the passphrases differ: nothing was written")
	}
	return text, err
}

// readPassphraseFile reads a passphrase from a file that only its owner can read.
func readPassphraseFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--passphrase-file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("--passphrase-file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("--passphrase-file %s has mode %04o, so that others can read it: run chmod 600 %s", path,
			info.Mode().Perm(), path)
	}
	text, err := firstLine(file)
	if err != nil {
		return "", fmt.Errorf("--passphrase-file %s: %w", path, err)
	}
	return text, nil
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, mostPassphrase+1)).ReadString('\n')
	switch line = strings.TrimRight(line, "\r\n"); {
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("reading the passphrase: %w", err)
	case len(line) > mostPassphrase:
		return "", fmt.Errorf("the passphrase has more than %d octets", mostPassphrase)
	}
	return line, nil
}
