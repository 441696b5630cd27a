package registry // inside: it shares bench_test.go

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/wire"
)

// world contains a registry in virtual time and its calls.
type world struct {
	*Registry
	t         *testing.T
	authority *authority
	changed   told
	log       logtest.Buffer
	disk      disk
	stop      func()

	kept []AdminState // admin states in the store

	mu      sync.Mutex
	expired []AdminState // arguments of AdminStateExpired
	began   []AdminState // arguments of AdminStateBegan
}

// SetDrain drains a backend to a share of 0 and stores the admin state for a restart. A duration of 0 means the
// duration of the service.
func (w *world) SetDrain(ctx context.Context, id ID, over time.Duration) (ends time.Time, err error) {
	if over == 0 {
		over = w.DrainTime(id.Service)
	}
	o := AdminState{Kind: api.OrderDrain, Service: id.Service, Address: id.Address, Port: id.Port, Duration: over,
		CreatedAt: time.Now()}
	if err := w.SetAdminState(ctx, o); err != nil {
		return ends, err
	}
	w.keep(o)
	if b := w.View().Get(id); b != nil {
		ends = b.DrainEndsAt
	}
	return ends, nil
}

// ClearDrain ends the operator's drain of a backend.
func (w *world) ClearDrain(ctx context.Context, id ID) error {
	o := AdminState{Kind: api.OrderDrain, Service: id.Service, Address: id.Address, Port: id.Port}
	w.kept = slices.DeleteFunc(w.kept, func(other AdminState) bool { return other.HasSameObject(&o) })
	return w.ClearAdminState(ctx, o.Kind, o.Service, o.Address, o.Port)
}

// keep stores an admin state for the next restart.
func (w *world) keep(o AdminState) {
	o.CreatedAt = o.CreatedAt.Round(0)
	w.kept = append(slices.DeleteFunc(w.kept, func(other AdminState) bool { return other.HasSameObject(&o) }), o)
}

// begun returns the arguments of the calls of AdminStateBegan.
func (w *world) begun() []AdminState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.began)
}

// ended returns the arguments of the calls of AdminStateExpired.
func (w *world) ended() []AdminState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.expired)
}

// told contains the services that were passed to Changed. Virtual time does not synchronize a test and the writer, so
// told has a lock.
type told struct {
	mu       sync.Mutex
	services []string
}

func (c *told) add(service string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.services = append(c.services, service)
}

func (c *told) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.services = nil
}

func (c *told) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.services)
}

func (c *told) sorted() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.services))
}

// disk is a StatusStore that can be full.
type disk struct {
	mu      sync.Mutex
	records map[ID]store.Status
	full    error
	batches int
}

func (d *disk) SaveStatuses(batch []store.Status) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full != nil {
		return d.full
	}
	d.batches++
	for _, m := range batch {
		if m.Gone {
			delete(d.records, savedID(m))
		} else {
			d.records[savedID(m)] = m
		}
	}
	return nil
}

func savedID(s store.Status) ID { return ID{s.Service, s.Address, s.Port} }

// fill sets the error of a full disk, or nil for a disk with space.
func (d *disk) fill(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = err
}

func (d *disk) batchCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.batches
}

func (d *disk) all() []store.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []store.Status
	for _, m := range d.records {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b store.Status) int { return savedID(a).Compare(savedID(b)) })
	return all
}

// The timings of most tests: the reference values of the specification.
var (
	validating = Timing{
		StaleThreshold: DefaultStaleThreshold, RemoveAfter: DefaultRemoveAfter,
		ValidationEnabled: true, ValidationInterval: DefaultValidationInterval,
	}
	notValidating = Timing{StaleThreshold: DefaultStaleThreshold, RemoveAfter: DefaultRemoveAfter}
)

// inWorld runs a test with a registry in a bubble of virtual time.
func inWorld(t *testing.T, timing Timing, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, authority: newAuthority(t)}
		w.disk.records = make(map[ID]store.Status)
		w.start(Options{Timing: timing})
		defer func() { w.stop() }()
		test(w)
	})
}

// start runs a registry, with default values for missing options.
func (w *world) start(o Options) {
	w.t.Helper()
	o.Changed = w.changed.add
	o.AdminStateExpired = func(o AdminState) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.expired = append(w.expired, o)
	}
	o.AdminStateBegan = func(o AdminState) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.began = append(w.began, o)
	}
	o.Statuses = &w.disk
	o.Logger = zerolog.New(&w.log)
	if o.Allowed == nil {
		o.Allowed = func(string, ID) bool { return true }
	}
	registry, err := New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Registry = registry
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- registry.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run: %v", err)
		}
		w.stop = func() {}
	}
	synctest.Wait()
}

// restart stops the registry and starts another with the stored state.
func (w *world) restart(o Options) {
	w.t.Helper()
	w.stop()
	o.Restored = w.disk.all()
	if o.AdminStates == nil {
		o.AdminStates = w.kept
	}
	w.start(o)
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// must fails the test if there is an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) ctx() context.Context { return w.t.Context() }

// id parses a valid id.
func id(s string) ID {
	id, err := ParseID(s)
	if err != nil {
		panic(err)
	}
	return id
}

// tcp is a TCP check without settings.
var tcp = reduce.Connection()

func static(s string) Declaration {
	return Declaration{ID: id(s), Weight: 100, Region: "eu", Check: unique.Make(tcp)}
}

// named returns a static declaration that names the agent of the server.
func named(s, agent string) Declaration {
	d := static(s)
	d.Agent = agent
	return d
}

// claims converts texts such as "id healthy" to reports of an agent.
func claims(said ...string) []wire.Backend {
	var backends []wire.Backend
	for _, s := range said {
		name, word, _ := strings.Cut(s, " ")
		id := id(name)
		b := wire.Backend{Service: id.Service, Address: id.Address, Port: id.Port, Weight: 100,
			Check: wire.Check{Type: "tcp"}}
		switch word {
		case "healthy":
			b.Claim, b.ConsecutiveSuccesses = wire.ClaimHealthy, check.DefaultSuccessThreshold
		case "unhealthy":
			b.Claim, b.ConsecutiveFailures, b.LastError = wire.ClaimUnhealthy, 1, "refused"
		case "draining":
			b.Claim, b.Draining = wire.ClaimHealthy, true
		case "none":
		default:
			panic(s)
		}
		backends = append(backends, b)
	}
	return backends
}

// beat sends a heartbeat and returns the codes of refused backends.
func (w *world) beat(from trust.Agent, said ...string) (codes []string) {
	w.t.Helper()
	m := &wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3, Backends: claims(said...)}
	outcome, err := w.ApplyHeartbeat(w.ctx(), from, m)
	w.must(err)
	for _, r := range outcome.Refused {
		codes = append(codes, r.Code.String())
	}
	return codes
}

// beatFor sends a heartbeat every ten seconds for a duration.
func (w *world) beatFor(d time.Duration, from trust.Agent, said ...string) {
	w.t.Helper()
	for ; d > 0; d -= 10 * time.Second {
		w.beat(from, said...)
		w.pass(min(d, 10*time.Second))
	}
}

// verdict applies the result of an own check, with the state for thresholds of one.
func (w *world) verdict(s string, outcome check.Outcome) {
	w.t.Helper()
	v := CheckResult{ID: id(s), Outcome: outcome, State: check.StateHealthy, Latency: time.Millisecond}
	if outcome == check.Failure {
		v.State, v.Err = check.StateUnhealthy, "refused"
	}
	w.must(w.ApplyCheckResult(w.ctx(), v))
}

// concluded returns a Conclusion.
func concluded(effective api.EffectiveStatus, mayServe bool, reason string) status.Conclusion {
	return status.Conclusion{Status: effective, MayServe: mayServe, Reason: reason}
}

// see compares a backend with "status may-serve reason" or "absent".
func (w *world) see(s string, want status.Conclusion) {
	w.t.Helper()
	b := w.View().Get(id(s))
	if b == nil {
		w.t.Fatalf("%s is absent, want %+v", s, want)
	}
	if got := concluded(b.Status, b.MayServe, b.Reason); got != want {
		w.t.Errorf("%s is %+v, want %+v", s, got, want)
	}
}

func (w *world) seeNone(s string) {
	w.t.Helper()
	if b := w.View().Get(id(s)); b != nil {
		w.t.Errorf("%s is still there: %s, %s", s, b.Status, b.Reason)
	}
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }
