package resolve_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/shared/resolve"
)

// server is a resolver with configured answers.
type server struct {
	mu      sync.Mutex
	records []string // of a zone file
	err     error
	asked   int
	forged  bool // the reply has another question
}

func (s *server) set(err error, records ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records, s.err = records, err
}

func (s *server) forge(forged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forged = forged
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *server) exchange(_ context.Context, _, name string, kind uint16, _ bool) (*dns.Msg, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.err != nil {
		return nil, s.err
	}
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	if s.forged {
		q.Question[0].Name = "other.test."
	}
	reply := new(dns.Msg).SetReply(q)
	for _, text := range s.records {
		rr, err := dns.NewRR(text)
		if err != nil {
			return nil, err
		}
		if t := rr.Header().Rrtype; t == kind || t == dns.TypeCNAME {
			reply.Answer = append(reply.Answer, rr)
		}
	}
	return reply, nil
}

const name = "app.test"

func follow(t *testing.T, s *server) *resolve.Book {
	t.Helper()
	b := resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: 5 * time.Second, MaxTTL: time.Minute,
		Exchange: s.exchange, Changed: func() {}})
	go func() { _ = b.Run(t.Context()) }()
	b.Follow(map[string]bool{name: true})
	b.Wait(t.Context())
	return b
}

func want(t *testing.T, b *resolve.Book, failed bool, addresses ...string) {
	t.Helper()
	synctest.Wait()
	e := b.Get(name)
	var got []string
	for _, a := range e.Addresses {
		got = append(got, a.String())
	}
	if !slices.Equal(got, addresses) || (e.Err != "") != failed {
		t.Fatalf("%v (%s), want %v", got, e.Err, addresses)
	}
}

// The Book follows changes of a name after the TTL, and retains the last good answers during failures.
func TestBook_FollowsANameAndKeepsWhatWasGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{records: []string{"APP.test. 1 A 192.0.2.1", "app.test. 30 AAAA 2001:db8::1"}}
		b := follow(t, s)
		want(t, b, false, "192.0.2.1", "2001:db8::1")
		s.set(nil, "app.test. 3600 CNAME b.test.", "b.test. 3600 A 192.0.2.9", "b.test. 9 A 192.0.2.9",
			"c.test. 9 A 192.0.2.8")
		time.Sleep(4 * time.Second) // the TTL of a second is raised to min_ttl
		want(t, b, false, "192.0.2.1", "2001:db8::1")
		time.Sleep(time.Second)
		want(t, b, false, "192.0.2.9")
		if names := b.Get(name).Names; !slices.Equal(names, []string{"app.test", "b.test"}) {
			t.Errorf("names %v", names)
		}
		for _, bad := range []func(){
			func() { s.set(errors.New("no answer")) },
			func() { s.set(nil) },
			func() { s.set(nil, "app.test. 9 CNAME app.test.") },
			func() { s.forge(true) },
		} {
			bad()
			time.Sleep(2 * time.Minute)
			want(t, b, true, "192.0.2.9")
		}
		s.forge(false)
		s.set(nil, "app.test. 999999 A 192.0.2.2")
		time.Sleep(time.Minute)
		want(t, b, false, "192.0.2.2")
		before := s.count()
		time.Sleep(10 * time.Minute)
		if n := (s.count() - before) / 2; n < 10 || n > 12 {
			t.Errorf("asked %d times in ten minutes, with a max_ttl of one", n)
		}
	})
}

// After a failure, the Book retries after min_ttl, then in growing intervals, but at the latest when the TTL expires.
func TestBook_PausesAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl, both, aaaa = 40 * time.Second, 1, 2
		rounds := []struct {
			fails int           // failing queries: both types, AAAA or none
			pause time.Duration // after the failures
		}{
			{0, ttl}, {both, 5 * time.Second}, {both, 10 * time.Second}, {0, ttl}, {both, 5 * time.Second},
			{aaaa, 10 * time.Second}, {aaaa, 20 * time.Second}, {aaaa, ttl}, {aaaa, ttl}, {aaaa, ttl}, {both, time.Minute},
		}
		var asked []time.Time
		b := resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: 5 * time.Second, MaxTTL: time.Minute,
			Changed: func() {},
			Exchange: func(ctx context.Context, at, name string, kind uint16, recursive bool) (*dns.Msg, error) {
				if kind == dns.TypeA {
					asked = append(asked, time.Now())
				}
				fails := rounds[min(len(asked), len(rounds))-1].fails
				if fails == both || fails == aaaa && kind == dns.TypeAAAA {
					return nil, errors.New("no answer")
				}
				good := &server{records: []string{"app.test. 40 A 192.0.2.1", "app.test. 50 AAAA 2001:db8::1"}}
				return good.exchange(ctx, at, name, kind, recursive)
			}})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = b.Run(ctx) }()
		b.Follow(map[string]bool{name: true})
		time.Sleep(10 * time.Minute)
		stop()
		synctest.Wait()
		if len(asked) <= len(rounds) {
			t.Fatalf("asked %d times in ten minutes", len(asked))
		}
		for i, r := range rounds {
			if pause := asked[i+1].Sub(asked[i]); pause > r.pause || pause < r.pause*9/10 {
				t.Errorf("pause %d: %s, want %s less a tenth at most", i, pause, r.pause)
			}
		}
	})
}

// The Book sends no queries for a name that is no longer followed.
func TestBook_ForgetsNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{records: []string{"app.test. 5 A 192.0.2.1"}}
		b := follow(t, s)
		b.Follow(nil)
		synctest.Wait()
		before := s.count()
		time.Sleep(time.Hour)
		if s.count() != before || len(b.Get(name).Addresses) > 0 {
			t.Errorf("it is asked %d times more", s.count()-before)
		}
	})
}

// For any reply of a resolver, each address has the requested type, and the number of addresses is bounded.
func FuzzBook(f *testing.F) {
	good := new(dns.Msg).SetQuestion("app.test.", dns.TypeA)
	good.Response = true
	rr, _ := dns.NewRR("app.test. 5 A 192.0.2.1")
	good.Answer = append(good.Answer, rr)
	packed, _ := good.Pack()
	f.Add(packed)
	f.Fuzz(func(t *testing.T, packet []byte) {
		synctest.Test(t, func(t *testing.T) {
			b := resolve.NewBook(resolve.Options{Servers: []string{"one"}, MinTTL: time.Second, MaxTTL: time.Minute,
				Changed: func() {}, Exchange: func(context.Context, string, string, uint16, bool) (*dns.Msg, error) {
					m := new(dns.Msg)
					return m, m.Unpack(packet)
				}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { _ = b.Run(ctx) }()
			b.Follow(map[string]bool{name: true})
			b.Wait(ctx)
			if e := b.Get(name); !slices.IsSortedFunc(e.Addresses, netip.Addr.Compare) || len(e.Addresses) > 8192 {
				t.Errorf("addresses %v", e.Addresses)
			}
			cancel()
			synctest.Wait()
		})
	})
}
