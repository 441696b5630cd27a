package registry // inside: it shares authority_test.go

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// running starts a registry in real time for a benchmark.
func running(b *testing.B, timing Timing) *Registry {
	b.Helper()
	return runningBy(b, timing, nil)
}

// runningBy is running with a clock; nil means time.Now.
func runningBy(b *testing.B, timing Timing, now func() time.Time) *Registry {
	b.Helper()
	registry, err := New(Options{Timing: timing, Now: now, Changed: func(string) {}, Logger: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- registry.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return registry
}

// host returns the n-th address of 10.0.0.0/8.
func host(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// services returns declarations of n services with four backends each.
func services(n int) []Declaration {
	list := make([]Declaration, 0, 4*n)
	for i := range n {
		name := fmt.Sprintf("name%06d.example", i)
		for j := range 4 {
			list = append(list, Declaration{ID: ID{name, host(4*i + j + 1), 443}, Weight: 100, Region: "eu",
				Check: unique.Make(tcp)})
		}
	}
	return list
}

// fleet contains agents that have sent their reports once.
type fleet struct {
	agents []trust.Agent
	beats  []*wire.Heartbeat
}

func newFleet(b *testing.B, r *Registry, size int) *fleet {
	b.Helper()
	authority := newAuthority(b)
	f := &fleet{}
	for i := range size {
		f.agents = append(f.agents, authority.agent(fmt.Sprintf("agent%d", i), "eu", "a.example", "b.example", "c.example"))
		beat := &wire.Heartbeat{Region: "eu", Version: "bench", IntervalMillis: 10_000, MissedThreshold: 3}
		for _, service := range []string{"a.example", "b.example", "c.example"} {
			beat.Backends = append(beat.Backends, wire.Backend{
				Service: service, Address: host(i + 1), Port: 443, Weight: 100, Claim: wire.ClaimHealthy,
				Check: wire.Check{Type: "http", Path: "/healthz", Host: "a.example"},
			})
		}
		f.beats = append(f.beats, beat)
		if outcome, err := r.ApplyHeartbeat(context.Background(), f.agents[i], beat); err != nil || len(outcome.Refused) > 0 {
			b.Fatal(outcome, err)
		}
	}
	return f
}

// BenchmarkHeartbeat measures one heartbeat of an agent with three backends, among up to 10 000 agents. The limit is 50
// microseconds of a core (20 000 heartbeats per second).
func BenchmarkHeartbeat(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("unchanged/agents=%d", size), func(b *testing.B) {
			r := running(b, validating)
			f := newFleet(b, r, size)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				n := i % size
				if _, err := r.ApplyHeartbeat(context.Background(), f.agents[n], f.beats[n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTransition measures the time until readers receive a health change, with few and with many names.
func BenchmarkTransition(b *testing.B) {
	for _, names := range []int{10, 100_000} {
		b.Run(fmt.Sprintf("services=%d", names), func(b *testing.B) {
			var ticks atomic.Int64
			begin := time.Now()
			// A command reads the clock twice. Between two commands, the agent may make one more change.
			r := runningBy(b, validating, func() time.Time {
				return begin.Add(time.Duration(ticks.Add(1)) * time.Second / changeRate)
			})
			if err := r.SetStaticDeclarations(context.Background(), services(names)); err != nil {
				b.Fatal(err)
			}
			authority := newAuthority(b)
			agent := authority.agent("agent", "eu", "a.example")
			said := [2]wire.Transition{}
			for i := range said {
				said[i].Backend = wire.Backend{Service: "a.example", Address: host(1), Port: 443, Weight: 100,
					Claim: wire.Claim(1 + i)}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				outcome, err := r.ApplyTransition(context.Background(), agent, &said[i%2])
				if err != nil || !outcome.Changed {
					b.Fatal(outcome, err)
				}
			}
		})
	}
}

// BenchmarkValidated measures a check result that changes nothing, of one of 400 000 backends.
func BenchmarkValidated(b *testing.B) {
	r := running(b, validating)
	list := services(100_000)
	if err := r.SetStaticDeclarations(context.Background(), list); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		v := CheckResult{ID: list[i%len(list)].ID, State: check.StateHealthy, Outcome: check.Success}
		if err := r.ApplyCheckResult(context.Background(), v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSetStatic measures the declaration of 100 000 names with four backends each, first into an empty registry
// and then without a change.
func BenchmarkSetStatic(b *testing.B) {
	list := services(100_000)
	b.Run("new", func(b *testing.B) {
		for range b.N {
			r := running(b, validating)
			before := liveHeap()
			if err := r.SetStaticDeclarations(context.Background(), list); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(liveHeap()-before)/float64(len(list)), "B/backend")
			runtime.KeepAlive(r)
		}
	})
	b.Run("again", func(b *testing.B) {
		r := running(b, validating)
		for range b.N + 1 {
			if err := r.SetStaticDeclarations(context.Background(), list); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkView measures reads of a view.
func BenchmarkView(b *testing.B) {
	r := running(b, validating)
	list := services(100_000)
	if err := r.SetStaticDeclarations(context.Background(), list); err != nil {
		b.Fatal(err)
	}
	view := r.View()
	b.Run("Service", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			if len(view.Service(list[i%len(list)].ID.Service)) != 4 {
				b.Fatal("not found")
			}
		}
	})
	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			if view.Get(list[i%len(list)].ID) == nil {
				b.Fatal("not found")
			}
		}
	})
	b.Run("Backends", func(b *testing.B) {
		for range b.N {
			n := 0
			for range view.Backends() {
				n++
			}
			if n != len(list) {
				b.Fatal(n)
			}
		}
	})
}
