package hints_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"
	"unique"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/cluster/hints"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

// voter is a node with a registry. The test makes its own checks.
type voter struct {
	*registry.Registry
	exchange *hints.Exchange
	t        *testing.T

	mu      sync.Mutex
	hurried map[registry.ID]chan struct{} // has an element after a hint
}

// startVoters runs nodes that declare all backends, and whose checks of all backends succeed.
func startVoters(t *testing.T, w *network, nodes int, backends []registry.ID, agree status.Agreement) []*voter {
	t.Helper()
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	voters := make([]*voter, nodes)
	for i, name := range names {
		voters[i] = startVoter(t, w, name, names, backends, agree)
	}
	return voters
}

func startVoter(t *testing.T, w *network, name string, names []string, backends []registry.ID,
	agree status.Agreement) *voter {
	t.Helper()
	v := &voter{t: t, hurried: map[registry.ID]chan struct{}{}}
	var err error
	v.Registry, err = registry.New(registry.Options{Timing: registry.Timing{StaleThreshold: time.Minute,
		RemoveAfter: time.Hour, ValidationEnabled: true, ValidationInterval: 30 * time.Second, Agreement: agree},
		Changed: func(string) {}, Logger: zerolog.Nop(),
		FailureSeen:     func(id registry.ID) { v.exchange.Hint(id) },
		FailureDisputed: func(id registry.ID) { v.exchange.RequestVotes(id) }})
	if err != nil {
		t.Fatal(err)
	}
	v.exchange, err = hints.New(hints.Options{NodeID: name, Transport: via{w, name}, Logger: zerolog.Nop(),
		Settings: hints.Settings{Secret: []byte(secret), Agreement: agree, Checks: true},
		Peers: func() (list []replication.Reachable) {
			for _, other := range names {
				if other != name {
					list = append(list, replication.Reachable{Node: other, URL: "http://" + other})
				}
			}
			return list
		},
		Backend: v.View().Get, Check: v.hurry, Votes: v.ApplyVotes, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{v.Run, v.exchange.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	w.mu.Lock()
	w.nodes[name] = v.exchange
	w.mu.Unlock()
	var declarations []registry.Declaration
	for _, id := range backends {
		declarations = append(declarations, registry.Declaration{ID: id, Check: unique.Make(check.Spec{Type: check.TCP})})
	}
	if err := v.SetStaticDeclarations(t.Context(), declarations); err != nil {
		t.Fatal(err)
	}
	for _, id := range backends {
		v.result(id, check.Success, check.StateHealthy)
	}
	return v
}

// result applies the result of an own check.
func (v *voter) result(id registry.ID, outcome check.Outcome, state check.State) {
	if err := v.ApplyCheckResult(v.t.Context(), registry.CheckResult{ID: id, Outcome: outcome, State: state}); err != nil {
		v.t.Error(err)
	}
}

func (v *voter) serves(id registry.ID) bool { return v.View().Get(id).MayServe }

// hurry applies a received hint.
func (v *voter) hurry(id registry.ID) {
	select {
	case v.hurries(id) <- struct{}{}:
	default:
	}
}

func (v *voter) hurries(id registry.ID) chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hurried[id] == nil {
		v.hurried[id] = make(chan struct{}, 1)
	}
	return v.hurried[id]
}

// checkUntil makes own checks of a backend as package validation does, until ctx ends. From the time died, each check
// fails after a duration.
func (v *voter) checkUntil(ctx context.Context, id registry.ID, first time.Duration, died time.Time,
	takes time.Duration) {
	spec := check.Spec{Type: check.TCP, Interval: 30 * time.Second, FailureThreshold: 3, SuccessThreshold: 2}
	tracker := spec.Tracker()
	due := time.NewTimer(first)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		case <-v.hurries(id):
		}
		began, outcome := time.Now(), check.Success
		if !began.Before(died) {
			time.Sleep(takes)
			outcome = check.Failure
		}
		tracker.Observe(outcome)
		v.result(id, outcome, tracker.State())
		due.Reset(max(0, spec.IntervalAfter(tracker)-time.Since(began)))
	}
}

// backends returns ids of backends.
func backends(count int) []registry.ID {
	ids := make([]registry.ID, count)
	for i := range ids {
		ids[i] = registry.ID{Service: "app.example.org", Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), Port: 80}
	}
	return ids
}
