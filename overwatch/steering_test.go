package overwatch

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
	"gslb.internal/shared/logging"
)

// opened is a node with sockets on loopback that publishes, but answers nobody.
func opened(t *testing.T) *node {
	t.Helper()
	path := sample(t, t.TempDir(), "127.0.0.1:0")
	cfg, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	logger, control, err := logging.Adjustable(cfg.Logging, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	n, err := newNode(context.Background(), cfg, path, logger.Level(zerolog.Disabled), control)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	return n
}

// together has changes queued before any of them is made, and returns what became of each. Whether a change brought its caller down is
// in fell.
func together(n *node, changes ...func(*definitions.Draft) error) (errs []error, fell []bool) {
	errs, fell = make([]error, len(changes)), make([]bool, len(changes))
	var callers sync.WaitGroup
	n.steering.mu.Lock()
	for i, change := range changes {
		callers.Go(func() {
			defer func() { fell[i] = recover() != nil }()
			errs[i] = n.Define(nil, change)
		})
		for n.queued() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	n.steering.mu.Unlock()
	callers.Wait()
	return errs, fell
}

func (n *node) queued() int {
	n.steering.queueMu.Lock()
	defer n.steering.queueMu.Unlock()
	return len(n.steering.queue)
}

func creates(name string) func(*definitions.Draft) error {
	return func(d *definitions.Draft) error {
		d.PutDomain(&store.Domain{Name: name, TTL: 30, Enabled: true})
		return nil
	}
}

var errConflict = errors.New("somebody was faster")

func conflicts(*definitions.Draft) error { return errConflict }

func TestDefine_EachOfSeveralChangesIsToldItsOwnEnd(t *testing.T) {
	n := opened(t)
	errs, _ := together(n, creates("app.gslb.test"), conflicts, creates(strings.Repeat("x", 64)+".gslb.test"))
	if errs[0] != nil || !errors.Is(errs[1], errConflict) || errs[2] == nil || errors.Is(errs[2], errConflict) {
		t.Errorf("a change that can be made, one that conflicts and one that no zone can hold ended with %v", errs)
	}
	if set, _ := n.Defined(); len(set.Domains) != 1 {
		t.Errorf("%d domains are defined, want the one that could be", len(set.Domains))
	}
}

func TestDefine_NoChangeIsTakenForMadeWhereAnotherPanics(t *testing.T) {
	n := opened(t)
	errs, fell := together(n, creates("app.gslb.test"), func(*definitions.Draft) error { panic("a fault") })
	set, _ := n.Defined()
	if (errs[0] == nil && !fell[0]) != (len(set.Domains) == 1) {
		t.Errorf("the creation ended with %v (fell: %t), and %d domains are defined", errs[0], fell[0], len(set.Domains))
	}
	if errs, fell := together(n, creates("later.gslb.test")); errs[0] != nil || fell[0] {
		t.Errorf("a later change ended with %v", errs[0])
	}
}

// The first three checks of a backend take two intervals, and the one of the file is 30 s.
func TestDefine_TheIntervalOfChecksIsInForceAtOnce(t *testing.T) {
	n := opened(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.validator.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	errs, _ := together(n, creates("app.gslb.test"), func(d *definitions.Draft) error {
		d.PutSetting(definitions.HealthCheck, []byte(`{"default_interval_seconds":1,"default_timeout_seconds":1}`))
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	id := registry.ID{Service: "app.gslb.test", Address: netip.MustParseAddr("127.0.0.1"), Port: 1}
	err := n.registry.SetStatic(ctx, []registry.Declaration{{ID: id, Weight: 1, Check: unique.Make(check.Spec{Type: check.TCP, FailureThreshold: 1, SuccessThreshold: 1})}})
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); n.checks.Load() < 3; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("%d checks in 20 s, with one each second in force", n.checks.Load())
		}
	}
}
