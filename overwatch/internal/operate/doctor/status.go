package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/state/store"
)

// statusBound bounds the time for the node's answers, which never wait for anything.
const statusBound = 2 * time.Second

// Status asks the running node of a configuration over each of its DNS listeners and writes the answers to out. It
// returns an error if no node runs, or if one of the listeners does not answer. Health checks of containers use it.
func Status(configPath string, out io.Writer) error {
	cfg, err := control.Load(configPath)
	if err != nil {
		return err
	}
	if !store.InUse(cfg.DataDir) {
		return fmt.Errorf("no node runs with data_dir %s", cfg.DataDir)
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusBound)
	defer cancel()
	well := true
	for _, f := range CheckAnswers(ctx, examined(cfg)) {
		fmt.Fprintf(out, "%s\t%s %s\n", f.Grade, f.Subject, f.Text)
		well = well && f.Grade != Trouble
	}
	if !well {
		return errors.New("the node is not well")
	}
	return nil
}
