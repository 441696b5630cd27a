package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/state/store"
)

const (
	// statusBound is the timeout for the node's answers, which depend on nothing slow. Health checks of containers wait
	// for 5 s.
	statusBound = 4 * time.Second
	// datagramTries is the maximum number of UDP queries to a listener, and datagramWait the timeout of each query. A
	// healthy node may lose single queries in a flood.
	datagramTries = 3
	datagramWait  = 500 * time.Millisecond
)

// Status queries each DNS listener of the running node of a configuration and writes the answers to out. It returns an
// error if no node is running, or if a listener does not answer. Health checks of containers use it.
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

// askListener queries a listener of this machine for the SOA record of a zone.
func askListener(ctx context.Context, network, at, zone string) (r *dns.Msg, err error) {
	if network != "udp" {
		return ask(ctx, network, at, zone, dns.TypeSOA, false)
	}
	for range datagramTries {
		try, cancel := context.WithTimeout(ctx, datagramWait)
		r, err = ask(try, network, at, zone, dns.TypeSOA, false)
		cancel()
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return r, err
}
