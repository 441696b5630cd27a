package control // inside: it looks at book and declarations

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/resolve"
)

// The node keeps the last valid addresses of a target name through every failure, and reports each kind of failure
// once.
func TestTargets_KeepWhatWasGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records atomic.Pointer[[]string]
		records.Store(new([]string))
		exchange := func(_ context.Context, _, name string, kind uint16, _ bool) (*dns.Msg, error) {
			reply := new(dns.Msg).SetReply(new(dns.Msg).SetQuestion(dns.Fqdn(name), kind))
			for _, text := range *records.Load() {
				if rr, err := dns.NewRR(text); err == nil && (rr.Header().Rrtype == kind || rr.Header().Rrtype == dns.TypeCNAME) {
					reply.Answer = append(reply.Answer, rr)
				}
			}
			return reply, nil
		}
		var log bytes.Buffer
		host := trust.Host{Loopback: true}
		targets := NewTargets(TargetOptions{Takes: host.TakesTarget, Logger: zerolog.New(&log)})
		targets.book = resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: time.Second, MaxTTL: time.Second,
			Exchange: exchange, Changed: func() {}})
		go func() { _ = targets.Run(t.Context()) }()
		cfg := &config.Config{Domains: []config.Domain{{Name: "app.test"}, {Name: "*.wild.test"}},
			Regions: []config.Region{{Name: "eu", Enabled: true, Servers: []config.Server{
				{Service: "app.test", Target: "lb.test", Port: 80, Weight: 100},
				{Service: "app.test", Address: netip.MustParseAddr("192.0.2.2"), Port: 80, Weight: 10},
			}}}}
		defer targets.Await(t.Context(), cfg, time.Second)()
		for _, step := range []struct {
			records []string
			want    []string // in addition to the address in the file
			problem string
		}{
			{[]string{"lb.test. 1 A 192.0.2.1", "lb.test. 1 A 192.0.2.2"}, []string{"192.0.2.1"}, ""},
			{nil, []string{"192.0.2.1"}, "it is not resolved: lb.test has no address"},
			{[]string{"lb.test. 1 A 127.0.0.1"}, []string{"192.0.2.1"},
				"it has addresses outside the allowed networks: 127.0.0.1"},
			{[]string{"lb.test. 1 CNAME a.wild.test.", "a.wild.test. 1 A 192.0.2.3"}, []string{"192.0.2.1"},
				"it leads to a name that this node answers itself: a.wild.test"},
			{[]string{"lb.test. 1 CNAME x.test.", "x.test. 1 A 192.0.2.4"}, []string{"192.0.2.4"}, ""},
			{[]string{"lb.test. 1 A 192.0.2.2"}, nil, // the address of the other server
				"an earlier server has its addresses and port"},
		} {
			records.Store(&step.records)
			time.Sleep(3 * time.Second)
			targets.declarations(cfg)
			time.Sleep(11 * time.Second) // the previous addresses still serve
			for range 3 {
				var got []string
				for _, d := range targets.declarations(cfg) {
					if d.Host.Name == "lb.test" {
						got = append(got, d.ID.Address.String())
					} else if d.ID.Address.String() != "192.0.2.2" {
						t.Errorf("%v is declared", d.ID)
					}
				}
				if !slices.Equal(got, step.want) {
					t.Errorf("%v: %v, want %v", step.records, got, step.want)
				}
				id := definitions.TargetID{Service: "app.test", Name: "lb.test", Port: 80}
				if problem := targets.Problem(id); problem != step.problem {
					t.Errorf("%v: %q, want %q", step.records, problem, step.problem)
				}
			}
		}
		for _, problem := range []string{"has no address", "127.0.0.1", "a.wild.test", "is resolved\"",
			"an earlier server has"} {
			if n := strings.Count(log.String(), problem); n != 1 {
				t.Errorf("%q is told %d times:\n%s", problem, n, &log)
			}
		}
		for i := range 60 { // it flaps
			records.Store(&[][]string{nil, {"lb.test. 1 A 192.0.2.5"}}[i%2])
			time.Sleep(3 * time.Second)
			targets.declarations(cfg)
		}
		if n := strings.Count(log.String(), "\n"); n != 8 || strings.Count(log.String(), "changes often") != 1 {
			t.Errorf("%d lines:\n%s", n, &log)
		}
	})
}

// of returns a configuration with one server whose host name is target.
func of(target string) *config.Config {
	return &config.Config{Domains: []config.Domain{{Name: "app.test"}}, Regions: []config.Region{{Name: "eu",
		Enabled: true,
		Servers: []config.Server{{Service: "app.test", Target: target, Port: 80, Weight: 100}}}}}
}

// A resolver that never answers only delays the callers that wait for it, for the time that they specify. The lookups
// continue, whatever is declared in the meantime.
func TestTargets_NothingElseWaitsForADeadResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := make(chan struct{})
		exchange := func(ctx context.Context, _, name string, kind uint16, _ bool) (*dns.Msg, error) {
			select {
			case <-dead:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			reply := new(dns.Msg).SetReply(new(dns.Msg).SetQuestion(dns.Fqdn(name), kind))
			if rr, err := dns.NewRR(name + " 60 A 192.0.2.1"); err == nil && kind == dns.TypeA {
				reply.Answer = append(reply.Answer, rr)
			}
			return reply, nil
		}
		host := trust.Host{Loopback: true}
		targets := NewTargets(TargetOptions{Takes: host.TakesTarget, Logger: zerolog.Nop()})
		targets.book = resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: time.Second, MaxTTL: time.Minute,
			Exchange: exchange, Changed: func() {}})
		go func() { _ = targets.Run(t.Context()) }()
		began := time.Now()
		if got := targets.declarations(of("old.lb")); len(got) > 0 || time.Since(began) > 0 {
			t.Errorf("%v after %v", got, time.Since(began))
		}
		done := targets.Await(t.Context(), of("new.lb"), 2*time.Second)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("awaited for %v", took)
		}
		targets.declarations(of("old.lb")) // a change by the API
		close(dead)
		synctest.Wait()
		for _, name := range []string{"old.lb", "new.lb"} {
			if got := targets.declarations(of(name)); len(got) != 1 {
				t.Errorf("%s has %v", name, got)
			}
			targets.declarations(of("old.lb"))
		}
		done()
		if got := targets.book.Get("new.lb"); got.Asked {
			t.Error("a name that is not in force is followed on")
		}
	})
}

// A configuration that is not applied does not remove the addresses of a target that only the previous configuration
// has.
func TestTargets_KeepTheirAddressesWhereAReloadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		exchange := func(ctx context.Context, _, name string, kind uint16, _ bool) (*dns.Msg, error) {
			if dead.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			reply := new(dns.Msg).SetReply(new(dns.Msg).SetQuestion(dns.Fqdn(name), kind))
			if rr, err := dns.NewRR(name + " 60 A 192.0.2.1"); err == nil && kind == dns.TypeA {
				reply.Answer = append(reply.Answer, rr)
			}
			return reply, nil
		}
		targets := NewTargets(TargetOptions{Takes: new(trust.Host).TakesTarget, Logger: zerolog.Nop()})
		targets.book = resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: time.Second, MaxTTL: time.Minute,
			Exchange: exchange, Changed: func() {}})
		go func() { _ = targets.Run(t.Context()) }()
		done := targets.Await(t.Context(), of("old.lb"), time.Second)
		if got := targets.declarations(of("old.lb")); len(got) != 1 {
			t.Fatalf("at first %v", got)
		}
		done()
		dead.Store(true)
		restore := targets.saveState()
		targets.declarations(of("new.lb"))
		restore()
		if got := targets.declarations(of("old.lb")); len(got) != 1 {
			t.Errorf("after a reload that failed: %v", got)
		}
	})
}

// A name whose addresses all change keeps the previous addresses until the new addresses can have been checked.
func TestTargets_AddressesThatAreAllOthersOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last atomic.Uint32
		exchange := func(_ context.Context, _, name string, kind uint16, _ bool) (*dns.Msg, error) {
			reply := new(dns.Msg).SetReply(new(dns.Msg).SetQuestion(dns.Fqdn(name), kind))
			rr, err := dns.NewRR(fmt.Sprintf("lb.test. 1 A 192.0.2.%d", last.Load()))
			if kind == dns.TypeA {
				reply.Answer = []dns.RR{rr}
			}
			return reply, err
		}
		var changed atomic.Uint32
		host := trust.Host{Loopback: true}
		targets := NewTargets(TargetOptions{Takes: host.TakesTarget})
		go func() {
			for {
				select {
				case <-targets.moved:
					changed.Add(1)
				case <-t.Context().Done():
					return
				}
			}
		}()
		targets.book = resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: time.Second, MaxTTL: time.Second,
			Exchange: exchange, Changed: func() {}})
		go func() { _ = targets.Run(t.Context()) }()
		cfg := &config.Config{Domains: []config.Domain{{Name: "app.test"}}, Regions: []config.Region{{Name: "eu",
			Enabled: true,
			Servers: []config.Server{{Service: "app.test", Target: "lb.test", Port: 80, Weight: 100}}}}}
		for _, step := range []struct {
			last  uint32
			after time.Duration
			want  string
		}{
			{1, 0, "[]"},
			{1, 3 * time.Second, "[192.0.2.1]"},
			{2, 3 * time.Second, "[192.0.2.2 192.0.2.1]"},
			{2, 5 * time.Second, "[192.0.2.2 192.0.2.1]"},
			{2, 6 * time.Second, "[192.0.2.2]"},
			{3, 3 * time.Second, "[192.0.2.3 192.0.2.2]"},
			{4, 3 * time.Second, "[192.0.2.4 192.0.2.3]"},
			{4, 11 * time.Second, "[192.0.2.4]"},
		} {
			last.Store(step.last)
			time.Sleep(step.after)
			var got []netip.Addr
			for _, d := range targets.declarations(cfg) {
				got = append(got, d.ID.Address)
			}
			if fmt.Sprint(got) != step.want {
				t.Errorf("%d: %v, want %s", step.last, got, step.want)
			}
		}
		if changed.Load() != 3 {
			t.Errorf("the end of an overlap was told %d times, want 3", changed.Load())
		}
	})
}
