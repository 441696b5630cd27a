package drain_test

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
	"unique"

	"github.com/miekg/dns"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/drain"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

const ttl = 30 * time.Second

// world is a Tracker over a real registry with two backends of app.test, and over a view of published answers.
type world struct {
	*testing.T
	registry *registry.Registry
	tracker  *drain.Tracker
	view     *zone.View
	number   uint32 // of the last published decision
}

func newWorld(t *testing.T) *world {
	w := &world{T: t}
	var err error
	w.registry, err = registry.New(registry.Options{Changed: func(string) {}, Logger: zerolog.Nop(),
		Timing: registry.Timing{StaleThreshold: time.Minute, RemoveAfter: time.Hour}})
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.registry.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	w.must(w.registry.SetStaticDeclarations(ctx, []registry.Declaration{
		{ID: w.backend("10.0.0.1"), Weight: 100, Check: unique.Make(check.Spec{Type: check.TCP})},
		{ID: w.backend("10.0.0.2"), Weight: 100, Check: unique.Make(check.Spec{Type: check.TCP})}}))
	soa := &dns.SOA{Hdr: dns.RR_Header{Name: "test.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 300}, Ns: "ns.",
		Mbox: "m."}
	w.view, err = zone.New([]*zone.Contents{{Apex: "test.", SOA: soa, Balanced: []string{"app.test."}}}, nil)
	w.must(err)
	w.tracker = drain.NewTracker(drain.Options{View: w.registry.View(), DNSView: func() *zone.View { return w.view }})
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) backend(address string) registry.ID {
	return registry.ID{Service: "app.test", Address: netip.MustParseAddr(address), Port: 80}
}

// publish makes DNS answer with addresses.
func (w *world) publish(addresses ...string) {
	w.Helper()
	w.number++
	basis := &policy.DecisionInput{Name: "app.test.", Rules: &policy.Rules{Algorithm: policy.Weighted,
		TTL: uint32(ttl.Seconds())},
		Clients: []string{""}, Answers: 1, Number: w.number}
	for _, address := range addresses {
		basis.Candidates = append(basis.Candidates, policy.Candidate{Address: netip.MustParseAddr(address), Port: 80,
			Weight: 100, Share: 1, MayServe: true})
	}
	d := basis.Decide(policy.IPv4, policy.ClientLocation{})
	_, err := zone.NewWriter().SetAnswers(w.view, "app.test.", [2]policy.Decision{d, {Outcome: policy.NoData,
		Input: basis}}, 1)
	w.must(err)
}

// drain drains 10.0.0.1 over a time.
func (w *world) drain(over time.Duration) {
	w.Helper()
	id := w.backend("10.0.0.1")
	w.must(w.registry.SetAdminState(w.Context(), registry.AdminState{Kind: api.OrderDrain, Service: id.Service,
		Address: id.Address, Port: id.Port, Duration: over, CreatedAt: time.Now(), IsActive: true}))
}

// expect compares the stage of 10.0.0.1 and the time until it is safe to stop.
func (w *world) expect(stage api.DrainStage, safeIn time.Duration) {
	w.Helper()
	got, safeAt := w.tracker.Stage(w.registry.View().Get(w.backend("10.0.0.1")))
	left := time.Until(safeAt)
	if safeAt.IsZero() {
		left = 0
	}
	if got != stage || left.Round(time.Millisecond) != safeIn {
		w.Errorf("%s, safe in %s, want %s in %s", got, left, stage, safeIn)
	}
}

func TestTracker_CountsFromTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		running, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = w.tracker.Run(running) }()
		w.publish("10.0.0.1", "10.0.0.2")
		// In the bubble: the start of the tracker is long ago, and nothing happens at the time of a look.
		time.Sleep(time.Hour + 500*time.Millisecond)
		w.drain(10 * time.Second)
		w.expect(api.DrainDraining, 40*time.Second)
		time.Sleep(10 * time.Second)
		w.expect(api.DrainAnswered, 0) // not published yet
		w.publish("10.0.0.2")
		w.expect(api.DrainCached, ttl)
		time.Sleep(ttl)
		w.expect(api.DrainSafe, 0)
		// The other backend fails, without a caller of Stage.
		w.publish("10.0.0.1")
		time.Sleep(5 * time.Second)
		w.publish("10.0.0.2")
		time.Sleep(5 * time.Second)
		w.expect(api.DrainCached, ttl-4500*time.Millisecond) // counted from the first look after the last answer
	})
}

func TestTracker_AssumesAnswersBeforeItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.publish("10.0.0.1", "10.0.0.2")
		w.drain(time.Second)
		time.Sleep(time.Minute)
		w.publish("10.0.0.2")
		w.expect(api.DrainSafe, 0-29*time.Second)
		w.tracker = drain.NewTracker(drain.Options{View: w.registry.View(),
			DNSView: func() *zone.View { return w.view }})
		w.expect(api.DrainCached, ttl)
	})
}

func TestTracker_ForgetsAnEndedDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.publish("10.0.0.1")
		time.Sleep(time.Hour)
		w.drain(time.Second)
		time.Sleep(time.Minute)
		w.tracker.Look()
		id := w.backend("10.0.0.1")
		w.must(w.registry.ClearAdminState(t.Context(), api.OrderDrain, id.Service, id.Address, id.Port))
		w.tracker.Look()
		w.publish("10.0.0.2")
		time.Sleep(time.Hour)
		w.drain(time.Second)
		time.Sleep(11 * time.Second)
		w.expect(api.DrainCached, ttl-10*time.Second)
	})
}

func TestTracker_Planned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.publish("10.0.0.1")
		id := w.backend("10.0.0.1")
		o := registry.AdminState{Kind: api.OrderDrain, Service: id.Service, Address: id.Address, Port: id.Port,
			Duration: time.Minute, StartsAt: time.Now().Add(time.Hour)}
		stage, safeAt := w.tracker.Planned(o)
		if want := time.Hour + time.Minute + ttl; stage != api.DrainPlanned || time.Until(safeAt) != want {
			t.Errorf("%s, safe in %s, want %s", stage, time.Until(safeAt), want)
		}
	})
}
