package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/datadir"
)

// ResetIdentity deletes the agent's certificate and key, so that the next start creates new ones, and writes the
// remaining steps to out. It returns an error if the agent is running.
func ResetIdentity(configPath string, out io.Writer) error {
	cfg, err := config.Load(configPath)
	if err != nil {
		return err
	}
	dir, err := datadir.Open(cfg.DataDir, program())
	if err != nil {
		return err
	}
	defer dir.Close()
	deleted := 0
	for _, name := range []string{certificateFile, keyFile} {
		path := filepath.Join(cfg.DataDir, name)
		switch err := os.Remove(path); {
		case err == nil:
			deleted++
			fmt.Fprintf(out, "deleted %s\n", path)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("resetting the identity: %w", err)
		}
	}
	if deleted == 0 {
		fmt.Fprintf(out, "there was no identity in %s\n", cfg.DataDir)
		return nil
	}
	fmt.Fprintln(out, "now delete the agent's pin on every overwatch node (gslbctl agents unpin), then start the agent")
	return nil
}
