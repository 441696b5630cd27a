package overwatch // inside: it uses core, errHanging and node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/state/store"
)

// asks reports whether a node answers a query.
func asks(t *testing.T, n *node) error {
	t.Helper()
	_, _, err := (&dns.Client{Timeout: 30 * time.Second}).Exchange(new(dns.Msg).SetQuestion("gslb.test.", dns.TypeSOA),
		n.dns.Addrs()[0].String())
	return err
}

// stopping runs a node with a part that blocks at its end until release, like a part with a hanging disk. It then stops
// the node.
func stopping(t *testing.T, patience time.Duration) (n *node, release func(), ended chan error) {
	t.Helper()
	n = opened(t)
	n.patience = patience
	asked, released := make(chan struct{}), make(chan struct{})
	n.core.run("a part whose disk hangs", func(ctx context.Context) error {
		<-ctx.Done()
		close(asked)
		<-released
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	ended = make(chan error, 1)
	go func() { ended <- n.run(ctx, nil) }()
	if err := asks(t, n); err != nil {
		t.Fatal(err)
	}
	stop()
	<-asked
	return n, func() { close(released) }, ended
}

// DNS answers until all data is stored. The node then ends normally.
func TestRun_AnswersUntilAllIsStored(t *testing.T) {
	t.Parallel()
	n, release, ended := stopping(t, time.Hour)
	if err := asks(t, n); err != nil {
		t.Errorf("while it stores: %v", err)
	}
	release()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	again, err := store.Open(n.state.Config().DataDir, store.Options{})
	if err != nil {
		t.Fatalf("the store is not closed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// The node waits for a hanging disk for a limited time. It then closes its sockets, so that queries reach other nodes.
func TestRun_EndsAlthoughADiskHangs(t *testing.T) {
	t.Parallel()
	n, release, ended := stopping(t, 10*time.Millisecond)
	defer release() // before the cleanup closes the node
	if err := <-ended; !errors.Is(err, errHanging) {
		t.Errorf("it ends with %v", err)
	}
	if asks(t, n) == nil {
		t.Error("its sockets are there")
	}
}
